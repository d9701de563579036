"""Many queries on the same streams, evaluated together: the registration point of batch matching.

Queries are added and dropped at any time, one or thousands; each gets exactly what it would get alone, from
its first batch on. Conjunctions on equal windows become one set (``conjunctive``), others of equal shape
one template (``templates``), and what fits neither runs by itself; ``explain`` shows which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from weir.errors import UsageError
from weir.kernel.contract import Answers, Background, Evaluator, NotCovered, Slab
from weir.kernel.evaluators import choose_evaluator
from weir.kernel.matching.answers import SetAnswers, SingleAnswers
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.generations import Generation, absorb, raise_levels
from weir.kernel.matching.shapes import Template, put_together
from weir.language.algebra.query import Query, Semantics
from weir.language.algebra.windows import TickKind, WindowDeclaration
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.plan.analysis.templates import Instance, Shape, instance
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.storage import pack, unpack

SlabOf = Callable[[int], Slab]
_FIRST, _LAST = -(1 << 62), 1 << 62
_KIND = "weir.shared/5"
SetKey = tuple[WindowDeclaration, Semantics]


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunction, and the set that evaluates it."""

    set: SetKey
    conjunction: Conjunction


def shared_as(query: Query, *, bare_default: bool = False) -> Conjunct | Instance | str:
    """How a query is evaluated with others: as a conjunction of a set, as an instance of its shape, or, in
    words, why by itself. It depends on the query alone."""
    found = conjunction(query, bare_default=bare_default)
    if isinstance(found, Conjunction) and (bare_default or not found.window.in_default):
        batchwise = found.window.semantics.tick.kind is TickKind.BATCH
        if batchwise and ConjunctiveSet.covers(found.window):
            return Conjunct((found.window, Semantics(query.semantics.r2s, query.semantics.previous)), found)
    return instance(query)


@dataclass(frozen=True)
class SharedAnswers:
    """What all queries answered in one slab."""

    parts: Sequence[SetAnswers | SingleAnswers]
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
class Single:
    """A query that is evaluated by itself, from batch ``since`` on, and why."""

    name: str
    evaluator: Evaluator
    since: int
    reason: str

    def advance(self, slab: Slab) -> SingleAnswers:
        """What it answers."""
        return SingleAnswers(self.name, self.evaluator.advance(slab))


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
        self._shapes: dict[Shape, list[Template]] = {}
        self._singles: dict[str, Single] = {}
        self._graphs: dict[str, Background] = {}

    def __len__(self) -> int:
        return len(self._queries)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The registered queries by name."""
        return dict(self._queries)

    def add(
        self,
        queries: Mapping[str, Query],
        since: int = 0,
        graphs: Mapping[str, Background] | None = None,
    ) -> None:
        """Register queries that see the messages of batch ``since`` and later; ``graphs`` are the static
        graphs of those that have some of their own."""
        taken = sorted(name for name in queries if name in self._queries)
        if taken:
            raise UsageError(f"query {taken[0]!r} is registered already", hint="drop it first")
        self._queries.update(queries)
        self._since.update(dict.fromkeys(queries, since))
        self._staged.update(dict.fromkeys(queries))
        self._graphs.update(graphs or {})

    def renew(self, graphs: Mapping[str, Background]) -> None:
        """Some queries have other static graphs from the next slab on."""
        self._settle()
        self._graphs.update(graphs)
        for templates in self._shapes.values():
            for each in templates:
                each.renew(graphs)
        for name in graphs.keys() & self._singles.keys():
            self._singles[name].evaluator.renew(graphs[name])

    def drop(self, names: Iterable[str]) -> None:
        """Forget queries; the others go on as if these had never been."""
        gone = list(names)
        for name in gone:
            if name not in self._queries:
                raise UsageError(f"query {name!r} is not registered")
            del self._queries[name], self._since[name]
            self._staged.pop(name, None)
            self._graphs.pop(name, None)
            self._singles.pop(name, None)
        for generations in self._sets.values():
            for each in generations:
                each.set.drop([name for name in gone if name in each.set.channels])
        for templates in self._shapes.values():
            for part in templates:
                part.drop([name for name in gone if name in part.queries])
        self._shapes = {
            shape: kept
            for shape, templates in self._shapes.items()
            if (kept := [p for p in templates if len(p)])
        }
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
        self._graphs |= younger._graphs
        self._singles |= younger._singles
        for shape, templates in younger._shapes.items():
            self._shapes.setdefault(shape, []).extend(templates)
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
        parts: list[SetAnswers | SingleAnswers] = []
        owner: dict[str, int] = {}
        for key, generations in self._sets.items():
            before = [each.received for each in generations]
            for each in generations:
                owner.update(dict.fromkeys(each.set.channels.headers, len(parts)))
                parts.append(each.set.advance(given(each.since)))
            raise_levels(generations, before)
            self._sets[key] = absorb(generations, self._dictionary, settled)
        for shape, templates in self._shapes.items():
            for template in templates:
                owner.update(dict.fromkeys(template.queries, len(parts)))
                parts.append(template.advance(given(template.since)))
            self._shapes[shape] = put_together(templates, settled)
        for name, single in self._singles.items():
            owner[name] = len(parts)
            parts.append(single.advance(given(single.since)))
        return SharedAnswers(parts, owner)

    # Putting queries into parts

    def _settle(self) -> None:
        """Put what was added since the last slab into sets and templates."""
        staged, self._staged = self._staged, {}
        for since in sorted({self._since[name] for name in staged}):
            names = [name for name in staged if self._since[name] == since]
            sets, shapes = self._sorted_out(names, since)
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
            for shape, instances in shapes.items():
                self._add_template(shape, instances, since)

    def _sorted_out(
        self, names: Sequence[str], since: int
    ) -> tuple[dict[SetKey, list[tuple[str, Conjunction]]], dict[Shape, dict[str, Instance]]]:
        """Conjunctions by their sets, others by their shapes; what is neither is by itself from now on."""
        sets: dict[SetKey, list[tuple[str, Conjunction]]] = {}
        shapes: dict[Shape, dict[str, Instance]] = {}
        for name in names:
            bare = name not in self._graphs and not len(self._background.default.subject)
            found = shared_as(self._queries[name], bare_default=bare)
            if isinstance(found, Conjunct):
                sets.setdefault(found.set, []).append((name, found.conjunction))
            elif isinstance(found, Instance):
                shapes.setdefault(found.shape, {})[name] = found
            else:
                self._alone(name, since, found)
        return sets, shapes

    def _add_template(self, shape: Shape, instances: Mapping[str, Instance], since: int) -> Template | None:
        """A template of some queries; None where they are by themselves."""
        members = {name: (found, self._graphs_of(name)) for name, found in instances.items()}
        try:
            made = Template(shape, since, members, self._dictionary, self._streams)
        except NotCovered as lacking:
            for name in members:
                self._alone(name, since, f"the interval evaluator does not cover {lacking.primary}")
            return None
        self._shapes.setdefault(shape, []).append(made)
        return made

    def _alone(self, name: str, since: int, reason: str) -> None:
        given = self._queries[name], self._graphs_of(name), self._dictionary, self._choice
        evaluator = choose_evaluator(*given, streams=self._streams).evaluator
        self._singles[name] = Single(name, evaluator, since, reason)

    def _graphs_of(self, name: str) -> Background:
        return self._graphs.get(name, self._background)

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
        for templates in self._shapes.values():
            for template in templates:
                names = {name: self._since[name] for name in template.queries}
                keep({"names": names, "since": template.since}, template.evaluator.snapshot())
        for name, each in self._singles.items():
            part = {"names": {name: self._since[name]}, "since": each.since, "alone": each.reason}
            keep(part, each.evaluator.snapshot())
        return bytes(pack(_KIND, {"parts": parts}, tables))

    def restore(self, state: bytes) -> None:
        """Replace the state by one that ``snapshot`` gave.

        The queries must have been added before. Those that the state does not know start from nothing;
        of those in the state that are not registered any more, nothing is left.
        """
        self._staged, self._sets = dict.fromkeys(self._queries), {}
        self._shapes, self._singles = {}, {}
        found = unpack(state, _KIND)
        for number, part in enumerate(found.header["parts"]):
            names = [name for name, since in part["names"].items() if self._since.get(name) == since]
            if not names:
                continue
            for name in names:
                del self._staged[name]
            own = found.table(f"state {number}")["bytes"].to_numpy().tobytes()
            if "level" in part:
                self._restore_set(names, part, own)
            elif "alone" in part:
                self._alone(names[0], part["since"], part["alone"])
                self._singles[names[0]].evaluator.restore(own)
            else:
                self._restore_template(names, part["since"], own)

    def _restore_template(self, names: Sequence[str], since: int, state: bytes) -> None:
        _, shapes = self._sorted_out(names, since)
        ((shape, instances),) = shapes.items()
        found = self._add_template(shape, instances, since)
        assert found is not None, "its state says that it is covered"
        found.evaluator.restore(state)

    def _restore_set(self, names: Sequence[str], part: Mapping[str, Any], state: bytes) -> None:
        sets, _ = self._sorted_out(names, part["since"])
        ((key, members),) = sets.items()
        levels = [(part[name][0], part[name][1]) for name in ("level", "own")]
        found = Generation(ConjunctiveSet(*key), part["since"], *levels)
        found.set.add(members, self._dictionary)
        found.set.restore(state)
        self._sets.setdefault(key, []).append(found)

    # Looking in

    @property
    def sets(self) -> Mapping[SetKey, Sequence[Generation]]:
        """The sets of conjunctions, eldest generation first."""
        self._settle()
        return self._sets

    @property
    def templates(self) -> Sequence[Template]:
        """The evaluators of other queries of equal shapes, those of a shape eldest first."""
        self._settle()
        return [template for templates in self._shapes.values() for template in templates]

    @property
    def singles(self) -> Sequence[Single]:
        """The queries that are evaluated by themselves."""
        self._settle()
        return list(self._singles.values())

    def statistics(self) -> dict[str, Any]:
        """Counters for metrics."""
        sets = [each.set.statistics() for generations in self.sets.values() for each in generations]
        total: dict[str, Any] = {"queries": len(self._queries), "sets": len(sets)}
        for name in ("channels", "machines", "states", "nodes", "live_rows", "late"):
            total[name] = sum(each[name] for each in sets)
        total["templates"], total["own"] = len(self.templates), len(self.singles)
        evaluators: list[Evaluator] = [part.evaluator for part in self.templates]
        for evaluator in (*evaluators, *(part.evaluator for part in self.singles)):
            told = evaluator.statistics()
            for name in ("live_rows", "late", "bytes"):
                total[name] = total.get(name, 0) + told.get(name, 0)
        return total

    def live_ids(self) -> Ids:
        """Every id whose text a later result may need: of live rows and waiting messages."""
        columns: list[Ids] = [np.empty(0, np.int64)]
        for generations in self.sets.values():
            for each in generations:
                columns += each.set.streams.ids()
        columns += [template.ids() for template in self.templates]
        for part in self._singles.values():
            live = getattr(part.evaluator, "live_ids", None)
            if live is not None:
                columns.append(live())
        return sorted_set(np.concatenate(columns))
