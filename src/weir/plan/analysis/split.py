"""Which queries can be split over all slots, by the hash of one variable or by time.

Every slot sees only those triples whose term at one place hashes to it, and of the messages all, or those
alone that have such a triple (``own_messages``). That changes nothing where each solution comes from triples
that have the same term there: all patterns on windows have one variable at the same place, or at that which
their predicate decides, and whatever is joined, counted or compared is so per value of it (``keyed``).
Triples of predicates that have no such place are whole in every slot, as static graphs are: solutions may
draw on them, but none may come from them alone. Where it is so of the patterns, but not of what is counted,
ordered or made of their solutions, that is done in a second stage (``two_stages``).

Where that does not apply, every slot may see everything and evaluate a stretch of the evaluation times: what
a query answers at τ depends on its windows there and just before alone. So any query can be split that is not
read by another, reads no other and asks no endpoint. It costs the windows once more in each slot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Construct, Query, Select
from weir.language.algebra.windows import Elements, TickKind, Triples
from weir.plan.analysis.keyed import TRIPLE, keyed_by
from weir.plan.analysis.own_messages import needs_every_message
from weir.plan.analysis.rates import TOO_FULL, Rates
from weir.plan.analysis.two_stages import Stages, staged
from weir.rdf.terms import IRI, Variable

PLACES = ("subject", "predicate", "object")
WHOLE_TRIPLE = 4
"""In the place of a place: all three."""
BY_PREDICATE = 8
"""From here on in the place of a place: the one that a triple's predicate decides, by ``places_of``."""
MOST_TOLD = 8
"""Over so many slots a query is split at most that has to be told of every message in each of them, or needs
some of the triples in each."""


@dataclass(frozen=True, slots=True)
class Split:
    """``place`` (0 subject, 1 predicate, 2 object) of ``variable`` splits the query, or ``WHOLE_TRIPLE``
    does, or, from ``BY_PREDICATE`` on, what ``places_of`` says; None with a reason, and whether it can be
    split ``by_time`` all the same. Where a slot has to be told of ``every`` message, not only of its own,
    that is why. Triples of the predicates ``copied`` go to every slot. ``stages`` are there where what the
    slots answer has to be put together; where nobody does that, it is split ``by_time``."""

    place: int | None = None
    variable: Variable | None = None
    reason: str | None = None
    by_time: bool = False
    every: str | None = None
    stages: Stages | None = None
    copied: tuple[IRI, ...] = ()

    @property
    def few(self) -> bool:
        """Whether each slot costs as much again, so that few are better than many."""
        return self.every is not None or bool(self.copied)

    def __str__(self) -> str:
        if self.place is not None and self.variable is not None:
            by = "by the triple that its one pattern matches, so that no value has one slot for itself"
            if self.place in range(len(PLACES)):
                by = f"by ?{self.variable.name}, the {PLACES[self.place]} of every pattern"
            elif self.place >= BY_PREDICATE:
                by = f"by ?{self.variable.name}, wherever a pattern has it"
            if self.copied:
                by += f"; each slot gets all triples of {', '.join(map(str, self.copied))}"
            after = "" if self.stages is None else f".\nAt each evaluation time, of all slots: {self.stages}"
            if self.every is None:
                over = f"at most {MOST_TOLD} slots" if self.few else "all slots"
                return f"split over {over} {by}.\nA slot gets the messages that have triples for it{after}"
            return (
                f"split over all slots, at most {MOST_TOLD}, {by}.\n"
                f"Each of them is told the times of all messages: {self.every}{after}"
            )
        if self.by_time:
            return (
                "one slot; over streams that end, where there are two slots for each query, split over all\n"
                f"of them by evaluation time. No variable splits it: {self.reason}"
            )
        return f"one slot: {self.reason}"


def splitting(
    query: Query,
    outputs: Collection[str] = (),
    rates: Callable[[], Rates] = Rates,
    slots: int = 1,
) -> Split:
    """How a query can be split; ``outputs`` are the streams that queries make. ``rates`` says what of them is
    known, if anything: with it an aggregate is not split by a term that would fill one of the ``slots``, and
    of the triples to be copied the fewest are."""
    refused = _together(query, outputs)
    if refused is not None:
        return Split(reason=refused)
    refused = _refusal(query)
    if refused is not None:
        return Split(reason=refused, by_time=True)
    shared = [(place, variable, ()) for place, variable in _shared(query)]
    mixed = [(place, variable, _copied(places)) for place, (variable, places) in _by_predicate(query)]
    whole = [*shared, *(each for each in mixed if not each[2])]
    salted = [(place, variable, ()) for place, variable in _salted(query)]
    reasons = ["the patterns on its streams share no variable"]
    if len(some := [each for each in mixed if each[2]]) > 1:
        known = rates()
        some.sort(key=lambda each: known.of(each[2]))
    for alone, staged_too in ((whole, [*salted, *whole]), (some, some)):
        for place, variable, copied in alone:
            problem = _whole(query, variable) or _hot(query, place, salted, rates, slots)
            if problem is None:
                return Split(place, variable, every=needs_every_message(query), copied=copied)
            reasons.append(problem)
        why = reasons[-1]
        for place, variable, copied in staged_too:
            stages = staged(query, variable)
            if isinstance(stages, Stages):
                every = needs_every_message(stages.first)
                return Split(place, variable, why, True, every, stages, copied)
            reasons.append(stages)
    return Split(reason=reasons[-1], by_time=True)


def _hot(
    query: Query, place: int, salted: Sequence[object], rates: Callable[[], Rates], slots: int
) -> str | None:
    """What one slot would have too much of, None where nothing is known of it or nothing else can be done."""
    if not salted or isinstance(staged(query, TRIPLE), str):
        return None
    fullest = rates().fullest(place, slots)
    if fullest <= TOO_FULL:
        return None
    return f"one slot of {slots} would have {fullest:.1f} x the mean, by what the streams begin with"


def _copied(places: Places) -> tuple[IRI, ...]:
    return tuple(predicate for predicate, place in places.items() if place is None)


def places_of(query: Query, place: int) -> Places:
    """Of a query that is split by predicate the place that splits the triples of each; None where they go to
    every slot."""
    return dict(_by_predicate(query))[place][1]


def stages_of(query: Query, place: int) -> Stages:
    """The stages of a query that is split by the variable at ``place``."""
    mixed = [(number, variable) for number, (variable, _) in _by_predicate(query)]
    stages = staged(query, dict([*_shared(query), (WHOLE_TRIPLE, TRIPLE), *mixed])[place])
    assert isinstance(stages, Stages)
    return stages


def _salted(query: Query) -> list[tuple[int, Variable]]:
    """What splits aggregates over one pattern such that however many triples have one term, each slot gets
    its part of them. Distinct values would be given by every slot then."""
    groups = [node for node in walk(query.pattern) if isinstance(node, a.Group)]
    aggregates = [each for group in groups for _, each in group.aggregates]
    plain = all(not each.distinct and each.function is not e.Aggregation.GROUP_CONCAT for each in aggregates)
    return [(WHOLE_TRIPLE, TRIPLE)] if len(_triples(query)) == 1 and groups and plain else []


def _triples(query: Query) -> list[a.TriplePattern]:
    """The patterns on windows."""
    windows = [node for node in walk(query.pattern) if isinstance(node, a.Window)]
    return [node for node in walk(tuple(windows)) if isinstance(node, a.TriplePattern)]


def _shared(query: Query) -> list[tuple[int, Variable]]:
    """The variables that all patterns on windows have at one place."""
    patterns, found = _triples(query), []
    for place, name in enumerate(PLACES):
        nodes = {getattr(pattern, name) for pattern in patterns}
        node = nodes.pop() if nodes else None
        if not nodes and isinstance(node, Variable):
            found.append((place, node))
    return found


Places = Mapping[IRI, int | None]


def _by_predicate(query: Query) -> list[tuple[int, tuple[Variable, Places]]]:
    """The variables that at least half of the patterns have at a place that their predicate decides, those
    of most patterns first, by the number that stands for each."""
    patterns = _triples(query)
    predicates = [each.predicate for each in patterns if isinstance(each.predicate, IRI)]
    if len(predicates) < len(patterns):
        return []
    found: list[tuple[int, Variable, Places]] = []
    for variable in dict.fromkeys(v for each in patterns for v in (each.subject, each.object)):
        if not isinstance(variable, Variable):
            continue
        places: dict[IRI, set[int | None]] = {}
        for each, predicate in zip(patterns, predicates, strict=True):
            own = [place for place in (0, 2) if getattr(each, PLACES[place]) == variable]
            places.setdefault(predicate, set()).add(own[0] if own else None)
        alone = {predicate: next(iter(each)) for predicate, each in places.items() if len(each) == 1}
        split = sum(places[each] != {None} for each in predicates)
        differ = len(set(alone.values())) > 1
        if differ and len(alone) == len(places) and 2 * split >= len(patterns):
            found.append((split, variable, alone))
    found.sort(key=lambda each: -each[0])
    return [(BY_PREDICATE + number, (v, places)) for number, (_, v, places) in enumerate(found)]


def _together(query: Query, outputs: Collection[str]) -> str | None:
    """What keeps a query in one slot."""
    if not query.dataset.windows:
        return "it reads no stream"
    if any(window.semantics.tick.kind is TickKind.TUPLE for window in query.dataset.windows):
        return "it is evaluated message by message"
    if any(stream in outputs for stream in query.streams):
        return "it reads the output of another query"
    if isinstance(query.form, Construct) and query.output is not None:
        return "its output is a stream that other queries may read"
    if any(isinstance(node, a.Service) for node in walk(query.pattern)):
        return "SERVICE has one view and one budget"
    return None


def _refusal(query: Query) -> str | None:
    """What keeps a query from being split by a variable, whatever its variables are."""
    windows = query.dataset.windows
    if any(isinstance(window.kind, (Triples, Elements)) for window in windows):
        return "a window counts triples or messages"
    if any(window.in_default for window in windows):
        return "a window is part of the default graph"
    for node in walk(query.pattern):
        match node:
            case a.PathPattern():
                return "a path may pass through any triple"
            case e.Call(function) if function in e.VOLATILE:
                return "random values depend on the order of all solutions"
            case e.FunctionCall() if node.function.value == e.TIMESTAMP:
                return "the time of a triple is asked for"
    return None


def _whole(query: Query, variable: Variable) -> str | None:
    """Why the answers per value of ``variable`` are not the answers, None where they are."""
    if not isinstance(query.form, Select) or query.semantics.report_empty:
        return "what the slots find is one answer"
    pattern, distinct = query.pattern, False
    while isinstance(pattern, (a.Distinct, a.Reduced)):
        pattern, distinct = pattern.pattern, True
    if isinstance(pattern, a.Project):
        pattern = pattern.pattern
    name = f"?{variable.name}"
    if not keyed_by(pattern, variable):
        return f"not everything is joined and grouped by {name}"
    if variable not in query.form.variables:
        if distinct:
            return f"DISTINCT leaves {name} out"
        if query.semantics.r2s is not R2S.RSTREAM:
            return f"what is new or gone is counted without {name}"
    return None
