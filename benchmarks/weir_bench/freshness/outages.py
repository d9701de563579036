"""A real endpoint stalled for five seconds, then killed and started again, in the middle of a stream.

Measured: the slowest evaluation against the deadline, and how long after the endpoint's return the whole
answer is fresh again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from weir.kernel.service_calls import Freshness
from weir.language.algebra.patterns import BGP, Service, TriplePattern
from weir.linked.service.call import RemoteCall
from weir.linked.service.config import SECOND, Budget, ServiceConfig
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable
from weir_bench.oxigraph import Oxigraph

USERS = 50
PACE = 0.1
DEADLINE = 0.1
_PREDICATE = IRI("http://example.org/followers")
_DATA = " ".join(f"<http://example.org/u{n}> {_PREDICATE} {n} ." for n in range(USERS))


@dataclass(frozen=True, slots=True)
class Phase:
    """Evaluations of one phase: the slowest in seconds, the share of fresh rows at its end, the age of the
    oldest row there, and whether every evaluation had all its rows."""

    evaluations: int
    slowest: float
    share: float
    oldest: float
    complete: bool


class _Stream:
    def __init__(self, endpoint: str, loop: RemoteLoop) -> None:
        config = ServiceConfig(
            budget=Budget(per_evaluation=USERS),
            change_interval=SECOND,
            deadline=DEADLINE,
            timeout=2.0,
            retries=0,
            cool_down=0.25,
            longest_cool_down=1.0,
        )
        dictionary = Dictionary()
        resolver = ServiceResolver(dictionary, {endpoint: config}, loop=loop)
        pattern = BGP((TriplePattern(Variable("u"), _PREDICATE, Variable("n")),))
        self._call: RemoteCall = resolver.call("q", Service(IRI(endpoint), pattern), ("u",), slide=SECOND)
        self._users: Ids = dictionary.encode_terms([IRI(f"http://example.org/u{n}") for n in range(USERS)])
        self._at = 0
        self._due = time.monotonic()

    def evaluate(self) -> tuple[Freshness, float]:
        time.sleep(max(self._due - time.monotonic(), 0.0))
        self._due = max(self._due + PACE, time.monotonic())
        self._at += SECOND
        started = time.perf_counter()
        answer = self._call.rows({"u": self._users}, USERS, self._at)
        return answer.freshness, time.perf_counter() - started

    def phase(self, seconds: float) -> Phase:
        until = time.monotonic() + seconds
        seen: list[tuple[Freshness, float]] = []
        while time.monotonic() < until:
            seen.append(self.evaluate())
        last = seen[-1][0]
        complete = all(freshness.rows == USERS and not freshness.missing for freshness, _ in seen)
        return Phase(len(seen), max(took for _, took in seen), last.share, last.oldest / SECOND, complete)

    def until_fresh(self, longest: float) -> float:
        """Seconds until an evaluation is wholly fresh; infinite where none was within ``longest``."""
        began = time.monotonic()
        while time.monotonic() < began + longest:
            if self.evaluate()[0].share == 1.0:
                return time.monotonic() - began
        return float("inf")


def trouble() -> dict[str, Phase | float]:
    """Well, stalled for five seconds, well, killed for two seconds, well."""
    loop = RemoteLoop()
    try:
        with Oxigraph() as server:
            server.load(_DATA)
            stream = _Stream(server.endpoint, loop)
            stream.until_fresh(10)
            found: dict[str, Phase | float] = {"well": stream.phase(1.0)}
            server.stall()
            found["stalled"] = stream.phase(5.0)
            server.resume()
            found["recovery_after_stall_s"] = stream.until_fresh(20)
            server.kill()
            found["killed"] = stream.phase(2.0)
            server.start()
            server.load(_DATA)
            found["recovery_after_kill_s"] = stream.until_fresh(20)
            return found
    finally:
        loop.close()
