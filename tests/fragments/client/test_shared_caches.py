"""Following behind real shared caches: no version is missed, and the origin is asked once for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from cache_peers import nginx, varnish
from fragments_kit import EX, SECOND
from fragments_peers import serving
from network_peers import until
from weir.fragments.client import Options, Update, follow
from weir.fragments.client.page import ACCEPT
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, server

Cache = Callable[[str, Path], AbstractContextManager[str]]

CACHES: dict[str, Cache] = {
    "varnish": varnish,
    "nginx": nginx,
    "nginx-with-the-dates-of-the-origin": lambda origin, folder: nginx(
        origin, folder, "proxy_pass_header Date;"
    ),
}
VERSION = 2 * SECOND
QUERY = f"SELECT ?sign ?delay {{ ?train <{EX}headSign> ?sign ; <{EX}delay> ?delay }}"


def timetable(annotation: Annotation) -> Dataset:
    """A train whose delay is 0, 1, 2 … for two seconds each, from a while ago on."""
    data = Dataset("d", [(f"<{EX}t1>", f"<{EX}headSign>", '"Ghent"', "")], annotation=annotation)
    now = time.time_ns() // 1000
    facts = [
        Fact(f"<{EX}t1>", f"<{EX}delay>", f'"{n}"', now + (n - 5) * VERSION, now + (n - 4) * VERSION)
        for n in range(200)
    ]
    data.push(facts, now)
    return data


@pytest.fixture(params=CACHES)
def behind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[FragmentsApp], str]]:
    """Puts an application behind a cache that has kept its start page for some seconds."""
    opened: list[AbstractContextManager[str]] = []

    def put(app: FragmentsApp) -> str:
        origin = serving(lambda port: server(app, port=port))
        opened.append(origin)
        cache = CACHES[request.param](origin.__enter__(), tmp_path)
        address = cache.__enter__()
        opened.append(cache)
        return address

    yield put
    for each in reversed(opened):
        each.__exit__(None, None, None)


@pytest.mark.parametrize(
    "annotation", [Annotation(), Annotation(Method.REIFICATION, Labeling.INTERVAL)], ids=str
)
def test_a_page_that_a_cache_has_kept_is_no_wrong_clock(
    behind: Callable[[FragmentsApp], str], annotation: Annotation
) -> None:
    app = FragmentsApp([timetable(annotation)])
    url = f"{behind(app)}/d"
    following(url, 1)
    page = f"{url}?predicate={quote(EX + 'headSign', safe='')}"
    httpx.get(page, headers={"Accept": ACCEPT})
    kept = time.monotonic()
    until(lambda: time.monotonic() > kept + 3)
    asked = app.responder.counters["requests"]
    httpx.get(page, headers={"Accept": ACCEPT})
    assert app.responder.counters["requests"] == asked, "the cache has not kept the page"
    found = following(url, 3)
    assert {update.statistics["skew"] for update in found} == {0}
    delays = [int(row["delay"].lexical) for update in found for row in update.added]  # type: ignore[index, union-attr]
    assert delays == sorted(set(delays)) and len(delays) >= 2


def following(url: str, most: int) -> list[Update]:
    """The first updates of a new client."""
    return list(islice(follow(QUERY, url, options=Options(max_interval=5)), most))


def test_what_is_taken_back_is_noticed_behind_a_cache(behind: Callable[[FragmentsApp], str]) -> None:
    """A cache may keep a page for as long as the data set lets it, not until its facts would have ended."""
    data = Dataset("d", revalidate=SECOND)
    now = time.time_ns() // 1000
    data.push([Fact(f"<{EX}t1>", f"<{EX}delay>", '"5"', now, now + 600 * SECOND)], now)
    url = f"{behind(FragmentsApp([data]))}/d"
    options = Options(max_interval=1)
    with closing(follow(f"SELECT ?delay {{ ?t <{EX}delay> ?delay }}", url, options=options)) as updates:
        assert next(updates).added
        data.end([(f"<{EX}t1>", f"<{EX}delay>", '"5"')], time.time_ns() // 1000)
        assert any(update.removed for update in islice(updates, 8))
