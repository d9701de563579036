"""A registered query made ready to run in a group: with its evaluator and its readings, by itself or shared.

Where many conjunctive queries are registered, or many that differ in constants alone, none gets an evaluator
of its own: one evaluator is advanced once a step for all that read a stream alike (``kernel.matching``).

An update of static graphs is logged with the time asked for, and what it adds to the extract of each query
that it concerns. A group that reaches the entry's batch settles from when on it counts for each of its
queries: the later of that time and the query's present. That is in its state, so that a replay or a restart
settles nothing twice. Whether an update is an evaluation time is a matter of the query's tick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from weir.kernel.contract import Answers, Background, Evaluator
from weir.kernel.evaluators import choose_evaluator
from weir.kernel.matching.shared import SharedEvaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.kernel.service_calls import Services
from weir.kernel.windows.window import spec_of
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Query
from weir.language.algebra.windows import All, Elements, Now, Past, Range, TickKind, Triples
from weir.linked.graphs.history import layered, resolved
from weir.plan.analysis.demand import Reading, demands, readings
from weir.plan.analysis.own_messages import evaluated_apart
from weir.plan.analysis.shares import EVERYWHERE, share, share_by_predicate
from weir.rdf.columns import NEVER
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, Literal, TripleTerm
from weir.runtime.control.catalog import SHARED, Catalog, Registration, UpdateEntry
from weir.runtime.ingest.matching import Selection, needs_every_text

Loader: TypeAlias = Callable[[str], Background]
"""Finds an extract by its name."""

Made: TypeAlias = dict[tuple[Any, ...], Background]
"""Graphs with updates that some queries have: those of others that are the same are not made again."""


class SharedQueries:
    """The queries of a group that read one stream with one lateness and AHEAD: one evaluator advances them
    all, and its state is kept once, whichever of them come and go. ``saved`` is the state before the batch,
    as it is stored; None where there is none."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.evaluator = SharedEvaluator(Background(), dictionary)
        self.saved: bytes | None = None
        self._dictionary = dictionary
        self._members: dict[str, Member] = {}

    @property
    def names(self) -> Set[str]:
        return self._members.keys()

    def add(self, member: Member) -> None:
        """Evaluate one more query."""
        _enter(self.evaluator, member)
        self._members[member.name] = member

    def drop(self, name: str) -> None:
        """Evaluate a query no longer."""
        if self._members.pop(name, None) is not None:
            self.evaluator.drop([name])

    def renew(self) -> None:
        """Evaluate queries whose static graphs have changed with those that they have now."""
        changed = {name: each for name, each in self._members.items() if each.renewed}
        if changed:
            self.evaluator.renew({name: each.graphs for name, each in changed.items()})
        for each in changed.values():
            each.renewed = False

    def take_over(self, younger: SharedQueries) -> None:
        """Evaluate the queries of others, too, which read the same from now on."""
        self.evaluator.take_over(younger.evaluator)
        self._members |= younger._members

    def only(self, names: Iterable[str]) -> SharedEvaluator:
        """Another evaluator, of some of the queries alone, in the state before the batch."""
        made = SharedEvaluator(Background(), self._dictionary)
        for name in names:
            _enter(made, self._members[name])
        if self.saved is not None:
            made.restore(self.saved)
        return made


def _enter(evaluator: SharedEvaluator, member: Member) -> None:
    evaluator.add({member.name: member.query}, member.registration.since, {member.name: member.graphs})


@dataclass(slots=True)
class Member:
    """``given`` is the time below which the evaluator has all messages; ``done`` that its input ended. One of
    ``SharedQueries`` has no evaluator of its own."""

    registration: Registration
    evaluator: Evaluator | None
    readings: tuple[Reading, ...]
    selections: Mapping[str, Selection] = field(default_factory=dict)
    """What it wants of each stream, where its evaluator works on terms."""
    slot: int = 0
    given: int = NEVER
    done: bool = False
    evaluations: int = 0
    results: int = 0
    effective: dict[int, int] = field(default_factory=dict)
    """The time from which each update of its graphs counts, once that is settled."""
    followed: tuple[int, ...] = ()
    """The updates that its evaluator's graphs have."""
    stored: bool = False
    """Whether the state store has an earlier state of it."""
    apart: bool = False
    """Whether its slot has evaluation times of its own."""
    places: Mapping[int, int | None] = field(default_factory=dict)
    """By the id of a predicate the place that splits its triples, where that is not the same for all."""
    graphs: Background = field(default_factory=Background)
    """The static graphs of one that has no evaluator of its own; ``renewed`` where they have changed since it
    was told."""
    renewed: bool = False

    @property
    def name(self) -> str:
        return self.registration.name

    @property
    def query(self) -> Query:
        """What is evaluated here."""
        return self.registration.evaluated

    @property
    def as_it_comes(self) -> bool:
        """Tuple-driven on one stream without lateness: a message is evaluated when it comes."""
        windows = self.query.dataset.windows
        return (
            bool(windows)
            and all(w.semantics.tick.kind is TickKind.TUPLE and not w.semantics.lateness for w in windows)
            and len(self.readings) == 1
        )

    @property
    def present(self) -> int:
        """The earliest time at which the query cannot have been evaluated: that up to which its data are
        complete, or the microsecond after it, where windows may have closed then, before any message of that
        time, or messages are evaluated as they come."""
        if self.given == NEVER:
            return NEVER
        specs = [spec_of(window, window.name) for window in self.query.dataset.windows]
        if any(spec.tuples for spec in specs):
            reached = self.as_it_comes or any(spec.closes_early for spec in specs)
        else:
            reached = not any(spec.awaits_company for spec in specs)
        return self.given + 1 if reached else self.given

    @property
    def turn(self) -> tuple[int, int]:
        """Which stretch of the evaluation times is evaluated here, of how many."""
        slots = self.registration.slots
        return (slots.index(self.slot), len(slots)) if self.registration.by_time else (0, 1)

    @property
    def on_one_grid(self) -> bool:
        """Whether its evaluations here are those of other slots too: a query that is split by a variable is
        evaluated in every slot, unless at the slot's own messages."""
        return self.registration.share is not None and not self.registration.by_time and not self.apart

    @property
    def tells(self) -> bool:
        """Whether a sum over all slots takes its evaluations here."""
        return not self.on_one_grid or self.slot == self.registration.slots[0]

    def part_of(self, messages: Messages, stream: str) -> Messages:
        """The triples that are this query's: those of its slot where it is split, and only those it wants
        where it works on terms, because of triples for other queries the texts may be missing."""
        if isinstance(self.evaluator, ReferenceEvaluator):
            messages = self.selections[stream].of(messages)
        place = self.registration.share
        if place is None:
            return messages
        slots = len(self.registration.slots)
        if not self.places:
            return messages.rows(share(messages.quads, place, slots) == self.slot)
        found = share_by_predicate(messages.quads, self.places, slots)
        return messages.rows((found == self.slot) | (found == EVERYWHERE))

    def count(self, answers: Answers) -> None:
        self.evaluations += answers.evaluations
        self.results += len(answers.at)

    def follow(self, catalog: Catalog, load: Loader, made: Made) -> None:
        """Take in the updates of its graphs that the catalog has and it does not have yet."""
        known = self.registration
        own = [each for each in catalog.updates if each.number > known.updates and known.name in each.parts]
        asked = {
            number: at
            for update in own
            for number, at, names in update.each
            if number > known.updates and known.name in names
        }
        numbers = tuple(asked)
        known_all = numbers == self.followed and all(n in self.effective for n in numbers)
        if self.done or known_all:
            return
        present = self.present
        for number, at in asked.items():
            self.effective.setdefault(number, max(_asked(at), present))
        graphs = settled(known, own, catalog, self.effective, load, made)
        if self.evaluator is None:
            self.graphs, self.renewed = graphs, True
        else:
            self.evaluator.renew(graphs)
        self.followed = numbers


def settled(
    registration: Registration,
    own: Sequence[UpdateEntry],
    catalog: Catalog,
    effective: Mapping[int, int],
    load: Loader,
    made: Made,
) -> Background:
    """A query's graphs with the updates in ``own``. An update from before its registration counts from
    the time asked for, or else from the beginning: the query has no present yet."""
    base = Background() if registration.graphs is None else load(registration.graphs)
    if not own and not registration.updates:
        return base
    parts = [each.parts[registration.name] for each in own]
    times = {
        number: effective.get(number, _asked(at))
        for update in catalog.updates
        for number, at, _ in update.each
    }
    key = (registration.graphs, *parts, *times.items())
    if key not in made:
        made[key] = resolved(layered([base, *map(load, parts)]), times)
    return made[key]


def _asked(at: int | None) -> int:
    return NEVER if at is None else at


def make_member(
    registration: Registration,
    background: Background,
    dictionary: Dictionary,
    streams: Iterable[str],
    services: Services | None = None,
) -> Member:
    """The constants of its patterns become known to ``dictionary``."""
    registered = registration.over(streams)
    query = registration.evaluated
    evaluator = None
    if registration.evaluator != SHARED:
        evaluator = choose_evaluator(
            query,
            background,
            dictionary,
            registration.evaluator,
            streams=registered,
            services=services,
            name=registration.name,
            routing=registration.routing,
        ).evaluator
    wanted = demands(query, registered, every_text=needs_every_text(registration.evaluator))
    for patterns in wanted.values():
        for pattern in patterns:
            for term in (pattern.subject, pattern.predicate, pattern.object, pattern.graph):
                if term is not None:
                    dictionary.encode(term)
    selections = {}
    if isinstance(evaluator, ReferenceEvaluator):
        selections = {stream: Selection(patterns, dictionary) for stream, patterns in wanted.items()}
    apart = registration.share is not None and evaluated_apart(query)
    places = {dictionary.encode(each): place for each, place in registration.places.items()}
    graphs = Background()
    if registration.evaluator == SHARED:
        graphs = background
        terms = [part for part in walk(query) if isinstance(part, IRI | Literal | TripleTerm)]
        dictionary.encode_terms(terms)
    asked = readings(query, registered)
    return Member(registration, evaluator, asked, selections, apart=apart, places=places, graphs=graphs)


def horizon(query: Query) -> int | None:
    """How long after its time a message can matter to any window, also to one that it has just left; None
    for ever."""
    longest = 1
    for window in query.dataset.windows:
        match window.kind:
            case Range(width, step):
                longest = max(longest, width + (step or 0))
            case Past(start, _, step):
                longest = max(longest, start + (step or 0))
            case Now():
                longest = max(longest, 1)
            case All() | Triples() | Elements():
                return None
        longest += 2 * (window.semantics.tick.unit or 0)
        period = window.semantics.report.periodic
        longest += period or 0
    return longest
