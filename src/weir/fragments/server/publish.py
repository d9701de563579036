"""Results of a continuous query as a fragment data set, annotated with their validity.

On intervals: a solution reported at τ holds in ``[τ, τ')``, where τ' is the next evaluation time if it is
known (windows that close every step) and else a promise of ``lifetime``, renewed as long as the solution
stays. A stream that is replayed, or lags behind the clock, reports of a past in which no client is any
more: ``on_arrival`` lets its results hold from the time they are written instead.

Triples of CONSTRUCT are published as they are; a solution of SELECT becomes a resource with a triple per
variable; ASK becomes one triple.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from weir.errors import UsageError
from weir.fragments.protocol.annotation import Fact, TripleText
from weir.fragments.protocol.documents import parse_document
from weir.fragments.server.dataset import Dataset, wall_clock
from weir.rdf.terms import XSD, Literal, term_of_json
from weir.rdf.xsd.moments import EPOCH

SECOND = 1_000_000


class Publisher:
    """Writes the results of one query into a data set. ``period`` (µs) is the query's step if it has one.

    ``write`` takes result lines (docs/semantics.md, "Result lines") in order of time, as a sink gets them:
    all lines of an evaluation time in one call. Under RSTREAM each call replaces what held; under ISTREAM
    and DSTREAM lines add and remove. ``heartbeat`` renews what still holds when time passed without
    results.

    A query that only ever reports what came (ISTREAM) or what went (DSTREAM) never takes a line back: with
    ``events`` each line stands for itself, for the lifetime, and is not renewed.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        period: int | None = None,
        lifetime: int = 10 * SECOND,
        prefix: str | None = None,
        on_arrival: bool = False,
        events: bool = False,
        clock: Callable[[], int] = wall_clock,
    ) -> None:
        if (period is not None and period <= 0) or lifetime <= 0:
            raise UsageError("the period and the lifetime of published results must be more than no time")
        self.dataset = dataset
        self.period = period
        self.lifetime = lifetime
        self.prefix = prefix or f"{dataset.prefix}result:"
        self.on_arrival = on_arrival
        self.events = events
        self.clock = clock
        self._held: dict[TripleText, int] = {}

    def write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Publish the result lines of one or more evaluation times, in order."""
        batches: dict[int, dict[str, list[TripleText]]] = {}
        for line in lines:
            at = _microseconds(line["at"])
            by_op = batches.setdefault(at, {})
            by_op.setdefault(line["op"], []).extend(self.triples(line))
        for at, by_op in sorted(batches.items()):
            if self.events:
                self._push([triple for triples in by_op.values() for triple in triples], [], at, None)
            elif "R" in by_op:
                self.replace(by_op["R"], at)
            else:
                self.change(by_op.get("I", []), by_op.get("D", []), at)

    def replace(self, triples: Iterable[TripleText], at: int, until: int | None = None) -> None:
        """The whole result at an evaluation time: what is not in it any more ends."""
        now = dict.fromkeys(triples)
        gone = [triple for triple in self._held if triple not in now]
        self._held = dict.fromkeys(now, 1)
        self._publish(gone, at, until)

    def change(
        self, added: Iterable[TripleText], removed: Iterable[TripleText], at: int, until: int | None = None
    ) -> None:
        """What an evaluation added to and removed from the result (as multisets)."""
        gone = []
        for triple in removed:
            left = self._held.get(triple, 0) - 1
            if left > 0:
                self._held[triple] = left
            elif self._held.pop(triple, None) is not None:
                gone.append(triple)
        for triple in added:
            self._held[triple] = self._held.get(triple, 0) + 1
        self._publish([triple for triple in gone if triple not in self._held], at, until)

    def heartbeat(self, at: int, until: int | None = None) -> None:
        """The result was still the same at this time."""
        self._publish([], at, until)

    def _publish(self, gone: list[TripleText], at: int, until: int | None) -> None:
        self._push(self._held, gone, at, until)

    def _push(
        self, holding: Iterable[TripleText], gone: list[TripleText], at: int, until: int | None
    ) -> None:
        now = self.clock()
        if self.on_arrival:
            at, until = now, None if until is None else now + until - at
        end = until if until is not None else at + (self.period or self.lifetime)
        if gone:
            self.dataset.end(gone, at)
        self.dataset.push([Fact(*triple, at, end) for triple in holding], now)

    def triples(self, line: Mapping[str, Any]) -> list[TripleText]:
        """A result line as triples; an evaluation without results has none."""
        if line.get("empty"):
            return []
        if "triples" in line:
            text = "\n".join(line["triples"])
            return [quad[:3] for quad in parse_document(text.encode(), "application/n-triples")]
        if "boolean" in line:
            value = str(Literal("true" if line["boolean"] else "false", XSD + "boolean"))
            return [(f"<{self.prefix}answer>", f"<{self.prefix}boolean>", value)]
        cells = sorted((name, str(term_of_json(value))) for name, value in line["bindings"].items())
        digest = hashlib.blake2b(repr(cells).encode(), digest_size=12).hexdigest()
        row = f"<{self.prefix}{digest}>"
        return [(row, f"<{self.prefix}{name}>", text) for name, text in cells]


def _microseconds(at: str | int) -> int:
    """The time of a result line: an xsd:dateTime in UTC, or microseconds."""
    if isinstance(at, int):
        return at
    moment = datetime.fromisoformat(at.replace("Z", "+00:00")) - EPOCH
    return (moment.days * 86_400 + moment.seconds) * SECOND + moment.microseconds
