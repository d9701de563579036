"""Which queries can be split over all slots, by the hash of one variable or by time.

Every slot sees only those triples whose term at one place hashes to it, and of the messages all, or those
alone that have such a triple (``own_messages``). That changes nothing where each solution comes from triples
that have the same term there: all patterns on windows have one variable at the same place, and whatever is
joined, counted or compared is so per value of it (``keyed``). Static graphs are whole in every slot, so
solutions may draw on them but none may come from them alone. Where it is so of the patterns, but not of what
is counted, ordered or made of their solutions, that is done in a second stage (``two_stages``).

Where that does not apply, every slot may see everything and evaluate a stretch of the evaluation times: what
a query answers at τ depends on its windows there and just before alone. So any query can be split that is not
read by another, reads no other and asks no endpoint. It costs the windows once more in each slot.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Construct, Query, Select
from weir.language.algebra.windows import Elements, TickKind, Triples
from weir.plan.analysis.keyed import keyed_by
from weir.plan.analysis.own_messages import needs_every_message
from weir.plan.analysis.two_stages import Stages, staged
from weir.rdf.terms import Variable

PLACES = ("subject", "predicate", "object")
WHOLE_TRIPLE = 4
"""In the place of a place: all three."""
_TRIPLE = Variable(".triple")
MOST_TOLD = 8
"""Over so many slots a query is split at most that has to be told of every message in each of them."""


@dataclass(frozen=True, slots=True)
class Split:
    """``place`` (0 subject, 1 predicate, 2 object) of ``variable`` splits the query, or ``WHOLE_TRIPLE``
    does; None with a reason, and whether it can be split ``by_time`` all the same. Where a slot has to be
    told of ``every`` message, not only of its own, that is why. ``stages`` are there where what the slots
    answer has to be put together; where nobody does that, it is split ``by_time``."""

    place: int | None = None
    variable: Variable | None = None
    reason: str | None = None
    by_time: bool = False
    every: str | None = None
    stages: Stages | None = None

    def __str__(self) -> str:
        if self.place is not None and self.variable is not None:
            by = "by the triple that its one pattern matches, so that no value has one slot for itself"
            if self.place != WHOLE_TRIPLE:
                by = f"by ?{self.variable.name}, the {PLACES[self.place]} of every pattern"
            after = "" if self.stages is None else f".\nAt each evaluation time, of all slots: {self.stages}"
            if self.every is None:
                return f"split over all slots {by}.\nA slot gets the messages that have triples for it{after}"
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


def splitting(query: Query, outputs: Collection[str] = ()) -> Split:
    """How a query can be split; ``outputs`` are the streams that queries make."""
    refused = _together(query, outputs)
    if refused is not None:
        return Split(reason=refused)
    refused = _refusal(query)
    if refused is not None:
        return Split(reason=refused, by_time=True)
    found = _shared(query)
    if isinstance(found, str):
        return Split(reason=found, by_time=True)
    reasons = []
    for place, variable in found:
        problem = _whole(query, variable)
        if problem is None:
            return Split(place, variable, every=needs_every_message(query))
        reasons.append(problem)
    for place, variable in (*_salted(query), *found):
        stages = staged(query, variable)
        if isinstance(stages, Stages):
            every = needs_every_message(stages.first)
            return Split(place, variable, reasons[-1], True, every, stages)
        reasons.append(stages)
    return Split(reason=reasons[-1], by_time=True)


def stages_of(query: Query, place: int) -> Stages:
    """The stages of a query that is split by the variable at ``place``."""
    found = _shared(query)
    assert not isinstance(found, str)
    stages = staged(query, dict([*found, (WHOLE_TRIPLE, _TRIPLE)])[place])
    assert isinstance(stages, Stages)
    return stages


def _salted(query: Query) -> list[tuple[int, Variable]]:
    """What splits aggregates over one pattern such that however many triples have one term, each slot gets
    its part of them. Distinct values would be given by every slot then."""
    patterns = [node for node in walk(query.pattern) if isinstance(node, a.Window)]
    triples = [node for node in walk(tuple(patterns)) if isinstance(node, a.TriplePattern)]
    groups = [node for node in walk(query.pattern) if isinstance(node, a.Group)]
    aggregates = [each for group in groups for _, each in group.aggregates]
    plain = all(not each.distinct and each.function is not e.Aggregation.GROUP_CONCAT for each in aggregates)
    return [(WHOLE_TRIPLE, _TRIPLE)] if len(triples) == 1 and groups and plain else []


def _shared(query: Query) -> list[tuple[int, Variable]] | str:
    """The variables that all patterns on windows have at one place, or why there are none."""
    windows = [node for node in walk(query.pattern) if isinstance(node, a.Window)]
    patterns = [node for node in walk(tuple(windows)) if isinstance(node, a.TriplePattern)]
    if not patterns:
        return "no pattern reads a stream"
    found = []
    for place, name in enumerate(PLACES):
        nodes = {getattr(pattern, name) for pattern in patterns}
        node = nodes.pop()
        if not nodes and isinstance(node, Variable):
            found.append((place, node))
    return found or "the patterns on its streams share no variable at one place"


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
