"""Followers that listen: what is taken back is seen at once, also behind a cache."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import pytest

from cache_peers import nginx, varnish
from fragments_kit import EX, SECOND
from fragments_peers import serving
from weir.fragments.client import Options, Update, follow
from weir.fragments.client.withdrawal_listener import predicates_of
from weir.fragments.protocol.annotation import Fact
from weir.fragments.server import Dataset, FragmentsApp, server
from weir.language import parse

FACT = Fact(f"<{EX}t1>", f"<{EX}delay>", '"5"', 0, 0)
QUERY = f"SELECT ?delay {{ ?t <{EX}delay> ?delay }}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT * { ?s <a:p> ?o OPTIONAL { ?o <a:q>/<a:r>* ?x } FILTER NOT EXISTS { ?x <a:n> 1 } }", "pqrn"),
        ("CONSTRUCT { ?s ?any ?o } { ?s <a:p> ?o . BIND(<a:x> AS ?any) }", "p"),
        ("SELECT * { ?s ?p ?o }", None),
        ("SELECT * { ?s !<a:p> ?o }", None),
        ("DESCRIBE ?s { ?s <a:p> ?o }", None),
    ],
)
def test_the_predicates_that_a_query_reads(text: str, found: str | None) -> None:
    expected = None if found is None else {f"<a:{name}>" for name in found}
    assert predicates_of(parse(text, dialect="sparql")) == expected


Cache = Callable[[str, Path], AbstractContextManager[str]]
CACHES: dict[str, Cache] = {
    "none": lambda origin, folder: nullcontext(origin),
    "varnish": varnish,
    "nginx": lambda origin, folder: nginx(origin, folder, "proxy_buffering on;"),
}


@pytest.fixture(params=CACHES)
def following(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Dataset, Iterator[Update]]]:
    """A fact for ten minutes, which caches may keep for five, and who follows and listens."""
    data = Dataset("d", revalidate=300 * SECOND)
    now = time.time_ns() // 1000
    data.push([FACT._replace(start=now, end=now + 600 * SECOND)], now)
    with ExitStack() as stack:
        origin = stack.enter_context(serving(lambda port: server(FragmentsApp([data]), port=port)))
        url = stack.enter_context(CACHES[request.param](origin, tmp_path))
        options = Options(max_interval=300, listen=True, jitter=0.05)
        updates = follow(QUERY, f"{url}/d", options=options)
        stack.callback(updates.close)  # type: ignore[attr-defined]
        assert len(next(updates).added) == 1
        yield data, updates


@pytest.mark.network
def test_a_withdrawal_is_seen_at_once(following: tuple[Dataset, Iterator[Update]]) -> None:
    data, updates = following
    began = time.monotonic()
    first = next(updates)  # the connection is there: it looks again, in case something went before
    assert not first.added and not first.removed
    now = time.time_ns() // 1000
    data.push([FACT._replace(object='"7"', start=now, end=now + 600 * SECOND)], now, supersede=True)
    update = next(updates)
    assert (len(update.added), len(update.removed)) == (1, 1)
    data.end([FACT._replace(object='"7"').triple], time.time_ns() // 1000)
    update = next(updates)
    assert (len(update.added), len(update.removed)) == (0, 1)
    assert time.monotonic() - began < 200, "it was not woken"
