"""A real endpoint that is killed, slowed to five seconds or talks nonsense in the middle of a stream.

The stream keeps its pace (no evaluation takes longer than the deadline), answers go on from the view and say
how stale they are, and when the endpoint is well again the view is fresh again by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from service_servers import Mood, moody
from weir.kernel.service_calls import ServiceRows
from weir.language.algebra.patterns import BGP, Service, TriplePattern
from weir.linked.service.call import RemoteCall
from weir.linked.service.config import SECOND, Budget, ServiceConfig
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable
from weir_bench.oxigraph import Oxigraph

pytestmark = pytest.mark.network

USERS = 5
DEADLINE = 0.15
CONFIG = ServiceConfig(
    budget=Budget(per_evaluation=USERS),
    change_interval=SECOND,
    deadline=DEADLINE,
    timeout=1.0,
    retries=1,
    backoff=0.02,
    failures=2,
    cool_down=0.1,
    longest_cool_down=0.4,
)


def data(value: int) -> str:
    return " ".join(f"<http://e/u{n}> <http://e/followers> {value} ." for n in range(USERS))


class Stream:
    """Five users in the window at each evaluation; an evaluation a second of event time."""

    def __init__(self, endpoint: str, loop: RemoteLoop) -> None:
        dictionary = Dictionary()
        resolver = ServiceResolver(dictionary, {endpoint: CONFIG}, loop=loop)
        pattern = BGP((TriplePattern(Variable("u"), IRI("http://e/followers"), Variable("n")),))
        self._call: RemoteCall = resolver.call(
            "q", Service(IRI(endpoint), pattern), ("u",), width=4 * SECOND, slide=SECOND
        )
        self._users = dictionary.encode_terms([IRI(f"http://e/u{n}") for n in range(USERS)])
        self._dictionary = dictionary
        self._at = 0
        self.slowest = 0.0

    def evaluate(self) -> ServiceRows:
        self._at += SECOND
        started = time.monotonic()
        rows = self._call.rows({"u": self._users}, USERS, self._at)
        self.slowest = max(self.slowest, time.monotonic() - started)
        return rows

    def values(self, rows: ServiceRows) -> set[str]:
        return {str(text).split('"')[1] for text in self._dictionary.texts(rows.columns["n"])}

    def until_fresh(self, value: str) -> None:
        """Evaluate until everything is fresh and new; at most eight seconds."""
        until = time.monotonic() + 8
        while time.monotonic() < until:
            rows = self.evaluate()
            if rows.freshness.share == 1.0 and self.values(rows) == {value}:
                return
            time.sleep(0.05)
        pytest.fail(f"not fresh again: {rows.freshness}")


def troubled(stream: Stream, cause: Callable[[], None], mend: Callable[[], None]) -> None:
    stream.until_fresh("1")
    stream.slowest = 0.0
    cause()
    stale = 0
    for _ in range(25):
        rows = stream.evaluate()
        assert stream.values(rows) == {"1"}
        assert rows.freshness.rows == USERS and rows.freshness.missing == 0
        if rows.freshness.share < 1.0:
            stale += 1
            assert rows.freshness.oldest >= SECOND
        time.sleep(0.02)
    assert stale >= 20
    assert stream.slowest < DEADLINE + 0.1
    mend()
    stream.until_fresh("2")


def test_killed() -> None:
    loop = RemoteLoop()
    with Oxigraph() as server:
        server.load(data(1))

        def mend() -> None:
            server.start()
            server.load(data(2))

        troubled(Stream(server.endpoint, loop), server.kill, mend)
        loop.close()


@pytest.mark.parametrize("mood", [Mood.SLOW, Mood.GARBAGE, Mood.CUT, Mood.BUSY, Mood.DEAF])
def test_misbehaving(mood: Mood) -> None:
    loop = RemoteLoop()
    with Oxigraph() as server, moody(server.port) as proxy:
        server.load(data(1))

        def cause() -> None:
            server.update("DELETE { ?u <http://e/followers> 1 } INSERT { ?u <http://e/followers> 2 } "
                          "WHERE { ?u <http://e/followers> 1 }")  # fmt: skip
            proxy.mood = mood

        def mend() -> None:
            proxy.mood = Mood.PASS

        troubled(Stream(proxy.endpoint, loop), cause, mend)
        loop.close()
