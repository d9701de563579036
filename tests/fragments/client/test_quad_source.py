"""Look-ups of quads: whole fragments, one request for each binding, or many bindings in one."""

from __future__ import annotations

import asyncio

import pytest

from fragments_kit import EX, SECOND, T0, dataset, opened
from fragments_naive import NaiveServer
from weir.errors import RemoteError
from weir.fragments.client.page import Page
from weir.fragments.client.quad_source import Horizon, Keys, matches
from weir.fragments.protocol.annotation import Annotation, Fact, Quad
from weir.fragments.server import FragmentsApp

QUADS: list[Quad] = [(f"<{EX}s{n}>", f"<{EX}p>", f'"{n}"', "") for n in range(10)]
EVERYTHING = (None, f"<{EX}p>", None, "")


def looked_up(keys: Keys | None, **options: bool) -> tuple[list[Quad], list[str]]:
    """What is found, and the query strings asked for after the first page."""
    server = NaiveServer(lambda: QUADS)

    async def run() -> list[Quad]:
        async with opened(server, **options) as source:
            return await source.look_up(EVERYTHING, keys)

    return asyncio.run(run()), server.requests[1:]


def test_a_whole_fragment_is_all_its_pages() -> None:
    found, requests = looked_up(None)
    assert found == QUADS and len(requests) == 4


def test_a_binding_is_asked_for_by_itself() -> None:
    found, requests = looked_up(Keys((0,), ((f"<{EX}s3>",),)))
    assert found == [QUADS[3]] and len(requests) == 1 and "s3" in requests[0]


def test_many_bindings_cost_no_more_than_the_whole_fragment() -> None:
    found, requests = looked_up(Keys((0,), tuple((f"<{EX}s{n}>",) for n in range(9))))
    assert found == QUADS[:9] and len(requests) == 4


def test_bindings_that_no_quad_can_have_are_not_asked_for() -> None:
    assert looked_up(Keys((0,), (('"literal"',),))) == ([], [])


def test_many_bindings_in_one_request() -> None:
    app = FragmentsApp([dataset(QUADS, [], Annotation(), page_size=2)])
    keys = Keys((0,), tuple((f"<{EX}s{n}>",) for n in range(2)))

    async def run(plain: bool) -> tuple[list[Quad], int]:
        async with opened(app, plain=plain) as source:
            before = source.pages.requests
            return await source.look_up(EVERYTHING, keys), source.pages.requests - before

    assert asyncio.run(run(False)) == (QUADS[:2], 1)
    assert asyncio.run(run(True)) == (QUADS[:2], 3)


def test_keys_on_some_places() -> None:
    keys = Keys((0, 1), (("<a>", "<p>"), ("<b>", "<p>")))
    assert keys.on((1,)) == Keys((1,), (("<p>",),))
    assert keys.on((1,), 2) == Keys((2,), (("<p>",),))
    assert keys.on((2,)) is None


def test_a_horizon_is_the_earliest_of_what_was_seen() -> None:
    horizon = Horizon()
    for expires, fresh in ((T0 + 9, T0 + 1), (T0 + 5, T0 + 3)):
        page = Page(EX, (), None, None, None, (), expires)
        horizon.saw(page, fresh, extended=True)
    assert (horizon.expires, horizon.fresh_until) == (T0 + 5, T0 + 1)


def test_a_source_without_a_form_is_refused() -> None:
    server = NaiveServer(lambda: QUADS)
    server.form = False

    async def run() -> None:
        async with opened(server):
            pass

    with pytest.raises(RemoteError, match="has no search form"):
        asyncio.run(run())


def test_an_instant_is_asked_for_where_it_can_be() -> None:
    fact = Fact(f"<{EX}s>", f"<{EX}p>", '"1"', T0, T0 + SECOND)
    app = FragmentsApp([dataset([], [fact], Annotation())])

    async def run() -> tuple[bool, str]:
        async with opened(app) as source:
            return source.timed, source.address(EVERYTHING, T0)

    timed, address = asyncio.run(run())
    assert not timed and "at=" not in address


def test_matching_is_to_the_letter() -> None:
    assert matches(QUADS[1], (None, f"<{EX}p>", '"1"', ""))
    assert not matches(QUADS[1], (None, None, '"01"', None))
