"""Many queries on the same streams, evaluated together: the registration point of batch matching.

Queries are added and dropped at any time, one or thousands; each gets exactly what it would get alone, from
its first batch on. Conjunctions on equal windows become one set (``conjunctive``), others of equal shape
one template (``templates``), and what fits neither runs by itself; ``explain`` shows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Evaluator, Slab
from weir.kernel.evaluators import choose_evaluator
from weir.kernel.matching.answers import Reader, SetAnswers, TemplateAnswers
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.generations import Generation, absorb, raise_levels
from weir.language.algebra.query import Query, Semantics
from weir.language.algebra.windows import WindowDeclaration
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.plan.analysis.templates import Instance, Shape, instance, template
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Term
from weir.storage import pack, unpack

SlabOf = Callable[[int], Slab]
_FIRST, _LAST = -(1 << 62), 1 << 62
_KIND = "weir.shared/4"
SetKey = tuple[WindowDeclaration, Semantics]


@dataclass(frozen=True)
class SharedAnswers:
    """What all queries answered in one slab."""

    parts: Sequence[SetAnswers | TemplateAnswers]
    owner: Mapping[str, int]

    def __len__(self) -> int:
        """The number of results that were computed; one that several queries share counts once."""
        return sum(len(part) for part in self.parts)

    @property
    def delivered(self) -> int:
        """The number of results, once per query that gets them."""
        return sum(part.delivered for part in self.parts)

    def of(self, query: str) -> Answers:
        """One query's answers, in the order of time."""
        return self.parts[self.owner[query]].of(query)

    def counts(self) -> Iterator[tuple[str, int, int]]:
        """Every query with its number of evaluations and of results."""
        for part in self.parts:
            for name, results in part.counts().items():
                yield name, part.evaluations, results

    def items(self) -> Iterator[tuple[str, Answers]]:
        """The answers of every query that has any: what is routed to its own output."""
        for part in self.parts:
            yield from part.items()


@dataclass(slots=True)
class Template:
    """An evaluator and the queries that read it, from batch ``since`` on.

    ``alone`` says why a query runs by itself; None for a template of several.
    """

    evaluator: Evaluator
    since: int
    readers: dict[str, Reader] = field(default_factory=dict)
    alone: str | None = None

    def __len__(self) -> int:
        return len(self.readers)


class SharedEvaluator:
    """Queries that read the same streams with the same lateness, so that one slab serves them all.

    ``streams`` are the registered ones, for windows over a variable stream; ``choice`` is that of
    ``choose_evaluator`` for queries outside sets.
    """

    def __init__(
        self,
        background: Background,
        dictionary: Dictionary,
        *,
        streams: Sequence[str] = (),
        choice: str = "auto",
    ) -> None:
        self._background = background
        self._dictionary = dictionary
        self._streams = tuple(streams)
        self._choice = choice
        self._queries: dict[str, Query] = {}
        self._since: dict[str, int] = {}
        self._staged: dict[str, None] = {}
        self._sets: dict[SetKey, list[Generation]] = {}
        self._templates: list[Template] = []

    def __len__(self) -> int:
        return len(self._queries)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The registered queries by name."""
        return dict(self._queries)

    def add(self, queries: Mapping[str, Query], since: int = 0) -> None:
        """Register queries that see the messages of batch ``since`` and later."""
        taken = sorted(name for name in queries if name in self._queries)
        if taken:
            raise UsageError(f"query {taken[0]!r} is registered already", hint="drop it first")
        self._queries.update(queries)
        self._since.update(dict.fromkeys(queries, since))
        self._staged.update(dict.fromkeys(queries))

    def drop(self, names: Iterable[str]) -> None:
        """Forget queries; the others go on as if these had never been."""
        gone = list(names)
        for name in gone:
            if name not in self._queries:
                raise UsageError(f"query {name!r} is not registered")
            del self._queries[name], self._since[name]
            self._staged.pop(name, None)
        for generations in self._sets.values():
            for each in generations:
                each.set.drop([name for name in gone if name in each.set.channels])
        for part in self._templates:  # A query's constants stay in its template until the last one has gone.
            for name in part.readers.keys() & set(gone):
                del part.readers[name]
        self._templates = [part for part in self._templates if len(part)]
        self._sets = {
            key: merged
            for key, generations in self._sets.items()
            if (merged := absorb(generations, self._dictionary, _FIRST))
        }

    def take_over(self, younger: SharedEvaluator) -> None:
        """Evaluate the queries of another evaluator, too, in the state in which they are; from now on both
        are given the same messages."""
        self._settle()
        younger._settle()
        self._queries |= younger._queries
        self._since |= younger._since
        self._templates += younger._templates
        for key, generations in younger._sets.items():
            known = self._sets.setdefault(key, [])
            if known:
                for each in generations:
                    each.level, each.own = known[0].received, each.received
            known += generations

    # Slabs

    def advance(self, slab: Slab | SlabOf, settled: int | None = None) -> SharedAnswers:
        """Evaluate every evaluation time that the slab completes, for all queries.

        Where the input holds messages that came before some query's first batch, give a function: it is
        called with a batch id and returns the slab of what came with that batch or later. ``settled`` then
        says that nothing of an earlier batch is still to come: queries from that batch or before will
        see the same from now on, and may be put together.
        """
        self._settle()
        if settled is None:
            settled = _LAST if isinstance(slab, Slab) else _FIRST
        given: SlabOf = (lambda since: slab) if isinstance(slab, Slab) else cache(slab)
        parts: list[SetAnswers | TemplateAnswers] = []
        owner: dict[str, int] = {}
        for key, generations in self._sets.items():
            before = [each.received for each in generations]
            for each in generations:
                owner.update(dict.fromkeys(each.set.channels.headers, len(parts)))
                parts.append(each.set.advance(given(each.since)))
            raise_levels(generations, before)
            self._sets[key] = absorb(generations, self._dictionary, settled)
        for part in self._templates:
            owner.update(dict.fromkeys(part.readers, len(parts)))
            parts.append(TemplateAnswers(part.evaluator.advance(given(part.since)), dict(part.readers)))
        return SharedAnswers(parts, owner)

    # Putting queries into parts

    def _settle(self) -> None:
        """Put what was added since the last slab into sets and templates."""
        staged, self._staged = self._staged, {}
        for since in sorted({self._since[name] for name in staged}):
            names = [name for name in staged if self._since[name] == since]
            sets, rest = self._sorted_out(names)
            for key, members in sets.items():
                generations = self._sets.setdefault(key, [])
                if (
                    not generations
                    or generations[-1].since != since
                    or generations[-1].set.through is not None
                ):
                    generations.append(Generation(ConjunctiveSet(*key), since))
                    generations[-1].level = generations[0].received
                generations[-1].set.add(members, self._dictionary)
            self._templates += self._by_shape(rest, since)

    def _sorted_out(
        self, names: Sequence[str]
    ) -> tuple[dict[SetKey, list[tuple[str, Conjunction]]], dict[str, str]]:
        """Conjunctions by window and semantics; the others with the reason why they are none."""
        bare = not len(self._background.default.subject)
        sets: dict[SetKey, list[tuple[str, Conjunction]]] = {}
        rest: dict[str, str] = {}
        for name in names:
            query = self._queries[name]
            found = conjunction(query, bare_default=bare)
            if isinstance(found, str):
                rest[name] = found
                continue
            key = found.window, Semantics(query.semantics.r2s, query.semantics.previous)
            if key in sets or ConjunctiveSet.covers(found.window):
                sets.setdefault(key, []).append((name, found))
            else:
                rest[name] = "its window goes back in time"
        return sets, rest

    def _by_shape(self, names: Iterable[str], since: int) -> Iterator[Template]:
        shapes: dict[Shape, list[tuple[str, Instance]]] = {}
        for name in names:
            found = instance(self._queries[name])
            if isinstance(found, str):
                yield self._alone(name, since, found)
            else:
                shapes.setdefault(found.shape, []).append((name, found))
        for shape, members in shapes.items():
            if len(members) == 1:
                yield self._alone(members[0][0], since, "no other query of its shape")
            else:
                yield self._together(shape, members, since)

    def _together(self, shape: Shape, members: Sequence[tuple[str, Instance]], since: int) -> Template:
        """One row of constants per distinct query: identical ones share a number."""
        rows: dict[tuple[Term, ...], int] = {}
        readers: dict[str, Reader] = {}
        for name, member in members:
            number = rows.setdefault(member.constants, len(rows))
            readers[name] = Reader(number if shape.parameters else None, member.names)
        query = template(shape, [(number, constants) for constants, number in rows.items()])
        return Template(self._evaluator(query), since, readers)

    def _alone(self, name: str, since: int, reason: str) -> Template:
        return Template(self._evaluator(self._queries[name]), since, {name: Reader()}, reason)

    def _evaluator(self, query: Query) -> Evaluator:
        given = query, self._background, self._dictionary, self._choice
        return choose_evaluator(*given, streams=self._streams).evaluator

    # State

    def snapshot(self) -> bytes:
        """The whole state, readable by ``restore`` in another process that has the same queries."""
        self._settle()
        parts: list[dict[str, Any]] = []
        tables: dict[str, dict[str, Any]] = {}

        def keep(part: dict[str, Any], state: bytes) -> None:
            tables[f"state {len(parts)}"] = {"bytes": np.frombuffer(state, np.uint8)}
            parts.append(part)

        for generations in self._sets.values():
            for generation in generations:
                names = {name: self._since[name] for name in generation.set.channels.queries}
                levels = {"level": generation.level, "own": generation.own}
                part = {"names": names, "since": generation.since, **levels}
                keep(part, generation.set.snapshot())
        for each in self._templates:
            names = dict.fromkeys(each.readers, each.since)
            part = {"names": names, "since": each.since, "alone": each.alone is not None}
            keep(part, each.evaluator.snapshot())
        return bytes(pack(_KIND, {"parts": parts}, tables))

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave.

        The queries must have been added before. Those that the state does not know start from nothing;
        of those in the state that are not registered any more, nothing is left.
        """
        self._staged, self._sets, self._templates = dict.fromkeys(self._queries), {}, []
        found = unpack(state, _KIND)
        for number, part in enumerate(found.header["parts"]):
            names = [name for name, since in part["names"].items() if self._since.get(name) == since]
            if not names:
                continue
            for name in names:
                del self._staged[name]
            own = found.table(f"state {number}")["bytes"].to_numpy().tobytes()
            (self._restore_set if "level" in part else self._restore_template)(names, part, own)

    def _restore_set(self, names: Sequence[str], part: Mapping[str, Any], state: bytes) -> None:
        sets, _ = self._sorted_out(names)
        ((key, members),) = sets.items()
        levels = [(part[name][0], part[name][1]) for name in ("level", "own")]
        found = Generation(ConjunctiveSet(*key), part["since"], *levels)
        found.set.add(members, self._dictionary)
        found.set.restore(state)
        self._sets.setdefault(key, []).append(found)

    def _restore_template(self, names: Sequence[str], part: Mapping[str, Any], state: bytes) -> None:
        if part["alone"]:
            (found,) = self._by_shape(names, part["since"])
        else:
            # Also where one query is left: the state is the template's.
            instances = [(name, instance(self._queries[name])) for name in names]
            members = [(name, each) for name, each in instances if isinstance(each, Instance)]
            found = self._together(members[0][1].shape, members, part["since"])
        found.evaluator.restore(state)
        self._templates.append(found)

    # Looking in

    @property
    def sets(self) -> Mapping[SetKey, Sequence[Generation]]:
        """The sets of conjunctions, eldest generation first."""
        self._settle()
        return self._sets

    @property
    def templates(self) -> Sequence[Template]:
        """The evaluators of other queries: of several queries of one shape, or of one alone."""
        self._settle()
        return self._templates

    def statistics(self) -> dict[str, Any]:
        """Counters for metrics."""
        sets = [each.set.statistics() for generations in self.sets.values() for each in generations]
        total: dict[str, Any] = {"queries": len(self._queries), "sets": len(sets)}
        for name in ("channels", "machines", "states", "nodes", "live_rows", "late"):
            total[name] = sum(each[name] for each in sets)
        alone = sum(part.alone is not None for part in self.templates)
        total["templates"], total["own"] = len(self.templates) - alone, alone
        for part in self.templates:
            told = part.evaluator.statistics()
            for name in ("live_rows", "late"):
                total[name] += told.get(name, 0)
        return total

    def live_ids(self) -> Ids:
        """Every id whose text a later result may need: of live rows and waiting messages."""
        columns: list[Ids] = [np.empty(0, np.int64)]
        for generations in self.sets.values():
            for each in generations:
                columns += each.set.streams.ids()
        for part in self._templates:
            live = getattr(part.evaluator, "live_ids", None)
            if live is not None:
                columns.append(live())
        return np.unique(np.concatenate(columns))
