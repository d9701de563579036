"""Fragment requests per second: Weir's server against @ldf/server, one process each, the same data and load.

The load generator keeps connections busy with prepared requests and does nothing with the answers but
find their ends. *Repeated* requests come from a fixed set of addresses, as from many clients of one feed; all
others are never asked for twice: *distinct* ones for small fragments, those for *pages* of a hundred triples,
for many *bindings* at once (@ldf/server takes one at a time), and for *facts* with their expiration.
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
from typing import TypeAlias, cast
from urllib.parse import urlencode, urlsplit

import psutil
import uvloop

from weir.fragments.protocol.annotation import EXPIRATION, Fact, time_text

EX = "http://example.org/"


def write_data(path: Path, things: int = 10_000, seed: int = 1) -> None:
    """A Turtle file of two triples per thing."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for n in range(things):
            file.write(f"<{EX}s{n}> <{EX}p{n % 20}> <{EX}o{chance.randrange(1000)}> .\n")
            file.write(f'<{EX}s{n}> <{EX}label> "Thing {n}"@en .\n')


def delays(things: int, start: int, end: int) -> list[Fact]:
    """A fact about each of so many things."""
    return [Fact(f"<{EX}s{n}>", f"<{EX}delay>", f'"{n % 60}"', start, end) for n in range(things)]


def write_facts(path: Path, facts: Sequence[Fact]) -> None:
    """Facts in graphs with their expiration, as a TriG file: what a server without facts can publish."""
    with path.open("w", encoding="utf-8") as file:
        for number, fact in enumerate(facts):
            graph = f"<{EX}graph{number}>"
            file.write(f"{graph} {{ {fact.subject} {fact.predicate} {fact.object} }}\n")
            file.write(f"{graph} {EXPIRATION} {time_text(fact.end)} .\n")


KINDS = ("repeated", "distinct", "pages", "bindings", "facts")
"""Kinds of load; all but the first are never repeated."""
BINDINGS = 30
"""How many bindings one request has."""


def requests_for(url: str, kind: str, *, single: bool, things: int = 10_000, seed: int = 2) -> list[bytes]:
    """Heads of requests of a kind. ``single`` is for a server that takes one binding at a time: it is asked
    once for each."""
    chance = random.Random(seed)
    fields = _FIELDS[kind](things, chance, single)
    chance.shuffle(fields)
    parts = urlsplit(url)
    return [
        f"GET {parts.path}?{urlencode(one)} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "Accept: application/n-quads\r\n\r\n".encode()
        for one in fields
    ]


_Fields: TypeAlias = list[dict[str, str]]


def _repeated(things: int, chance: random.Random, single: bool) -> _Fields:
    fields = [{"predicate": f"{EX}p{n}"} for n in range(20)]
    fields += [{"subject": f"{EX}s{chance.randrange(things)}"} for _ in range(400)]
    return fields + [{"object": f"{EX}o{chance.randrange(1000)}"} for _ in range(100)]


def _distinct(things: int, chance: random.Random, single: bool) -> _Fields:
    """Fragments of each shape: by subject, predicate, object and two of them."""
    fields = [{"subject": f"{EX}s{n}"} for n in range(things)]
    fields += [{"subject": f"{EX}s{n}", "predicate": f"{EX}label"} for n in range(things)]
    fields += [{"subject": f"{EX}s{n}", "predicate": f"{EX}p{n % 20}"} for n in range(things)]
    fields += [{"object": f'"Thing {n}"@en'} for n in range(things)]
    return fields + [{"predicate": f"{EX}label", "object": f'"Thing {n}"@en'} for n in range(things)]


def _pages(things: int, chance: random.Random, single: bool) -> _Fields:
    """Full pages of one predicate, under ever other names of its variable."""
    return [
        {"subject": f"?s{name}", "predicate": f"{EX}label", "page": str(page)}
        for name in range(200)
        for page in range(1, things // 100 + 1)
    ]


def _bindings(things: int, chance: random.Random, single: bool) -> _Fields:
    """Thirty subjects in one request, or thirty requests of one."""
    if single:
        return [{"subject": f"{EX}s{n}", "predicate": f"{EX}label"} for n in range(things)]
    fields = []
    for _ in range(things):
        values = " ".join(f"(<{EX}s{n}>)" for n in chance.sample(range(things), BINDINGS))
        fields.append({"subject": "?s", "predicate": f"{EX}label", "values": f"(?s) {{ {values} }}"})
    return fields


def _facts(things: int, chance: random.Random, single: bool) -> _Fields:
    fields = [{"subject": f"{EX}s{n}", "predicate": f"{EX}delay"} for n in range(things)]
    fields += [{"subject": f"{EX}s{n}", "object": f'"{n % 60}"'} for n in range(things)]
    return fields + [
        {"subject": f"{EX}s{n}", "predicate": f"{EX}delay", "object": "?o"} for n in range(things)
    ]


_FIELDS = {
    "repeated": _repeated,
    "distinct": _distinct,
    "pages": _pages,
    "bindings": _bindings,
    "facts": _facts,
}


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
