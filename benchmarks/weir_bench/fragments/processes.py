"""The processes of the fragments benchmark, so that each side's processor time can be told apart.

``python -m weir_bench.fragments.processes server JSON`` serves departures in one of several ways;
``… clients JSON`` follows or subscribes to them as many clients at once, and reports on standard output.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
import uvicorn
from starlette.types import Receive, Scope, Send

from weir.fragments.client import ClientLimits, Options, Streamer
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, server
from weir.language import parse
from weir_bench.fragments.departures import SECOND, Departures
from weir_bench.fragments.pushing import PushingApp
from weir_bench.fragments.rates import delays

_PLACES = 24
_AT_ONCE = 4
"""Many clients share one process here; taking turns, none waits for others in the middle of its work."""


def departures(setting: dict[str, Any]) -> Departures:
    return Departures(setting["first"], setting.get("trains", 100), setting["period"])


def annotation_of(setting: dict[str, Any]) -> Annotation:
    labeling = Labeling(setting.get("labeling", "expiration"))
    return Annotation(Method(setting.get("method", "graphs")), labeling)


class Controlled:
    """A fragments application whose clock and facts are set by POST to ``/control``.

    ``?begin=…&end=…`` pushes versions, each at its time; ``?reset=JSON`` starts anew with other settings.
    """

    def __init__(self, setting: dict[str, Any]) -> None:
        self.reset(setting)

    def reset(self, setting: dict[str, Any]) -> None:
        self.data = departures(setting)
        self.dataset = Dataset(
            "d", self.data.static(), annotation=annotation_of(setting), static_age=3600 * SECOND
        )
        self.now = self.data.first
        self.app = FragmentsApp([self.dataset], clock=lambda: self.now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == "/control":
            fields = dict(parse_qsl(scope["query_string"].decode()))
            if "reset" in fields:
                self.reset(json.loads(fields["reset"]))
            for number in range(int(fields.get("begin", 0)), int(fields.get("end", 0))):
                self.now = self.data.first + number * self.data.period
                self.dataset.push(self.data.version(number, self.now), self.now)
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)


def serve(setting: dict[str, Any]) -> None:
    """Serve until ended. ``mode`` is fragments, controlled, shared or each; ``file`` serves a file."""
    if "file" in setting:
        dataset = Dataset("d", Dataset.read(setting["file"]))
        now = time.time_ns() // 1000
        dataset.push(delays(setting.get("facts", 0), now, now + 3600 * SECOND), now)
    else:
        # Nobody pushes facts about the timetable: the server may promise that it stays.
        static, shown = departures(setting).static(), annotation_of(setting)
        dataset = Dataset("d", static, annotation=shown, static_age=3600 * SECOND)
    mode = setting.get("mode", "fragments")
    if mode == "controlled":
        uvicorn.run(Controlled(setting), port=setting["port"], access_log=False, log_level="warning")
        return
    app = FragmentsApp([dataset], push=True)
    if mode == "fragments":
        server(app, port=setting["port"]).run()
        return
    pushing = PushingApp(app, setting.get("evaluator", "oxigraph"), shared=mode == "shared")
    uvicorn.run(pushing, port=setting["port"], access_log=False, log_level="warning")


async def clients(setting: dict[str, Any]) -> dict[str, Any]:
    """Run the clients of these numbers; ready when each has its first results."""
    numbers, url = setting["numbers"], setting["url"]
    data = departures(setting)
    first: list[float] = []
    state = {"updates": 0, "rows": 0, "requests": 0, "bytes": 0}
    began = time.monotonic()
    limits = httpx.Limits(max_connections=_PLACES, max_keepalive_connections=_PLACES)

    slots = asyncio.Semaphore(_AT_ONCE)

    async def poll(number: int, client: httpx.AsyncClient) -> None:
        options = Options(limits=ClientLimits(timeout=60.0))
        query = parse(data.query(number), dialect="sparql")
        streamer = Streamer(query, f"{url}/d", client, options=options)
        due = None
        ready = False
        while True:
            async with slots:
                update = await streamer.evaluate(due)
            state["updates"] += 1
            state["rows"] += len(update.added)
            state["requests"] += update.statistics["requests"]
            state["bytes"] += update.statistics["bytes"]
            if not ready:
                ready = True
                first.append(time.monotonic() - began)
            due = update.next
            await asyncio.sleep(max(0.0, (due or 0) / SECOND - time.time()))

    async def subscribe(number: int, client: httpx.AsyncClient) -> None:
        query = data.query(number if setting["mode"] == "each" else 0)
        address = f"{url}/subscribe?{urlencode({'query': query})}"
        ready = False
        async with client.stream("GET", address, timeout=None) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    state["updates"] += 1
                    state["bytes"] += len(line)
                    if not ready:
                        ready = True
                        first.append(time.monotonic() - began)

    polling = setting["mode"] == "fragments"
    if not polling:
        limits = httpx.Limits(max_connections=None)
    samples: list[tuple[float, float]] = []
    async with httpx.AsyncClient(limits=limits, timeout=60.0) as client:
        tasks = [
            asyncio.ensure_future((poll if polling else subscribe)(number, client)) for number in numbers
        ]
        ended = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline))
        announced = False
        while not ended.done():
            samples.append((time.monotonic() - began, time.process_time()))
            if len(first) == len(numbers) and not announced:
                announced = True
                print("ready", flush=True)
            failed = next((task for task in tasks if task.done()), None)
            if failed is not None:
                raise RuntimeError(f"a client ended early: {failed.exception()}")
            await asyncio.wait({ended}, timeout=0.25)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return {**state, "samples": samples, "first": sorted(first)}


def main() -> None:
    """One of the two roles, with its settings as JSON."""
    role, setting = sys.argv[1], json.loads(sys.argv[2])
    if role == "server":
        serve(setting)
    else:
        print(json.dumps(asyncio.run(clients(setting))), flush=True)


if __name__ == "__main__":
    main()
