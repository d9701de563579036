"""Facts that come into a data set: results of a continuous query, and documents pushed by HTTP.

On intervals: a solution reported at τ holds in ``[τ, τ')``, where τ' is the next evaluation time if it is
known (windows that close every step) and else a promise of ``lifetime``, renewed as long as the solution
stays. A stream that is replayed, or lags behind the clock, reports of a past in which no client is any
more: ``on_arrival`` lets its results hold from the time they are written instead.

Triples of CONSTRUCT are published as they are; a solution of SELECT becomes a resource with a triple per
variable; ASK becomes one triple.

Of a pushed document, triples that it annotates itself, by any method, keep their own validity; the others
take ``start`` (default: now) and ``end`` or ``lifetime`` (seconds) of the query string.
``supersede=true`` ends older facts of equal subject and predicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from weir.errors import DataError, UsageError
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, Fact, TripleText, read_facts, read_time
from weir.fragments.server.annotated import Names
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.request import TooLarge, stated_time
from weir.linked.http import WallClock
from weir.linked.http.headers import SECOND
from weir.rdf.formats.guarded_parser import parse_document
from weir.rdf.terms import XSD, Literal, term_of_json


class Publisher:
    """Writes the results of one query into a data set. ``period`` (µs) is the query's step if it has one.

    ``write`` takes result lines (docs/semantics.md, "Result lines") in order of time, as a sink gets them:
    all lines of an evaluation time in one call. Under RSTREAM each call replaces what held; under ISTREAM
    and DSTREAM lines add and remove.

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
        clock: Callable[[], int] = WallClock.now,
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
            at = line["at"] if isinstance(line["at"], int) else read_time(f'"{line["at"]}"')
            by_op = batches.setdefault(at, {})
            by_op.setdefault(line["op"], []).extend(self.triples(line))
        for at, by_op in sorted(batches.items()):
            if self.events:
                self._push([triple for triples in by_op.values() for triple in triples], [], at)
            elif "R" in by_op:
                self.replace(by_op["R"], at)
            else:
                self.change(by_op.get("I", []), by_op.get("D", []), at)

    def replace(self, triples: Iterable[TripleText], at: int) -> None:
        """The whole result at an evaluation time: what is not in it any more ends."""
        now = dict.fromkeys(triples)
        gone = [triple for triple in self._held if triple not in now]
        self._held = dict.fromkeys(now, 1)
        self._push(self._held, gone, at)

    def change(self, added: Iterable[TripleText], removed: Iterable[TripleText], at: int) -> None:
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
        self._push(self._held, [triple for triple in gone if triple not in self._held], at)

    def _push(self, holding: Iterable[TripleText], gone: list[TripleText], at: int) -> None:
        now = self.clock()
        if self.on_arrival:
            at = now
        if gone:
            self.dataset.end(gone, at)
        end = at + (self.period or self.lifetime)
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


def push_document(
    dataset: Dataset, body: bytes, media_type: str, options: Mapping[str, str], address: str, now: int
) -> dict[str, int]:
    """Add a document's facts; what is wrong with it is a ``UsageError`` or a ``DataError``.

    Gives how many were ``added`` as new ones, and how many had ``expired`` before they came.
    """
    unknown = options.keys() - {"start", "end", "lifetime", "supersede"}
    if unknown:
        raise UsageError(
            f"unknown option {min(unknown)!r}", hint="use start, end, lifetime (seconds), supersede"
        )
    limits = dataset.limits
    quads = parse_document(body, media_type, base=address, most=8 * limits.push_facts)
    facts, rest = read_facts(quads, Names("", address).implicit)
    if rest:
        start, end = _validity(options, now)
        facts += [Fact(s, p, o, start, end) for s, p, o, _ in rest]
    if len(facts) > limits.push_facts:
        raise TooLarge(f"more than {limits.push_facts} facts in one push")
    facts = [fact._replace(start=now) if fact.start == BEGINNING else fact for fact in facts]
    if any(fact.start > now + limits.ahead for fact in facts):
        raise UsageError(
            "a fact starts too far in the future",
            detail=f"the limit is {limits.ahead // SECOND} s from now",
            hint="compare the clocks of the two machines",
        )
    for fact in facts:
        if fact.end <= fact.start and fact.end > now:
            raise DataError(f"the fact {' '.join(fact.triple)} ends before it starts")
    kept = [fact for fact in facts if fact.end > fact.start]
    if not dataset.store.retention.history:
        kept = [fact for fact in kept if fact.end > now]
    added = dataset.push(kept, now, supersede=options.get("supersede") in ("true", "1"))
    return {"added": added, "expired": len(facts) - len(kept)}


def end_document(dataset: Dataset, body: bytes, media_type: str, address: str, now: int) -> int:
    """End the facts of a document's triples now; how many there were."""
    quads = parse_document(body, media_type, base=address, most=dataset.limits.push_facts)
    return dataset.end([quad[:3] for quad in quads], now)


def _validity(options: Mapping[str, str], now: int) -> tuple[int, int]:
    start = stated_time("start", options["start"]) if "start" in options else now
    if "end" in options:
        end = stated_time("end", options["end"])
    elif "lifetime" in options:
        try:
            seconds = float(options["lifetime"])
        except ValueError:
            raise UsageError(f"'lifetime' is no number: {options['lifetime'][:20]!r}") from None
        if not 0 < seconds < 1e10:
            raise UsageError("'lifetime' must be more than no time and less than 300 years")
        end = start + int(seconds * SECOND)
    else:
        raise UsageError(
            "the facts have no validity", hint="annotate them, or give 'end' or 'lifetime' in the address"
        )
    if start >= end:
        raise UsageError("the facts end before they start")
    return start, min(end, FOREVER)
