"""A registered query made ready to run in a group: parsed, with its evaluator and its readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from weir.kernel.contract import Answers, Background, Evaluator
from weir.kernel.evaluators import make_evaluator
from weir.kernel.reference import ReferenceEvaluator
from weir.kernel.service_calls import Services
from weir.kernel.windows.window import spec_of
from weir.language.algebra.query import Query
from weir.language.algebra.windows import All, Elements, Now, Past, Range, TickKind, Triples
from weir.plan.analysis.chain import parsed
from weir.plan.analysis.demand import Reading, demands, readings
from weir.rdf.columns import NEVER
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.runtime.control.entries import Registration
from weir.runtime.ingest.selection import Selection
from weir.runtime.worker.sharing import SHARED, SharedQuery


@dataclass(slots=True)
class Member:
    """``given`` is the time below which the evaluator has all messages; ``done`` that its input ended."""

    registration: Registration
    query: Query
    evaluator: Evaluator
    readings: tuple[Reading, ...]
    selections: Mapping[str, Selection] = field(default_factory=dict)
    """What it wants of each stream, where its evaluator works on terms."""
    slot: int = 0
    given: int = NEVER
    done: bool = False
    evaluations: int = 0
    results: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    effective: dict[int, int] = field(default_factory=dict)
    """The time from which each update of its graphs counts, once that is settled."""
    followed: tuple[int, ...] = ()
    """The updates that its evaluator's graphs have."""
    stored: bool = False
    """Whether the state store has an earlier state of it."""

    @property
    def name(self) -> str:
        return self.registration.name

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
        complete, or the microsecond after it, where a window may have closed then or messages are evaluated
        as they come."""
        if self.given == NEVER:
            return NEVER
        waits = [spec_of(w, w.name).awaits_company for w in self.query.dataset.windows]
        return self.given if all(waits) and not self.as_it_comes else self.given + 1

    @property
    def turn(self) -> tuple[int, int]:
        """Which stretch of the evaluation times is evaluated here, of how many."""
        slots = self.registration.slots
        return (slots.index(self.slot), len(slots)) if self.registration.by_time else (0, 1)

    @property
    def tells(self) -> bool:
        """Whether its evaluations here are counted: those of a query that is split by a variable take place
        in every slot."""
        return self.registration.by_time or self.slot == self.registration.slots[0]

    def part_of(self, messages: Messages, stream: str) -> Messages:
        """The triples that are this query's: those of its slot where it is split, and only those it wants
        where it works on terms, because of triples for other queries the texts may be missing."""
        if isinstance(self.evaluator, ReferenceEvaluator):
            messages = self.selections[stream].of(messages)
        place = self.registration.share
        if place is None:
            return messages
        return messages.rows(share(messages.quads[place], len(self.registration.slots)) == self.slot)

    def count(self, answers: Answers) -> None:
        self.evaluations += answers.evaluations
        self.results += len(answers.at)


def share(ids: np.ndarray, slots: int) -> np.ndarray:
    """The slot that each id belongs to, where queries are split over ``slots``."""
    mixed = ids.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(33)) % np.uint64(slots)).astype(np.int64)


def make_member(
    registration: Registration,
    background: Background,
    dictionary: Dictionary,
    streams: Iterable[str],
    services: Services | None = None,
) -> Member:
    """Parse and build; the constants of its patterns become known to ``dictionary``."""
    registered = registration.over(streams)
    query = parsed(registration.text, registration.dialect)
    evaluator: Evaluator
    if registration.evaluator == SHARED:
        evaluator = SharedQuery(registration.name, query, registration.since)
    else:
        evaluator = make_evaluator(
            query,
            background,
            dictionary,
            registration.evaluator,
            streams=registered,
            services=services,
            name=registration.name,
        )
    wanted = demands(query, registered, every_text=needs_every_text(registration.evaluator))
    for patterns in wanted.values():
        for pattern in patterns:
            for term in (pattern.subject, pattern.predicate, pattern.object, pattern.graph):
                if term is not None:
                    dictionary.encode(term)
    selections = {}
    if isinstance(evaluator, ReferenceEvaluator):
        selections = {stream: Selection(patterns, dictionary) for stream, patterns in wanted.items()}
    return Member(registration, query, evaluator, readings(query, registered), selections)


def needs_every_text(choice: str) -> bool:
    """Whether the evaluator works on terms, and so has to have the text of each."""
    return choice not in ("interval", SHARED)


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
