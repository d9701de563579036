"""The server over HTTP: controls, paging, negotiation, caching, pushing, limits."""

from __future__ import annotations

import asyncio
import json
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx
import pyoxigraph as ox
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount

from fragments_http import NQUADS, get, label, make, page_of, run
from fragments_kit import EX, SECOND, T0
from weir.errors import UsageError
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method, time_text
from weir.fragments.protocol.controls import HYDRA, VOID
from weir.fragments.server import Dataset, FragmentsApp, Limits, Retention
from weir.fragments.server.serialize import HTML, OFFERED
from weir.rdf.formats.guarded_parser import parse_document


def test_a_page_has_data_counts_and_links() -> None:
    app, _ = make()
    response = get(app, label(predicate=f"{EX}label"))
    page = page_of(response)
    assert response.status_code == 200 and len(page.data) == 10
    assert page.total == 25 and page.per_page == 10
    assert page.next == str(response.url) + "&page=2"
    second = page_of(get(app, page.next.removeprefix("http://weir.test")))
    third = page_of(get(app, second.next.removeprefix("http://weir.test")))  # type: ignore[union-attr]
    assert third.next is None and len(third.data) == 5
    assert len({*page.data, *second.data, *third.data}) == 25


def test_the_forms_are_followed_to_every_kind_of_fragment() -> None:
    app, _ = make()
    page = page_of(get(app, "/d"))
    plain, restricted = page.forms
    assert plain.quads and len(plain.mappings) == 4
    assert restricted.bulk and not restricted.timed
    for quad in page.data:
        values = {
            f"http://www.w3.org/1999/02/22-rdf-syntax-ns#{n}": v for n, v in (("subject", quad[0][1:-1]),)
        }
        found = page_of(get(app, plain.address(values).removeprefix("http://weir.test")))
        assert quad in found.data


def test_an_interval_data_set_offers_instants() -> None:
    app, _ = make(annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    assert page_of(get(app, "/d")).forms[1].timed


@pytest.mark.parametrize("media_type", [one for one in OFFERED if one != HTML])
def test_every_syntax_says_the_same(media_type: str) -> None:
    app, _ = make()
    response = get(app, label(graph="urn:ldf:defaultGraph", predicate=f"{EX}odd"), accept=media_type)
    assert response.headers["content-type"] == f"{media_type}; charset=utf-8"
    page = page_of(response)
    (quad,) = page.data
    assert quad == ("<urn:weir:d:genid:b0>", f"<{EX}odd>", '"<&>\\" \\\\ \\n é ☃"', "")
    assert page.total == 1 and page.next is None and len(page.forms) == 2
    (named,) = page_of(get(app, label(predicate=f"{EX}knows"), accept=media_type)).data
    assert named[3] == ("" if "triples" in media_type or "turtle" in media_type else f"<{EX}graph>")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", "application/trig"),
        ("*/*", "application/trig"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("text/turtle;q=0.5, application/n-quads;q=0.4", "text/turtle"),
        ("application/*;q=0.3, text/turtle;q=0.2", "application/trig"),
        ("application/json", "application/json"),
        ("application/trig;q=0, */*;q=0.1", "application/n-quads"),
        ("text/turtle;q=broken, application/ld+json", "application/ld+json"),
    ],
)
def test_negotiation(accept: str, expected: str) -> None:
    app, _ = make()
    response = get(app, "/d", accept=accept)
    assert (
        response.headers["content-type"].startswith(expected)
        and response.headers["vary"] == "Accept, Accept-Encoding"
    )


def test_what_is_not_acceptable() -> None:
    app, _ = make()
    assert get(app, "/d", accept="image/png").status_code == 406
    assert get(app, "/", accept="image/png").status_code == 406


def test_html_is_escaped_and_can_be_browsed() -> None:
    app, _ = make()
    response = get(app, label(predicate=f"{EX}odd"), accept="text/html")
    assert "&lt;&amp;&gt;" in response.text and "<&>" not in response.text
    assert 'name="subject"' in response.text
    hostile = get(app, label(object='"<script>alert(1)</script>"'), accept="text/html")
    assert "<script>" not in hostile.text
    first = get(app, label(predicate=f"{EX}label"), accept="text/html")
    assert 'rel="next"' in first.text and "1 to 10 of 25" in first.text


def test_the_index_lists_the_data_sets() -> None:
    app, _ = make()
    store = ox.Store()
    store.load(get(app, "/").content, format=ox.RdfFormat.N_QUADS)
    assert any(q.predicate.value == HYDRA + "member" for q in store)
    assert '<a href="http://weir.test/d">d</a>' in get(app, "/", accept="text/html").text


def test_metadata_lie_in_a_graph_of_their_own() -> None:
    app, _ = make()
    quads = parse_document(get(app, "/d").content, "application/n-quads")
    assert {q[3] for q in quads if "metadata" in q[3]} == {"<http://weir.test/d#metadata>"}
    assert all(q[3] for q in quads if HYDRA in q[1] or VOID in q[1])


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/other", 404),
        ("/d?page=0", 400),
        ("/d?page=x", 400),
        ("/d?page=99", 404),
        ("/d?page=9999999999999999999999", 400),
        (label(subject="not an iri"), 400),
        (label(object='"open'), 400),
        (label(object='"x"^^'), 400),
        (label(object='"x"@not a tag'), 400),
        (label(subject="http://e/" + "x" * 10_000), 414),
        ("/d?x=" + "y" * 30_001, 414),
        (label(at="2015-12-08T10:20:00Z"), 400),
        (label(values="nonsense"), 400),
        (label(values="(?s) { " + "<a> " * 3), 400),
        (label(values="(?s) { " + "(<a>) " * 600 + "}"), 400),
    ],
)
def test_bad_requests(path: str, status: int) -> None:
    app, _ = make(limits=Limits(query_string=30_000))
    assert get(app, path).status_code == status


def test_other_methods() -> None:
    app, _ = make()

    async def use(client: httpx.AsyncClient) -> None:
        assert (await client.put("/d")).status_code == 405
        assert (await client.post("/d", content=b"")).status_code == 403
        head = await client.head("/d")
        assert head.status_code == 200 and not head.content and int(head.headers["content-length"]) > 1000
        options = await client.options("/d", headers={"Origin": "http://elsewhere.test"})
        assert options.status_code == 204 and options.headers["access-control-allow-origin"] == "*"
        assert (await client.get("/d")).headers["access-control-allow-origin"] == "*"

    run(app, use)


def test_a_malformed_host_is_refused() -> None:
    app, _ = make()
    assert get(app, "/d", host='evil"><script>').status_code == 400
    fixed, _ = make(base="https://public.test/fragments")
    page = get(fixed, "/d", host="internal").text
    assert "https://public.test/fragments/d" in page and "internal" not in page


def test_conditional_requests() -> None:
    app, _ = make(push=True)
    path = label(predicate=f"{EX}delay")
    first = get(app, path)
    same = get(app, path, if_none_match=first.headers["etag"])
    assert same.status_code == 304 and not same.content and same.headers["etag"] == first.headers["etag"]
    assert get(app, path, if_none_match=f'"x", W/{first.headers["etag"]}').status_code == 304
    app.datasets["d"].push([Fact(f"<{EX}s1>", f"<{EX}delay>", '"1"', T0, T0 + SECOND)], T0)
    assert get(app, path, if_none_match=first.headers["etag"]).status_code == 200


def test_freshness_is_the_facts_own_validity() -> None:
    app, clock = make()
    data = app.datasets["d"]
    data.push([Fact(f"<{EX}s1>", f"<{EX}delay>", '"1"', T0, T0 + 10 * SECOND)], T0)
    data.push([Fact(f"<{EX}s2>", f"<{EX}delay>", '"1"', T0 + 4 * SECOND, T0 + 20 * SECOND)], T0)
    path = label(predicate=f"{EX}delay")
    seen = []
    for second in (0, 2.5, 4, 9, 10, 21):
        clock.time = T0 + int(second * SECOND)
        response = get(app, path)
        seen.append((second, response.headers["cache-control"], page_of(response).total))
        if "expires" in response.headers:
            expires = parsedate_to_datetime(response.headers["expires"]).timestamp()
            assert abs(expires - (page_of(response).expires or 0) / SECOND) < 1
    assert seen == [
        (0, "public, max-age=4", 1),
        (2.5, "public, max-age=1", 1),
        (4, "public, max-age=6", 2),
        (9, "public, max-age=1", 2),
        (10, "public, max-age=10", 1),
        (21, "no-cache", 0),
    ]
    # Facts may come for what is static, too.
    assert get(app, label(predicate=f"{EX}label")).headers["cache-control"] == "public, max-age=10"


def test_static_fragments_stay_fresh_for_as_long_as_is_promised_from_whenever_they_are_sent() -> None:
    app, clock = make(static_age=3600 * SECOND)
    for _ in range(3):
        assert get(app, label(predicate=f"{EX}label")).headers["cache-control"] == "public, max-age=3600"
        assert get(app, label(predicate=f"{EX}none")).headers["cache-control"] == "public, max-age=10"
        clock.time += 3000 * SECOND


def test_pushes_of_other_predicates_leave_cached_fragments_alone() -> None:
    app, _ = make()
    counters = app.responder.counters
    get(app, label(predicate=f"{EX}label"))
    app.datasets["d"].push([Fact(f"<{EX}s1>", f"<{EX}delay>", '"1"', T0, T0 + SECOND)], T0)
    get(app, label(predicate=f"{EX}label"))
    assert counters["hits"] == 1
    get(app, label(predicate=f"{EX}delay"))
    app.datasets["d"].push([Fact(f"<{EX}s2>", f"<{EX}delay>", '"1"', T0, T0 + SECOND)], T0)
    assert page_of(get(app, label(predicate=f"{EX}delay"))).total == 2


def test_what_is_asked_for_again_is_packed() -> None:
    app, _ = make()
    path = label(predicate=f"{EX}label")
    first = get(app, path, accept_encoding="gzip")
    again = get(app, path, accept_encoding="br, gzip;q=0.5")
    assert "content-encoding" not in first.headers and again.headers["content-encoding"] == "gzip"
    assert again.text == first.text and int(again.headers["content-length"]) < len(first.content) / 3
    assert again.headers["etag"] != first.headers["etag"]
    for tag in (first.headers["etag"], again.headers["etag"]):
        assert get(app, path, if_none_match=tag, accept_encoding="gzip").status_code == 304
        assert get(app, path, if_none_match=tag, accept_encoding="identity").status_code == 304
    assert "content-encoding" not in get(app, path, accept_encoding="gzip;q=0, identity").headers


def test_the_cache_is_bounded() -> None:
    app, _ = make(limits=None)
    app.responder.cache_bytes = 60_000
    for number in range(60):
        get(app, label(subject=f"{EX}s{number}"))
    assert app.responder._held <= 60_000 and len(app.responder._cache) < 60


def test_bindings_restrict_a_pattern() -> None:
    app, _ = make()
    values = f'(?s) {{ (<{EX}s1>) (<{EX}s2>) (<{EX}s1>) (<{EX}none>) ("literal") }}'
    path = label(subject="?s", predicate=f"{EX}label", object="?o", values=values)
    page = page_of(get(app, path))
    assert {q[0] for q in page.data} == {f"<{EX}s1>", f"<{EX}s2>"} and page.total == 2
    both = label(
        subject="?s",
        object="?o",
        values=f'(?s ?o) {{ (<{EX}s1> UNDEF) (UNDEF "thing 2"@en) (<{EX}s1> "x") }}',
    )
    page = page_of(get(app, both))
    assert page.total == 3 and len(page.data) == 3
    one = label(subject="?s", values=f"?s {{ <{EX}s3> <{EX}s4> }}")
    assert page_of(get(app, one)).total == 2
    assert page_of(get(app, label(subject="?s", values="(?s) { }"))).total == 0


def test_history_at_an_instant() -> None:
    app, clock = make(annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    facts = [Fact(f"<{EX}s>", f"<{EX}d>", f'"{v}"', T0 + v * SECOND, T0 + (v + 1) * SECOND) for v in range(5)]
    app.datasets["d"].push(facts, T0)
    clock.time = T0 + 3 * SECOND
    path = label(predicate=f"{EX}d")
    assert page_of(get(app, path)).total == 5
    for at, values in (("now", ["3"]), (time_text(T0 + SECOND)[1:21], ["1"]), ("1999-01-01T00:00:00Z", [])):
        page = page_of(get(app, f"{path}&at={quote(at)}"))
        assert [q[2].strip('"') for q in page.data] == values
    assert page_of(get(app, f"{path}&at=now")).expires == T0 + 4 * SECOND
    clock.time += SECOND
    assert [q[2] for q in page_of(get(app, f"{path}&at=now")).data] == ['"4"']


def test_mounted_in_starlette_and_fastapi() -> None:
    app, _ = make()
    starlette = Starlette(routes=[Mount("/some/where", app=app)])
    fastapi = FastAPI()
    fastapi.mount("/some/where", app)
    for outer in (starlette, fastapi):

        async def use(outer: Any = outer) -> None:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(outer), base_url="http://weir.test"
            ) as client:
                response = await client.get("/some/where" + label(predicate=f"{EX}label"), headers=NQUADS)
                page = page_of(response)
                assert page.next is not None and page.next.startswith("http://weir.test/some/where/d?")
                assert len(page_of(await client.get(page.next, headers=NQUADS)).data) == 10
                assert (await client.get("/some/where/", headers=NQUADS)).status_code == 200

        asyncio.run(use())


def test_names_and_options_are_checked() -> None:
    for wrong in ("", "a/b", "a b", "é"):
        with pytest.raises(UsageError):
            Dataset(wrong)
    with pytest.raises(UsageError):
        Dataset("d", page_size=0)
    with pytest.raises(UsageError):
        Dataset("d", retention=Retention(history=True))
    with pytest.raises(UsageError):
        FragmentsApp([Dataset("d"), Dataset("d")])
    app, _ = make()
    app.remove("d")
    with pytest.raises(UsageError):
        app.remove("d")
    assert json.dumps(list(app.datasets)) == "[]"


def test_static_data_may_be_replaced() -> None:
    app, _ = make()
    path = label(predicate=f"{EX}label")
    first = get(app, path)
    app.datasets["d"].replace_static([(f"<{EX}s>", f"<{EX}label>", '"new"', "")])
    again = get(app, path, if_none_match=first.headers["etag"])
    assert again.status_code == 200 and page_of(again).total == 1


def test_a_triple_that_is_static_already_is_not_pushed() -> None:
    app, _ = make()
    added = app.datasets["d"].push([Fact(f"<{EX}s1>", f"<{EX}label>", '"thing 1"@en', T0, T0 + SECOND)], T0)
    assert added == 0
