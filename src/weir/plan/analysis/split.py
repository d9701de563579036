"""Which queries can be split over all slots, by the hash of one variable or by time.

Every slot sees all messages, but only those triples whose term at one place hashes to it. That changes
nothing where each solution comes from triples that have the same term there: all patterns on windows have one
variable at the same place, and whatever is joined, counted or compared is so per value of it. Static graphs
are whole in every slot, so solutions may draw on them but none may come from them alone.

Where that does not apply, every slot may see everything and evaluate a stretch of the evaluation times: what
a query answers at τ depends on its windows there and just before alone. So any query can be split that is not
read by another, reads no other and asks no endpoint. It costs the windows once more in each slot.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Construct, Query, Select
from weir.language.algebra.windows import Elements, TickKind, Triples
from weir.rdf.terms import Variable

PLACES = ("subject", "predicate", "object")


@dataclass(frozen=True, slots=True)
class Split:
    """``place`` (0 subject, 1 predicate, 2 object) of ``variable`` splits the query; None with a reason, and
    whether it can be split ``by_time`` all the same."""

    place: int | None = None
    variable: Variable | None = None
    reason: str | None = None
    by_time: bool = False

    def __str__(self) -> str:
        if self.place is not None and self.variable is not None:
            return f"split over all slots by ?{self.variable.name}, the {PLACES[self.place]} of every pattern"
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
    windows = [node for node in walk(query.pattern) if isinstance(node, a.Window)]
    patterns = [node for node in walk(tuple(windows)) if isinstance(node, a.TriplePattern)]
    if not patterns:
        return Split(reason="no pattern reads a stream", by_time=True)
    reason = "the patterns on its streams share no variable at one place"
    for place, name in enumerate(PLACES):
        found = {getattr(pattern, name) for pattern in patterns}
        node = found.pop()
        if found or not isinstance(node, Variable):
            continue
        problem = _whole(query, node)
        if problem is None:
            return Split(place, node)
        reason = problem
    return Split(reason=reason, by_time=True)


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
    if not isinstance(query.form, Select):
        return "only a SELECT can be split"
    windows = query.dataset.windows
    if any(isinstance(window.kind, (Triples, Elements)) for window in windows):
        return "a window counts triples or messages"
    if any(window.in_default for window in windows):
        return "a window is part of the default graph"
    if query.semantics.report_empty:
        return "it reports evaluation times without results"
    for node in walk(query.pattern):
        match node:
            case a.OrderBy() | a.Slice():
                return "ORDER BY and LIMIT need all results"
            case a.PathPattern():
                return "a path may pass through any triple"
            case e.Call(function) if function in e.VOLATILE:
                return "random values depend on the order of all solutions"
            case e.FunctionCall() if node.function.value == e.TIMESTAMP:
                return "the time of a triple is asked for"
    return None


def _whole(query: Query, variable: Variable) -> str | None:
    """Why the answers per value of ``variable`` are not the answers, None where they are."""
    assert isinstance(query.form, Select)
    pattern, distinct = query.pattern, False
    while isinstance(pattern, (a.Distinct, a.Reduced)):
        pattern, distinct = pattern.pattern, True
    if isinstance(pattern, a.Project):
        pattern = pattern.pattern
    name = f"?{variable.name}"
    if not _keyed(pattern, variable):
        return f"not everything is joined and grouped by {name}"
    if variable not in query.form.variables:
        if distinct:
            return f"DISTINCT leaves {name} out"
        if query.semantics.r2s is not R2S.RSTREAM:
            return f"what is new or gone is counted without {name}"
    return None


def _keyed(pattern: Any, variable: Variable, inside: bool = False) -> bool:
    """Whether every solution has ``variable`` bound, and is made of triples of one share. All patterns
    ``inside`` a window have the variable."""

    def keyed(part: Any) -> bool:
        return _keyed(part, variable, inside)

    def same(part: Any) -> bool:
        return keyed(part) or (not inside and _static(part))

    match pattern:
        case a.BGP(triples):
            return inside and bool(triples)
        case a.Window(_, inner):
            return _keyed(inner, variable, True)
        case a.Graph(_, inner):
            return inside and keyed(inner)
        case a.Join(left, right):
            return (keyed(left) and same(right)) or (same(left) and keyed(right))
        case a.LeftJoin(left, right, condition):
            return keyed(left) and same(right) and _tests(condition)
        case a.Minus(left, right):
            return keyed(left) and same(right)
        case a.Union(left, right):
            return keyed(left) and keyed(right)
        case a.Filter(condition, inner):
            return keyed(inner) and _tests(condition)
        case a.Extend(inner, bindings):
            return keyed(inner) and _tests(bindings)
        case a.Group(inner, keys, aggregates):
            return variable in keys and keyed(inner) and _tests(aggregates)
        case a.Project(inner, variables):
            return variable in variables and keyed(inner)
        case a.Distinct(inner) | a.Reduced(inner):
            return keyed(inner)
    return False


def _static(pattern: Any) -> bool:
    """Whether a pattern reads no window: it is the same in every slot."""
    return not any(isinstance(node, a.Window) for node in walk(pattern))


def _tests(expression: Any) -> bool:
    """Whether an expression looks at its solution and at static graphs alone."""
    return _static(expression) and not any(isinstance(node, e.Exists) for node in walk(expression))
