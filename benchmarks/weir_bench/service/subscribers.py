"""Many followers of one query, in a process of their own: what each received, and when.

``python -m weir_bench.service.subscribers PORT QUERY COUNT OUT``. A line on standard output says that all are
connected; when standard input ends, the outcome is written to OUT as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(slots=True)
class Follower:
    """``at`` are the times that results are of, ``latency`` the seconds from there to their arrival; ``gaps``
    should stay 0, and ``total`` is the sum of the counts."""

    expected: int = 0
    gaps: int = 0
    missed: int = 0
    total: int = 0
    at: list[float] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)

    def take(self, event: bytes, now: float) -> None:
        if event.startswith(b"event: missed"):
            self.missed += 1
            return
        if not event.startswith(b"id: "):
            return
        head, _, data = event.partition(b"\n")
        position = int(head[4:])
        self.gaps += position != self.expected
        self.expected = position + 1
        place = data.index(b'"at":"') + 6
        at = datetime.fromisoformat(data[place : place + 24].decode()).timestamp()
        self.at.append(at)
        self.latency.append(now - at)
        place = data.find(b'"n":{"type":"literal","value":"')
        if place >= 0:
            self.total += int(data[place + 31 : data.index(b'"', place + 31)])


async def follow(port: int, query: str, follower: Follower, ready: asyncio.Semaphore) -> None:
    """One connection, until it is cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET /api/queries/{query}/results?from=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Accept: text/event-stream\r\n\r\n".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n")[0], head
    ready.release()
    held = b""
    try:
        while True:
            size = int(await reader.readline(), 16)
            if not size:
                return
            data = await reader.readexactly(size + 2)
            now = time.time()
            *events, held = (held + data[:-2]).split(b"\n\n")
            for event in events:
                follower.take(event, now)
    finally:
        writer.close()


async def main(port: int, query: str, count: int, out: Path) -> None:
    """Connect all, tell, wait, and write down what came."""
    followers = [Follower() for _ in range(count)]
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(follow(port, query, each, ready)) for each in followers]
    for _ in followers:
        await ready.acquire()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    out.write_text(
        json.dumps(
            [
                {
                    "events": each.expected,
                    "gaps": each.gaps,
                    "missed": each.missed,
                    "total": each.total,
                    "at": each.at,
                    "latency": [round(value, 4) for value in each.latency],
                }
                for each in followers
            ]
        )
    )


if __name__ == "__main__":
    port, query, count, out = sys.argv[1:]
    asyncio.run(main(int(port), query, int(count), Path(out)))
