"""Responses: cached while they hold, with headers that say for how long."""

from __future__ import annotations

import gzip

from fragments_kit import EX, SECOND, T0, Crank
from weir.fragments.protocol.annotation import Fact, Quad
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.responses import Head, Responder, Response, opening, unchanged, understands_gzip

STATIC: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}p>", f'"{n}"', "") for n in range(25)]
NQUADS = "application/n-quads"


def responder(clock: Crank) -> Responder:
    return Responder(clock.now, cache_bytes=1 << 20)


def test_a_response_is_made_once_while_it_holds() -> None:
    clock, dataset = Crank(), Dataset("d", STATIC, page_size=10)
    made = responder(clock)

    def ask(query: str = "") -> Response:
        return made.respond(dataset, "http://weir.test", query, NQUADS)

    first = ask()
    assert first.status == 200 and ask() is first and made.counters == {"requests": 2, "hits": 1}
    dataset.push([Fact(f"<{EX}s>", f"<{EX}q>", '"x"', T0, T0 + SECOND)], T0)
    second = ask()
    assert second is not first and second.etag != first.etag and second.until == T0 + SECOND
    clock.time += SECOND
    assert ask() is not second


def test_what_cannot_be_answered_says_why() -> None:
    dataset = Dataset("d", STATIC, page_size=10)
    made = responder(Crank())
    for query, accept, status in (("page=9", NQUADS, 404), ("page=x", NQUADS, 400), ("", "image/png", 406)):
        assert made.respond(dataset, "http://weir.test", query, accept).status == status


def test_freshness_in_the_headers() -> None:
    static = Response(200, NQUADS, b"x", b'"tag"', age=60 * SECOND)
    head, _ = static.reply(T0)
    assert (b"cache-control", b"public, max-age=60") in head.headers
    head, _ = Response(200, NQUADS, b"x", b'"tag"').reply(T0)
    assert (b"cache-control", b"no-cache") in head.headers


def test_a_known_tag_gets_no_body_and_gzip_comes_from_the_second_time_on() -> None:
    response = Response(200, NQUADS, b"x" * 2000, b'"tag"')
    assert response.reply(T0, packs=True)[1] == b"x" * 2000
    head, body = response.reply(T0, packs=True)
    assert gzip.decompress(body) == b"x" * 2000 and head.packed and head.etag == b'"tag-gz"'
    head, body = response.reply(T0, b'"tag-gz"', packs=True)
    assert (head.status, body) == (304, b"")


def test_conditions_and_encodings() -> None:
    assert unchanged(b'"a"', b'W/"a", "b"') and unchanged(b'"a"', b"*") and not unchanged(b'"a"', b'"b"')
    assert understands_gzip(b"br, gzip") and not understands_gzip(b"gzip;q=0") and not understands_gzip(b"br")


def test_an_opening_is_the_head_up_to_the_length() -> None:
    written = opening(Head(200, NQUADS, b'"tag"', False, None, None), T0 // SECOND)
    assert written.startswith(b"HTTP/1.1 200 OK\r\ndate: ") and written.endswith(b"\r\n")
    assert b'etag: "tag"\r\n' in written
