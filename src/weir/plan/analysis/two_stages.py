"""A split query in two stages: what every slot does, and what is done once all of them have answered.

Where a variable keeps the patterns of a query apart, but not what becomes of their solutions, the slots
evaluate the patterns and aggregate what they see. At each evaluation time the second stage takes the
solutions of all slots: it puts the aggregates of a group together, then come HAVING, ORDER BY, LIMIT and the
like.

    COUNT               counts are added up
    MIN, MAX, SAMPLE    the least of the least
    SUM, AVG            sums that are exact, rounded in the second stage alone
    DISTINCT            slots give each value once
    GROUP_CONCAT        slots give the values

What a CONSTRUCT makes of its solutions is made in the slots: the second stage gives each triple once. ASK is
true where it is true in some slot.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Ask, Construct, Query, Select
from weir.language.algebra.scope import visible
from weir.plan.analysis.keyed import keyed_by, tests
from weir.rdf.terms import XSD, BlankNode, Literal, Variable

_ZERO = Literal("0", XSD + "integer")
_TRUE = Literal("true", XSD + "boolean")


@dataclass(frozen=True, slots=True)
class Stages:
    """``first`` is evaluated by each slot. The pattern of ``second`` has the solutions of all slots as the
    one ``Values`` without rows; where there is none, it is a matter of the form. ``aggregates`` says that
    slots aggregate."""

    first: Query
    second: Query | None = None
    aggregates: bool = False

    def __str__(self) -> str:
        if self.second is None:
            once = isinstance(self.first.form, Construct)
            return "each triple once" if once else "true where it is true in some slot"
        return "aggregates of what each slot sees are put together" if self.aggregates else "solutions"


@dataclass(frozen=True, slots=True)
class _Cut:
    """A pattern in two: ``first`` binds ``carried``, and ``second`` is what is made of it."""

    first: a.Pattern
    carried: tuple[Variable, ...]
    second: a.Pattern
    aggregates: bool = False


def staged(query: Query, variable: Variable) -> Stages | str:
    """The stages of a query whose patterns on windows ``variable`` keeps apart, or why there are none."""
    name = f"?{variable.name}"
    if isinstance(query.form, Select):
        if query.semantics.r2s is not R2S.RSTREAM:
            return f"what is new or gone is counted without {name}"
        cut = _cut(query.pattern, variable, _mentioned(query.form.variables))
        if cut is None:
            return f"not everything is joined and grouped by {name}"
        return _stages(query, cut)
    if not keyed_by(query.pattern, variable):
        return f"not everything is joined and grouped by {name}"
    if isinstance(query.form, Construct):
        fresh = any(
            isinstance(node, BlankNode) or (isinstance(node, Variable) and node.internal)
            for node in walk(query.form.template)
        )
        if variable.internal and (fresh or query.semantics.r2s is not R2S.RSTREAM):
            return "solutions are told apart without the blank node that splits them"
        return Stages(query)
    if not isinstance(query.form, Ask):
        return "a DESCRIBE looks at all triples"
    if query.semantics.r2s is not R2S.RSTREAM:
        return "the answer before is that of all slots"
    return Stages(query)


def _stages(query: Query, cut: _Cut) -> Stages:
    """With variables that no other slot knows carried under names that it does."""
    bindings = {v: Variable(f"key:{v.name}") for v in cut.carried if v.internal}
    carried = tuple(bindings.get(each, each) for each in cut.carried)
    first, leaf = cut.first, a.Values(carried, ())
    second = cut.second
    if bindings:
        first = a.Extend(first, tuple((name, own) for own, name in bindings.items()))
        second = _replaced(second, a.Extend(leaf, tuple(bindings.items())))
    else:
        second = _replaced(second, leaf)
    always = any(isinstance(node, a.Group) and not node.keys for node in walk(second))
    semantics = replace(query.semantics, report_empty=query.semantics.report_empty or always)
    return Stages(
        replace(query, form=Select(carried), pattern=a.Project(first, carried), semantics=semantics),
        replace(query, pattern=second),
        cut.aggregates,
    )


_LEAF = a.Values((), ())


def _replaced(pattern: a.Pattern, leaf: a.Pattern) -> a.Pattern:
    """A chain of operators with another leaf."""
    if pattern is _LEAF:
        return leaf
    chain: Any = pattern
    made: a.Pattern = replace(chain, pattern=_replaced(chain.pattern, leaf))
    return made


def _cut(pattern: a.Pattern, variable: Variable, wanted: frozenset[Variable]) -> _Cut | None:
    """Where the slots stop; ``wanted`` are the variables that somebody above looks at."""
    if keyed_by(pattern, variable):
        carried = tuple(each for each in visible(pattern) if each in wanted)
        return _Cut(pattern, carried, _LEAF)
    match pattern:
        case a.Distinct(a.Project(inner, variables)) if keyed_by(inner, variable):
            return _Cut(pattern, variables, a.Distinct(_LEAF))
        case a.Group(inner, _, aggregates) if keyed_by(inner, variable) and tests(aggregates):
            if any(each.distinct and each.operand is None for _, each in aggregates):
                return None
            return _partial(pattern, variable) or _cut_above(pattern, variable, wanted)
        case a.Filter(above, _) | a.Extend(_, above) | a.OrderBy(_, above) if not tests(above):
            return None
        case a.Filter() | a.Extend() | a.OrderBy() | a.Project() | a.Distinct() | a.Reduced() | a.Slice():
            return _cut_above(pattern, variable, wanted)
    return None


def _cut_above(pattern: Any, variable: Variable, wanted: frozenset[Variable]) -> _Cut | None:
    """Below a chain of operators, all of which are left to the second stage."""
    own = replace(pattern, pattern=_LEAF)
    if isinstance(pattern, a.Project):
        wanted = frozenset()
    found = _cut(pattern.pattern, variable, wanted | _mentioned(own))
    return None if found is None else replace(found, second=replace(pattern, pattern=found.second))


def _mentioned(node: Any) -> frozenset[Variable]:
    return frozenset(each for each in walk(node) if isinstance(each, Variable))


@dataclass(slots=True)
class _Parts:
    """The aggregates of a group taken apart: keys and aggregates of the slots, what puts them together."""

    keys: list[Variable]
    operands: list[tuple[Variable, e.Expression]] = field(default_factory=list)
    first: list[tuple[Variable, e.Aggregate]] = field(default_factory=list)
    second: list[tuple[Variable, e.Aggregate]] = field(default_factory=list)
    after: list[tuple[Variable, e.Expression]] = field(default_factory=list)

    def part(self, aggregate: e.Aggregate) -> Variable:
        """An aggregate of the slots."""
        self.first.append((Variable(f"part:{len(self.first)}"), aggregate))
        return self.first[-1][0]

    def add(self, target: Variable, function: e.Aggregation | e.StagedSum, aggregate: e.Aggregate) -> None:
        """``aggregate`` in the slots, ``function`` of what they give."""
        self.second.append((target, e.Aggregate(function, self.part(aggregate))))

    def key(self, operand: e.Expression) -> Variable:
        """One more key: the values of an operand."""
        if not isinstance(operand, Variable):
            self.operands.append((Variable(f"operand:{len(self.operands)}"), operand))
            operand = self.operands[-1][0]
        if operand not in self.keys:
            self.keys.append(operand)
        return operand


def _partial(group: a.Group, variable: Variable) -> _Cut | None:
    """A group of which each slot aggregates what it has; None where it would have to give everything."""
    parts = _Parts(list(group.keys))
    for target, aggregate in group.aggregates:
        if not _take(parts, target, aggregate, variable):
            return None
    if not parts.keys:
        # A group by a constant, so that there is none where there is no solution.
        parts.key(_TRUE)
    inner = a.Extend(group.pattern, tuple(parts.operands)) if parts.operands else group.pattern
    first = a.Group(inner, tuple(parts.keys), tuple(parts.first))
    second: a.Pattern = a.Group(_LEAF, group.keys, tuple(parts.second))
    if parts.after:
        second = a.Extend(second, tuple(parts.after))
    return _Cut(first, _carried(parts, group.keys), second, aggregates=True)


def _carried(parts: _Parts, keys: Iterable[Variable]) -> tuple[Variable, ...]:
    looked_at = _mentioned(tuple(parts.second)) | frozenset(keys)
    return tuple(each for each in (*parts.keys, *(name for name, _ in parts.first)) if each in looked_at)


def _take(parts: _Parts, target: Variable, aggregate: e.Aggregate, variable: Variable) -> bool:
    """Take an aggregate apart; False where that cannot be done."""
    function, operand = aggregate.function, aggregate.operand
    plain = e.Aggregate(function, operand)
    match function:
        case e.Aggregation.COUNT if not aggregate.distinct or operand == variable:
            parts.add(target, e.Aggregation.SUM, aggregate)
        case e.Aggregation.MIN | e.Aggregation.MAX | e.Aggregation.SAMPLE:
            parts.add(target, function, plain)
        case _ if aggregate.distinct and operand is not None:
            parts.second.append((target, replace(aggregate, operand=parts.key(operand))))
        case e.Aggregation.SUM:
            total = e.Aggregate(e.StagedSum.PART, operand)
            parts.add(target, e.StagedSum.WHOLE, total)
        case e.Aggregation.AVG:
            whole, count = Variable(f"sum:{target.name}"), Variable(f"count:{target.name}")
            total = e.Aggregate(e.StagedSum.PART, operand)
            parts.add(whole, e.StagedSum.WHOLE, total)
            parts.add(count, e.Aggregation.SUM, e.Aggregate(e.Aggregation.COUNT, operand))
            none = e.Compare(e.Comparison.EQ, count, _ZERO)
            mean = e.Calculate(e.Arithmetic.DIVIDE, whole, count)
            parts.after.append((target, e.If(none, _ZERO, mean)))
        case _:
            return False
    return True
