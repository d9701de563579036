"""Facts that come into a data set: results of a continuous query, and documents pushed by HTTP.

On intervals: a solution reported at τ holds in ``[τ, τ')``, where τ' is the next evaluation time if it is
known (windows that close every step) and else a promise of ``lifetime``, renewed as long as the solution
stays. A stream that is replayed, or lags behind the clock, reports of a past in which no client is any
more: ``on_arrival`` lets its results hold from the time they are written instead.

Triples of CONSTRUCT are published as they are; a solution of SELECT becomes a resource with a triple per
variable, and one that occurs several times as many resources; ASK becomes one triple.

Of a pushed document, triples that it annotates itself, by any method, keep their own validity; the others
take ``start`` (default: now) and ``end`` or ``lifetime`` (seconds) of the query string.
``supersede=true`` ends older facts of equal subject and predicate.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from weir.errors import DataError, UsageError
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, Fact, TripleText, read_facts, read_time
from weir.fragments.server.annotated import Names
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.request import TooLarge, stated_time
from weir.linked.http import WallClock
from weir.linked.http.headers import SECOND
from weir.rdf.formats.guarded_parser import parse_document
from weir.rdf.terms import RDF, XSD, Literal, term_of_json


@dataclass(frozen=True, slots=True)
class Solution:
    """One solution of SELECT: its variables in order, with the texts of their terms."""

    cells: tuple[tuple[str, str], ...]


Result: TypeAlias = TripleText | Solution


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
        self._held: Counter[Result] = Counter()
        self._holding: dict[TripleText, None] = {}

    def write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Publish the result lines of one or more evaluation times, in order."""
        batches: dict[int, dict[str, list[Result]]] = {}
        for line in lines:
            at = line["at"] if isinstance(line["at"], int) else read_time(f'"{line["at"]}"')
            by_op = batches.setdefault(at, {})
            by_op.setdefault(line["op"], []).extend(self.results(line))
        for at, by_op in sorted(batches.items()):
            if self.events:
                self._push(self._copies(Counter([one for some in by_op.values() for one in some])), [], at)
            elif "R" in by_op:
                self.replace(by_op["R"], at)
            else:
                self.change(by_op.get("I", []), by_op.get("D", []), at)

    def replace(self, results: Iterable[Result], at: int) -> None:
        """The whole result at an evaluation time: what is not in it any more ends."""
        self._become(Counter(results), at)

    def change(self, added: Iterable[Result], removed: Iterable[Result], at: int) -> None:
        """What an evaluation added to and removed from the result (as multisets)."""
        held = self._held.copy()
        held.subtract(Counter(removed))
        self._become(+held + Counter(added), at)

    def _become(self, results: Counter[Result], at: int) -> None:
        holding = self._copies(results)
        gone = [triple for triple in self._holding if triple not in holding]
        self._held, self._holding = results, holding
        self._push(holding, gone, at)

    def _copies(self, results: Counter[Result]) -> dict[TripleText, None]:
        """The triples of results; those of a solution as many times as it occurs, each time about another
        resource. A triple of a graph has no number."""
        return {
            triple: None
            for result, times in results.items()
            for copy in range(times if isinstance(result, Solution) else 1)
            for triple in (self._triples(result, copy) if isinstance(result, Solution) else (result,))
        }

    def _push(self, holding: Iterable[TripleText], gone: list[TripleText], at: int) -> None:
        now = self.clock()
        if self.on_arrival:
            at = now
        end = at + (self.period or self.lifetime)
        try:
            if gone:
                self.dataset.end(gone, at, now)
            self.dataset.push([Fact(*triple, at, end) for triple in holding], now)
        except UsageError:
            # Taken down meanwhile: nobody reads it any more.
            if not self.dataset.closed:
                raise

    def results(self, line: Mapping[str, Any]) -> list[Result]:
        """What a result line holds; an evaluation without results has nothing."""
        if line.get("empty"):
            return []
        if "triples" in line:
            text = "\n".join(line["triples"])
            return [quad[:3] for quad in parse_document(text.encode(), "application/n-triples")]
        if "boolean" in line:
            value = str(Literal("true" if line["boolean"] else "false", XSD + "boolean"))
            return [(f"<{self.prefix}answer>", f"<{self.predicate('boolean')}>", value)]
        cells = sorted((name, str(term_of_json(value))) for name, value in line["bindings"].items())
        return [Solution(tuple(cells))]

    def predicate(self, variable: str) -> str:
        """The predicate by which a variable's value is said of a solution."""
        return f"{self.prefix}{variable}"

    def _triples(self, solution: Solution, copy: int) -> list[TripleText]:
        """A solution as a resource, the first one or a further copy of it; without bindings it has a type."""
        said = repr(list(solution.cells)) if not copy else repr((list(solution.cells), copy))
        row = f"<{self.prefix}{hashlib.blake2b(said.encode(), digest_size=12).hexdigest()}>"
        triples = [(row, f"<{self.predicate(name)}>", text) for name, text in solution.cells]
        return triples or [(row, f"<{RDF}type>", f"<{self.prefix}Solution>")]


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
    facts = [Fact(*triple, *fact[3:]) for triple, fact in zip(_apart(facts), facts, strict=True)]
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
    return dataset.end(_apart([quad[:3] for quad in quads]), now)


def _apart(rows: Sequence[Fact | TripleText]) -> list[TripleText]:
    """The triples of a document with blank nodes that no other document has.

    Their names are made of the triples that have them, in the order of the document: the same document
    pushed again means the same nodes, and DELETE with it ends what it said.
    """
    numbers: dict[str, int] = {}

    def numbered(text: str) -> str:
        return f"_:{numbers.setdefault(text, len(numbers))}" if text.startswith("_:") else text

    named = [tuple(map(numbered, row[:3])) for row in rows]
    if not numbers:
        return [row[:3] for row in rows]
    blank = [triple for triple in named if any(text.startswith("_:") for text in triple)]
    digest = hashlib.blake2b(repr(blank).encode(), digest_size=12).hexdigest()
    return [
        (s, p, o)
        for s, p, o in (
            tuple(f"_:{digest}-{text[2:]}" if text.startswith("_:") else text for text in triple)
            for triple in named
        )
    ]


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
