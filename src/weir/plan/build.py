"""From the algebra to a first plan: leaves get their sources, groups are flattened, EXISTS is set apart.

``WINDOW`` and ``GRAPH`` disappear: what they said is in the leaves. A window over a variable stream
stands for one window per registered stream (decision semantics-time, 26), ``WINDOW ?w`` for all
nameable ones (35).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import count
from typing import Any

from weir.errors import UsageError
from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Aggregate, And, Exists, Expression, Not
from weir.plan.analysis.substitution import substituted
from weir.plan.analysis.variables import certain, has_exists, possible, reads, volatile
from weir.plan.nodes import (
    UNIT,
    Bind,
    Connect,
    Each,
    Either,
    Formula,
    Grouped,
    Joined,
    Match,
    Names,
    Optionally,
    Ordered,
    Plan,
    Projected,
    Remote,
    Sliced,
    Source,
    Table,
    Test,
    Unique,
    Without,
    children,
)
from weir.rdf.terms import IRI, Literal, Variable

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Instance:
    """One window on one stream; ``bind`` is the variable that ranges over streams, with its value."""

    name: str
    stream: str
    bind: str | None = None


Windows = Mapping[str, tuple[Instance, ...]]
"""The instances of each declared window, by the window's name."""


class Builder:
    """``nameable`` are the windows that ``WINDOW ?w`` ranges over."""

    def __init__(self, windows: Windows, nameable: tuple[str, ...]) -> None:
        self.windows = windows
        self.nameable = nameable
        self._numbers = count(1)

    def build(self, pattern: a.Pattern, source: Source, outer: frozenset[str] = _NOTHING) -> Plan:
        """The plan of a pattern; ``outer`` are the variables that an enclosing EXISTS may put in."""
        match pattern:
            case a.BGP(triples):
                return joined(*(Match(source, triple) for triple in triples))
            case a.PathPattern(subject, path, object):
                return Connect(source, subject, path, object)
            case a.Join(left, right):
                return joined(self.build(left, source, outer), self.build(right, source, outer))
            case a.LeftJoin(left, right, condition):
                one, two = self.build(left, source, outer), self.build(right, source, outer)
                seen = possible(one) | possible(two)
                formula = None if condition is None else self.formula(condition, source, seen, outer)
                return Optionally(one, two, formula)
            case a.Filter(condition, inner):
                plan = self.build(inner, source, outer)
                formulas = tuple(
                    self.formula(part, source, possible(plan), outer) for part in conjuncts(condition)
                )
                if isinstance(plan, Joined) and not _draws(plan) and not volatile(condition):
                    return Joined(plan.parts, plan.conditions + formulas)
                return Joined((plan,), formulas)
            case a.Union(left, right):
                return Either(
                    _either(self.build(left, source, outer)) + _either(self.build(right, source, outer))
                )
            case a.Minus(left, right):
                return Without(self.build(left, source, outer), self.build(right, source, outer))
            case a.Graph(name, inner):
                return self._graph(name, inner, source, outer)
            case a.Window(name, inner):
                return self._window(name, inner, outer)
            case a.Service():
                return Remote(pattern)
            case a.Extend(inner, variable, expression):
                plan = self.build(inner, source, outer)
                return Bind(plan, variable.name, self.formula(expression, source, possible(plan), outer))
            case a.Values(variables, rows):
                return Table(tuple(variable.name for variable in variables), rows)
            case a.Group(inner, keys, aggregates):
                plan = self.build(inner, source, outer)
                named: list[tuple[str, Aggregate]] = []
                for variable, aggregate in aggregates:
                    operand = aggregate.operand
                    if operand is not None:
                        plan, operand = self._apart(plan, operand, ".operand.", source, outer)
                        aggregate = replace(aggregate, operand=operand)
                    named.append((variable.name, aggregate))
                return Grouped(plan, tuple(key.name for key in keys), tuple(named))
            case a.OrderBy(inner, keys):
                plan = self.build(inner, source, outer)
                sorting: list[a.OrderKey] = []
                for key in keys:
                    plan, expression = self._apart(plan, key.expression, ".order.", source, outer)
                    sorting.append(replace(key, expression=expression))
                return Ordered(plan, tuple(sorting))
            case a.Project(inner, variables):
                names = tuple(variable.name for variable in variables)
                plan = self.build(inner, source, outer & frozenset(names))
                if isinstance(plan, Ordered):
                    plan = replace(plan, visible=names)
                return Projected(plan, names)
            case a.Distinct(inner):
                return Unique(self.build(inner, source, outer))
            case a.Reduced(inner):
                return self.build(inner, source, outer)
            case a.Slice(inner, offset, limit):
                return Sliced(self.build(inner, source, outer), offset, limit, is_ordered(inner))

    def _apart(
        self, plan: Plan, expression: Expression, name: str, source: Source, outer: frozenset[str]
    ) -> tuple[Plan, Expression]:
        """An expression with EXISTS becomes a variable that is bound below: only conditions and BIND decide
        EXISTS. RAND and its like would draw differently there."""
        if not has_exists(expression) or volatile(expression):
            return plan, expression
        name = f"{name}{next(self._numbers)}"
        return Bind(plan, name, self.formula(expression, source, possible(plan), outer)), Variable(name)

    # GRAPH and WINDOW

    def _graph(self, name: IRI | Variable, inner: a.Pattern, source: Source, outer: frozenset[str]) -> Plan:
        named = Source(source.window, name)
        if isinstance(name, IRI):
            plan = self.build(inner, named, outer)
            return plan if needs_triple(plan, named) else joined(Names(named), plan)
        if inner == a.BGP(()):
            return Names(named)
        plan = self.build(inner, named, outer)
        if _by_column(plan, name.name, named):
            return plan
        mark = f".each{next(self._numbers)}"
        return Each(named, mark, name.name, self.build(inner, Source(source.window, Variable(mark)), outer))

    def _window(self, name: IRI | Variable, inner: a.Pattern, outer: frozenset[str]) -> Plan:
        declared = [name.value] if isinstance(name, IRI) else list(self.nameable)
        parts: list[Plan] = []
        for window in declared:
            if window not in self.windows:
                raise UsageError(f"window {window} is not declared")
            for instance in self.windows[window]:
                plan = self.build(inner, Source(instance.name), outer)
                if instance.bind is not None:
                    plan = joined(plan, Table((instance.bind,), ((IRI(instance.stream),),)))
                if isinstance(name, Variable):
                    plan = joined(plan, Table((name.name,), ((IRI(window),),)))
                parts.append(plan)
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    # Expressions

    def formula(
        self, expression: Expression, source: Source, seen: frozenset[str], outer: frozenset[str]
    ) -> Formula:
        """An expression over solutions that may bind ``seen``, its EXISTS parts built and named."""
        if not has_exists(expression):
            return Formula(expression)
        tests: list[Test] = []
        known = seen | outer

        def test(exists: Exists) -> Expression:
            plan = self.build(exists.pattern, source, known)
            name = f".exists{next(self._numbers)}"
            tests.append(Test(name, plan, substituted(plan, known)))
            return Not(Variable(name)) if exists.negated else Variable(name)

        return Formula(replaced(expression, test), tuple(tests), expression)


def replaced(expression: Any, test: Any) -> Any:
    """The expression with ``test(exists)`` in place of every EXISTS."""
    if isinstance(expression, Exists):
        return test(expression)
    if isinstance(expression, tuple):
        return tuple(replaced(part, test) for part in expression)
    if isinstance(expression, IRI | Literal | Variable) or not is_dataclass(expression):
        return expression
    changes = {field.name: replaced(getattr(expression, field.name), test) for field in fields(expression)}
    return replace(expression, **changes)  # type: ignore[type-var]


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction: a filter keeps a row exactly where all of them are true."""
    if isinstance(expression, And) and not volatile(expression):
        return conjuncts(expression.left) + conjuncts(expression.right)
    return (expression,)


def joined(*parts: Plan) -> Plan:
    """A join with nested joins taken apart, where their conditions mean the same outside."""
    if not parts:
        return UNIT
    if len(parts) == 1:
        return parts[0] if isinstance(parts[0], Joined) else Joined(parts)
    flat: list[Plan] = []
    conditions: list[Formula] = []
    for number, part in enumerate(parts):
        others = frozenset().union(*(possible(other) for i, other in enumerate(parts) if i != number))
        if isinstance(part, Joined) and _closed(part, others):
            flat.extend(part.parts)
            conditions.extend(part.conditions)
        elif part != UNIT:
            flat.append(part)
    if not flat:
        return UNIT
    return Joined(tuple(flat), tuple(conditions))


def _closed(part: Joined, others: frozenset[str]) -> bool:
    """Whether no condition can see more once the part is joined with others.

    RAND and its like see the whole solution.
    """
    if _draws(part):
        return False
    bound = certain(part)
    return all(reads(condition) & others <= bound for condition in part.conditions)


def _draws(part: Joined) -> bool:
    return any(volatile(condition.expression) for condition in part.conditions)


def _either(plan: Plan) -> tuple[Plan, ...]:
    return plan.parts if isinstance(plan, Either) else (plan,)


def needs_triple(plan: Plan, source: Source) -> bool:
    """Whether the plan surely has no solution where the graph ``source`` is empty."""
    match plan:
        case Match(read, _) | Names(read):
            return read == source
        case Joined(parts, _):
            return any(needs_triple(part, source) for part in parts)
        case Either(parts):
            return all(needs_triple(part, source) for part in parts)
        case Optionally(left, _, _) | Without(left, _):
            return needs_triple(left, source)
        case Bind(inner, _, _) | Projected(inner, _) | Unique(inner) | Ordered(inner):
            return needs_triple(inner, source)
    return False


def _by_column(plan: Plan, name: str, source: Source) -> bool:
    """Whether ``GRAPH ?name`` is the same as one more column in every leaf, joined on."""
    match plan:
        case Match(read, _):
            return read == source
        case Joined(parts, conditions):
            return all(_by_column(part, name, source) for part in parts) and not any(
                condition.tests or name in reads(condition) for condition in conditions
            )
        case Optionally(left, right, condition):
            quiet = condition is None or not (condition.tests or name in reads(condition))
            own = any(name in _own(part) for part in _matches(right))
            both = _by_column(left, name, source) and _by_column(right, name, source)
            return quiet and not own and both
        case Either(parts):
            return all(_by_column(part, name, source) for part in parts)
    return False


def _matches(plan: Plan) -> list[Match]:
    if isinstance(plan, Match):
        return [plan]
    return [match for child in children(plan) for match in _matches(child)]


def _own(match: Match) -> frozenset[str]:
    """The variables of the pattern itself, without that of its graph."""
    return certain(Match(Source(), match.pattern))


def is_ordered(pattern: a.Pattern) -> bool:
    """Whether the outcome is a sequence that ORDER BY made: through its own Project, not a subquery's."""
    while isinstance(pattern, a.Slice | a.Distinct | a.Reduced):
        pattern = pattern.pattern
    if isinstance(pattern, a.Project):
        pattern = pattern.pattern
    return isinstance(pattern, a.OrderBy)
