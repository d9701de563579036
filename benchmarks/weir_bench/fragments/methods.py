"""Figure 3: how long an evaluation takes, by annotation method and labeling, with and without the cache.

Server and client share a clock that the benchmark turns, so an iteration costs its work and not ten
seconds. The *plain* client uses nothing beyond fragments, as the paper's did: with intervals it reads the
whole history each time. Weir's asks for the facts of an instant, which the server finds by time.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any
from urllib.parse import urlencode

import httpx
import numpy as np

from weir.fragments.client import Options, Streamer
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.language import parse
from weir_bench.fragments.costs import running_server
from weir_bench.fragments.departures import SECOND, Departures

METHODS = tuple(Method)
_AT_ONCE = 200
PAPER_ORDER = ("graphs", "implicitgraphs", "singletonproperties")
"""The paper's finding: graphs are fastest; it does not measure reification."""


class Turned:
    """A clock that stands until it is turned."""

    def __init__(self, now: int) -> None:
        self.time = now

    def now(self) -> int:
        return self.time

    async def sleep_until(self, instant: int) -> None:
        self.time = max(self.time, instant)


@dataclass(slots=True)
class Run:
    """Seconds and requests of each iteration."""

    method: str
    labeling: str
    cache: bool
    plain: bool
    trains: int
    seconds: list[float] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """The time of the last iterations in terms of the early ones."""
        part = max(1, len(self.seconds) // 6)
        return median(self.seconds[-part:]) / median(self.seconds[1 : part + 1])

    @property
    def settled(self) -> float:
        """The mean time of an iteration after the first, which also learns the annotation."""
        return float(np.mean(self.seconds[1:]))

    def as_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "labeling": self.labeling,
            "cache": self.cache,
            "plain_client": self.plain,
            "trains": self.trains,
            "seconds": self.seconds,
            "requests": self.requests,
            "mean_s": self.settled,
            "growth": self.growth,
        }


class Control:
    """A server whose clock and facts the benchmark sets."""

    def __init__(self, url: str, client: httpx.Client) -> None:
        self.url = url
        self.client = client

    def reset(self, annotation: Annotation, data: Departures) -> None:
        """Start anew with other data."""
        self._post({"reset": json.dumps(_setting(annotation, data))})

    def advance(self, begin: int, end: int) -> None:
        """Turn the clock to version ``end − 1``, pushing all from ``begin`` on, some at a time."""
        for low in range(begin, end, _AT_ONCE):
            self._post({"begin": str(low), "end": str(min(end, low + _AT_ONCE))})

    def _post(self, fields: dict[str, str]) -> None:
        self.client.post(f"{self.url}/control?{urlencode(fields)}").raise_for_status()


def _setting(annotation: Annotation, data: Departures) -> dict[str, Any]:
    return {
        "first": data.first,
        "period": data.period,
        "trains": data.trains,
        "method": annotation.method.value,
        "labeling": annotation.labeling.value,
    }


@contextmanager
def controlled() -> Iterator[Control]:
    """A running server under control."""
    setting = _setting(Annotation(), Departures(0))
    with running_server({"mode": "controlled", **setting}) as (url, _), httpx.Client(timeout=120.0) as client:
        yield Control(url, client)


def iterate(
    control: Control, annotation: Annotation, data: Departures, iterations: int, *, cache: bool, plain: bool
) -> Run:
    """The iterations of one client."""
    run = Run(annotation.method.value, annotation.labeling.value, cache, plain, data.trains)

    async def follow() -> None:
        clock = Turned(data.first)
        options = Options(cache=cache, plain=plain)
        query = parse(data.query(), dialect="sparql")
        async with httpx.AsyncClient(timeout=120.0, event_hooks={"response": [_without_date]}) as client:
            streamer = Streamer(query, f"{control.url}/d", client, options=options, clock=clock)
            for number in range(iterations):
                control.advance(number, number + 1)
                clock.time = data.first + number * data.period
                began = time.perf_counter()
                update = await streamer.evaluate()
                run.seconds.append(time.perf_counter() - began)
                run.requests.append(update.statistics["requests"])
                expected = data.expected(number)
                if len(streamer.results) != expected:
                    raise AssertionError(f"{len(streamer.results)} results instead of {expected}")

    control.reset(annotation, data)
    asyncio.run(follow())
    return run


async def _without_date(response: httpx.Response) -> None:
    """The clock is turned by hand: the server's real one must not be believed."""
    response.headers.pop("date", None)


def figure_3(iterations: int, plain_iterations: int, *, whole: bool) -> list[Run]:
    """Every method and labeling, with and without the cache, by Weir's client and by the plain one.

    Not ``whole``: the plain client only with the cache.
    """
    first = time.time_ns() // 1000 // SECOND * SECOND
    data = Departures(first)
    small = Departures(first, trains=30)
    runs = []
    with controlled() as control:
        for annotation in (Annotation(method, labeling) for method in METHODS for labeling in Labeling):
            for cache in (True, False):
                runs.append(iterate(control, annotation, data, iterations, cache=cache, plain=False))
                if cache or whole:
                    runs.append(
                        iterate(control, annotation, small, plain_iterations, cache=cache, plain=True)
                    )
    return runs


def order(runs: Sequence[Run], labeling: Labeling, *, plain: bool) -> list[str]:
    """The methods by the mean time of an iteration with the cache, the fastest first."""
    found = [r for r in runs if r.labeling == labeling.value and r.cache and r.plain == plain]
    return [run.method for run in sorted(found, key=lambda run: run.settled)]


@dataclass(frozen=True, slots=True)
class Moment:
    """Evaluations over a history of so many versions."""

    versions: int
    least: float
    median: float
    requests: int


def history(
    checkpoints: Sequence[int], trains: int, repeats: int, method: Method = Method.GRAPHS
) -> list[Moment]:
    """How long an evaluation takes with ever more versions kept: least and median of several."""
    first = time.time_ns() // 1000 // SECOND * SECOND - 400 * 86_400 * SECOND
    data = Departures(first, trains=trains)
    moments = []

    async def evaluate(control: Control) -> None:
        clock = Turned(data.first)
        query = parse(data.query(), dialect="sparql")
        async with httpx.AsyncClient(timeout=120.0, event_hooks={"response": [_without_date]}) as client:
            streamer = Streamer(query, f"{control.url}/d", client, clock=clock)
            done = 0
            for checkpoint in checkpoints:
                times = []
                requests = 0
                for number in range(checkpoint - repeats, checkpoint):
                    control.advance(done, number + 1)
                    done = number + 1
                    clock.time = data.first + number * data.period
                    began = time.perf_counter()
                    update = await streamer.evaluate()
                    times.append(time.perf_counter() - began)
                    requests = update.statistics["requests"]
                moments.append(Moment(checkpoint, min(times), median(times), requests))

    with controlled() as control:
        control.reset(Annotation(method, Labeling.INTERVAL), data)
        asyncio.run(evaluate(control))
    return moments
