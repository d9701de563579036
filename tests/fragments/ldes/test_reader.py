"""Reading event streams: every member once, in order of time, from any bookmark on, whatever pages do."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank, client_of
from weir.errors import RemoteError, UsageError
from weir.fragments.ldes import PAGE, Item
from weir.fragments.ldes.reader import Bookmark, LdesOptions, read_members
from weir.fragments.protocol.annotation import Fact
from weir.fragments.server import Dataset, FragmentsApp

URL = "http://weir.test/d/ldes"


def pushed(data: Dataset, begin: int, end: int) -> None:
    for number in range(begin, end):
        now = T0 + number // 3 * SECOND
        fact = Fact(f"<{EX}s{number}>", f"<{EX}p>", f'"{number}"', now, now + 10 * SECOND)
        data.push([fact], now)


def read(
    client: httpx.AsyncClient | FragmentsApp,
    visits: int = 1,
    *,
    since: Bookmark | None = None,
    url: str = URL,
    between: Callable[[int], None] = lambda visit: None,
    options: LdesOptions | None = None,
) -> list[Item]:
    """The members of so many visits of a stream."""

    async def run() -> list[Item]:
        found: list[Item] = []
        done = 0
        async with client_of(client) if isinstance(client, FragmentsApp) else client as http:
            items = read_members(url, since=since, client=http, clock=Crank(), options=options)
            async for item in items:
                if item is None:
                    done += 1
                    if done == visits:
                        break
                    between(done)
                else:
                    found.append(item)
            await items.aclose()
        return found

    return asyncio.run(run())


def numbers(items: list[Item]) -> list[int]:
    return [int(item.name.rpartition(":")[2][:-1]) for item in items]


def test_every_member_of_a_data_set_once_and_in_order() -> None:
    data = Dataset("d")
    pushed(data, 0, 2 * PAGE + 40)
    total = 4 * PAGE

    def more(visit: int) -> None:
        pushed(data, 2 * PAGE + visit * 40, min(total, 2 * PAGE + (visit + 1) * 40))

    items = read(FragmentsApp([data]), 14, between=more)
    assert numbers(items) == list(range(total))
    assert [item.time for item in items] == [T0 + n // 3 * SECOND for n in range(total)]
    assert (f"<{EX}s7>", f"<{EX}p>", '"7"') in items[7].triples


@pytest.mark.parametrize("last", [0, 3, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE + 9])
def test_a_bookmark_leads_back_to_the_place_and_leaves_older_pages_out(last: int) -> None:
    data = Dataset("d")
    pushed(data, 0, 2 * PAGE + 10)
    app = FragmentsApp([data])
    place = Bookmark.at(read(app)[last])
    assert Bookmark.of(str(place)) == place
    asked: list[str] = []

    async def note(request: httpx.Request) -> None:
        asked.append(request.url.path)

    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), event_hooks={"request": [note]})
    assert numbers(read(client, since=place)) == list(range(last + 1, 2 * PAGE + 10))
    # Members of one time may lie on both sides of the end of a page.
    assert ("/d/ldes/0" in asked) == (last // 3 <= (PAGE - 1) // 3)


def test_full_pages_are_asked_for_once_and_the_others_by_their_tags() -> None:
    data = Dataset("d")
    pushed(data, 0, PAGE + 5)
    app = FragmentsApp([data])
    statuses: list[tuple[str, int]] = []

    async def note(response: httpx.Response) -> None:
        statuses.append((response.url.path, response.status_code))

    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), event_hooks={"response": [note]})
    assert len(read(client, 3)) == PAGE + 5
    first = [("/d/ldes", 200), ("/d/ldes/0", 200), ("/d/ldes/1", 200)]
    assert statuses == first + 2 * [("/d/ldes", 304), ("/d/ldes/1", 304)]


def test_what_retention_takes_away_meanwhile_is_no_failure() -> None:
    data = Dataset("d", members=PAGE)
    pushed(data, 0, PAGE)
    items = read(FragmentsApp([data]), 2, between=lambda _: pushed(data, PAGE, 5 * PAGE + 3))
    assert numbers(items) == [*range(PAGE), *range(4 * PAGE, 5 * PAGE + 3)]


PREFIXES = (
    "@prefix ldes: <https://w3id.org/ldes#> . @prefix tree: <https://w3id.org/tree#> .\n"
    "@prefix dct: <http://purl.org/dc/terms/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)


def elsewhere(pages: dict[str, str], immutable: tuple[str, ...] = ()) -> httpx.AsyncClient:
    """Another server, which has these pages in Turtle."""

    def answer(request: httpx.Request) -> httpx.Response:
        text = pages.get(request.url.path)
        if text is None:
            return httpx.Response(404)
        headers = {"content-type": "text/turtle"}
        if request.url.path in immutable:
            headers["cache-control"] = "public, max-age=600, immutable"
        return httpx.Response(200, headers=headers, text=PREFIXES + text)

    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


def moment(day: int) -> str:
    return f'"2026-01-{day:02d}T00:00:00Z"^^xsd:dateTime'


def member(name: str, day: int) -> str:
    return f"<http://e/s> tree:member <http://e/{name}> . <http://e/{name}> dct:created {moment(day)} .\n"


def linked(target: str, day: int) -> str:
    return (
        f"<> tree:relation [ a tree:GreaterThanOrEqualToRelation ; tree:node <{target}> ;"
        f" tree:path dct:created ; tree:value {moment(day)} ] .\n"
    )


STREAM = "<http://e/s> a ldes:EventStream ; ldes:timestampPath dct:created ; tree:view </feed> .\n"


def test_a_tree_of_pages_in_any_order_gives_members_in_order_of_time() -> None:
    draw = random.Random(4)
    days = {f"m{n}": draw.randrange(1, 29) for n in range(60)}
    pages = {"/feed": STREAM}
    for low in (15, 1, 8, 22):
        held = [member(name, day) for name, day in days.items() if low <= day < low + 7]
        draw.shuffle(held)
        pages["/feed"] += linked(f"/{low}", low)
        pages[f"/{low}"] = STREAM + "".join(held)
    items = read(elsewhere(pages), url="http://h/feed")
    assert [item.time for item in items] == sorted(item.time or 0 for item in items)
    assert sorted(item.name for item in items) == sorted(f"<http://e/{name}>" for name in days)


def test_a_list_of_pages_that_grows_at_its_end() -> None:
    pages = {"/feed": STREAM + member("a", 1) + linked("/2", 2), "/2": STREAM + member("b", 2)}

    def more(visit: int) -> None:
        pages["/2"] += member("c", 3) + linked("/3", 4)
        pages["/3"] = STREAM + member("d", 4) + member("c", 3)

    items = read(
        elsewhere(pages, ("/feed",)), 3, url="http://h/feed", between=lambda v: more(v) if v == 1 else None
    )
    assert [item.name for item in items] == [f"<http://e/{name}>" for name in "abcd"]


def test_pages_in_circles_end() -> None:
    pages = {"/feed": STREAM + linked("/2", 1), "/2": STREAM + member("a", 1) + linked("/feed", 1)}
    assert len(read(elsewhere(pages), url="http://h/feed")) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [(LdesOptions(pages=3), "more than 3 pages"), (LdesOptions(held=5), "more than 5 members")],
)
def test_a_stream_beyond_the_limits_is_told(options: LdesOptions, told: str) -> None:
    pages = {"/feed": STREAM + "".join(linked(f"/{n}", 1) for n in range(9))}
    for n in range(9):
        pages[f"/{n}"] = STREAM + "".join(member(f"m{n}x{i}", 20) for i in range(3))
    with pytest.raises(RemoteError, match=told):
        read(elsewhere(pages), url="http://h/feed", options=options)


def test_a_view_that_is_not_there_is_told() -> None:
    with pytest.raises(RemoteError, match="404"):
        read(elsewhere({}), url="http://h/feed")


def test_polling_takes_some_time() -> None:
    with pytest.raises(UsageError, match="more than no time"):
        LdesOptions(poll=0)
