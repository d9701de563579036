"""Fragment requests per second: Weir's server against @ldf/server, one process each, the same data and load.

The load generator keeps connections busy with prepared requests and does nothing with the answers but
find their ends. *Repeated* requests come from a fixed set of addresses, as from many clients of one feed;
*distinct* ones are never asked for twice.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import cast
from urllib.parse import urlencode, urlsplit

import psutil
import uvloop

EX = "http://example.org/"


def write_data(path: Path, things: int = 10_000, seed: int = 1) -> None:
    """A Turtle file of two triples per thing."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for n in range(things):
            file.write(f"<{EX}s{n}> <{EX}p{n % 20}> <{EX}o{chance.randrange(1000)}> .\n")
            file.write(f'<{EX}s{n}> <{EX}label> "Thing {n}"@en .\n')


def requests_for(url: str, things: int = 10_000, *, distinct: bool, seed: int = 2) -> list[bytes]:
    """Heads of requests for fragments of each shape: by subject, predicate, object and two of them."""
    chance = random.Random(seed)
    fields: list[dict[str, str]] = []
    if distinct:
        fields += [{"subject": f"{EX}s{n}"} for n in range(things)]
        fields += [{"subject": f"{EX}s{n}", "predicate": f"{EX}label"} for n in range(things)]
        fields += [{"subject": f"{EX}s{n}", "predicate": f"{EX}p{n % 20}"} for n in range(things)]
        fields += [{"object": f'"Thing {n}"@en'} for n in range(things)]
        fields += [{"predicate": f"{EX}label", "object": f'"Thing {n}"@en'} for n in range(things)]
        fields += [{"predicate": f"{EX}label", "page": str(n)} for n in range(1, things // 100 + 1)]
    else:
        fields += [{"predicate": f"{EX}p{n}"} for n in range(20)]
        fields += [{"subject": f"{EX}s{chance.randrange(things)}"} for _ in range(400)]
        fields += [{"object": f"{EX}o{chance.randrange(1000)}"} for _ in range(100)]
    chance.shuffle(fields)
    parts = urlsplit(url)
    return [
        f"GET {parts.path}?{urlencode(one)} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "Accept: application/n-quads\r\n\r\n".encode()
        for one in fields
    ]


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests per second, and per second of the server's processor time."""

    per_second: float
    per_processor_second: float


_LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: (\d+)\r")


class _Connection(asyncio.Protocol):
    """Sends the next request as soon as an answer is complete."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self.requests = requests
        self.start = b""
        self.size = 0
        self.need: int | None = None
        self.answered = 0
        self.failure: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._send()

    def _send(self) -> None:
        request = next(self.requests, None)
        if request is not None:
            self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.size += len(data)
        if self.need is None:
            self.start = self.start + data if self.start else data
            end = self.start.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self.start.startswith(b"HTTP/1.1 200"):
                self.failure = self.start[:200].decode("latin-1")
                self.transport.close()
                return
            length = _LENGTH.search(self.start, 0, end + 2)
            self.need = end + 4 + int(length[1]) if length else 0
        complete = self.size >= self.need if self.need else data.endswith(b"0\r\n\r\n")
        if complete:
            self.start, self.size, self.need = b"", 0, None
            self.answered += 1
            self._send()


def load(
    url: str, requests: Sequence[bytes], pid: int, seconds: float, *, once: bool, width: int = 16
) -> Rate:
    """Keep a server busy for some seconds; where requests are sent ``once``, at most until they run out."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    source = iter(requests) if once else cycle(requests)
    most = len(requests) - width if once else None

    async def run() -> Rate:
        loop = asyncio.get_running_loop()
        process = psutil.Process(pid)
        connections: list[_Connection] = []
        for _ in range(width):
            made = await loop.create_connection(lambda: _Connection(source), host, port)
            connections.append(made[1])

        def moment() -> tuple[int, float, float]:
            used = process.cpu_times()
            return sum(c.answered for c in connections), time.perf_counter(), used.user + used.system

        await _busy(connections, min(1.0, seconds / 3), most and most // 8)
        before = moment()
        await _busy(connections, seconds, most)
        after = moment()
        for connection in connections:
            connection.transport.close()
        failed = next((c.failure for c in connections if c.failure), None)
        if failed:
            raise AssertionError(f"the server answered {failed}")
        answered = after[0] - before[0]
        return Rate(answered / (after[1] - before[1]), answered / max(after[2] - before[2], 1e-9))

    return uvloop.run(run())


async def _busy(connections: Sequence[_Connection], seconds: float, most: int | None) -> None:
    """Wait for some seconds, or until so many requests have been answered."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if most is not None and sum(c.answered for c in connections) >= most:
            return
        await asyncio.sleep(min(left, 0.005 if most is not None else left))
