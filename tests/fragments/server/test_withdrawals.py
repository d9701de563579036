"""Events of what is taken back before its time."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from fragments_kit import EX, SECOND, T0, Crank, client_of
from fragments_peers import serving
from weir.fragments.protocol.annotation import Fact
from weir.fragments.server import Dataset, FragmentsApp, Limits, server
from weir.fragments.server.withdrawals import Listener

FACT = Fact(f"<{EX}s>", f"<{EX}p>", '"1"', T0, T0 + 100 * SECOND)


def heard(change: str) -> list[frozenset[str]]:
    data, found = Dataset("d"), []
    data.push([FACT], T0)
    data.on_withdrawal(found.append)
    if change == "end":
        data.end([FACT.triple], T0 + SECOND)
    elif change == "supersede":
        data.push([FACT._replace(object='"2"', start=T0 + SECOND)], T0 + SECOND, supersede=True)
    elif change == "renew":
        data.push([FACT._replace(end=T0 + 200 * SECOND)], T0 + SECOND)
    elif change == "end what ended":
        data.end([FACT.triple], T0 + 100 * SECOND)
    return found


@pytest.mark.parametrize(
    ("change", "told"), [("end", True), ("supersede", True), ("renew", False), ("end what ended", False)]
)
def test_only_what_ends_before_its_time_is_told(change: str, told: bool) -> None:
    assert heard(change) == ([frozenset({f"<{EX}p>"})] if told else [])


def test_what_a_client_was_not_told_yet_is_one_event() -> None:
    async def run() -> tuple[bytes, bytes, bytes]:
        listener = Listener(Dataset("d"), asyncio.get_running_loop())
        await asyncio.to_thread(listener.hear, frozenset({"<b:>"}))
        await asyncio.to_thread(listener.hear, frozenset({"<a:>", "<b:>"}))
        first, quiet = await listener.next(), await listener.next(0.01)
        listener.hear(frozenset(f"<p:{n}>" for n in range(100)))
        return first, quiet, await listener.next()

    first, quiet, many = asyncio.run(run())
    assert first == b"id: 0\ndata: <a:> <b:>\n\n"
    assert quiet == b":\n\n" and many == b"id: 0\ndata: *\n\n"


@pytest.mark.network
def test_events_over_http_come_at_once_and_end_with_the_client() -> None:
    data = Dataset("d")
    app = FragmentsApp([data])
    data.push([FACT._replace(end=2**60)], T0)
    with serving(lambda port: server(app, port=port)) as base:
        with httpx.stream("GET", f"{base}/d/withdrawals", timeout=20) as response:
            assert response.headers["content-type"] == "text/event-stream"
            lines = response.iter_lines()
            assert next(lines).startswith("id: ") and next(lines) == "data: " and not next(lines)
            assert app.listening == 1
            data.end([FACT.triple], T0 + SECOND)
            assert next(lines) == f"id: {data.store.version}" and next(lines) == f"data: <{EX}p>"
        for _ in range(2000):
            if not app.listening:
                break
            httpx.get(f"{base}/d")
        assert app.listening == 0


def test_no_more_clients_than_the_limit_listen() -> None:
    app = FragmentsApp([Dataset("d")], clock=Crank().now, limits=Limits(listeners=0))

    async def run() -> int:
        async with client_of(app) as client:
            return (await client.get("/d/withdrawals")).status_code

    assert asyncio.run(run()) == 503
