"""From the algebra to a first plan: leaves get their sources, groups are flattened, EXISTS is set apart.

``WINDOW`` and ``GRAPH`` disappear: what they said is in the leaves. A window over a variable stream
stands for one window per registered stream (decision semantics-time, 26), ``WINDOW ?w`` for all
nameable ones (35).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from weir.errors import UsageError
from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Aggregate, And, Exists, Expression, Not
from weir.language.algebra.fold import rebuilt
from weir.language.algebra.scope import ITSELF, has_exists, required, volatile
from weir.plan import nodes as p
from weir.plan.analysis.templates import Parameters
from weir.plan.analysis.variables import certain, possible, reads, substituted
from weir.plan.triple_terms import has_triple_terms, unfolded
from weir.rdf.terms import IRI, Variable

_NOTHING: frozenset[str] = frozenset()


class Builder:
    """``windows`` are the plans of each declared window, by its name, and ``nameable`` those that
    ``WINDOW ?w`` ranges over."""

    def __init__(self, windows: Mapping[str, tuple[p.WindowPlan, ...]], nameable: tuple[str, ...]) -> None:
        self.windows = windows
        self.nameable = nameable
        self._numbers = count(1)

    def build(self, pattern: a.Pattern, source: p.Source, outer: frozenset[str] = _NOTHING) -> p.Plan:
        """The plan of a pattern; ``outer`` are the variables that an enclosing EXISTS may put in."""
        match pattern:
            case a.BGP() | a.PathPattern() if has_triple_terms(pattern):
                return self.build(unfolded(pattern, self._numbers), source, outer)
            case a.BGP(triples):
                return joined(*(p.Match(source, triple) for triple in triples))
            case a.PathPattern(subject, path, object):
                return p.PathPattern(source, subject, path, object)
            case a.Join(left, right):
                return joined(self.build(left, source, outer), self.build(right, source, outer))
            case a.LeftJoin(left, right, condition):
                one, two = self.build(left, source, outer), self.build(right, source, outer)
                seen = possible(one) | possible(two)
                formula = None if condition is None else self.formula(condition, source, seen, outer)
                return p.LeftJoin(one, two, formula)
            case a.Filter(condition, inner):
                plan = self.build(inner, source, outer)
                formulas = tuple(
                    self.formula(part, source, possible(plan), outer) for part in conjuncts(condition)
                )
                if isinstance(plan, p.Join) and not _draws(plan) and not volatile(condition):
                    return p.Join(plan.parts, plan.conditions + formulas)
                return p.Join((plan,), formulas)
            case a.Union(left, right):
                return p.Union(
                    _either(self.build(left, source, outer)) + _either(self.build(right, source, outer))
                )
            case a.Minus(left, right):
                return p.Minus(self.build(left, source, outer), self.build(right, source, outer))
            case a.Graph(name, inner):
                return self._graph(name, inner, source, outer)
            case a.Window(name, inner):
                return self._window(name, inner, outer)
            case a.Service():
                return pattern
            case a.Extend(inner, bindings):
                plan = self.build(inner, source, outer)
                seen, made = possible(plan), []
                for variable, expression in bindings:
                    made.append((variable.name, self.formula(expression, source, seen, outer)))
                    seen |= {variable.name}
                return p.Extend(plan, tuple(made))
            case Parameters(variables, rows, table, places):
                return p.Parameters(tuple(variable.name for variable in variables), rows, table, places)
            case a.Values(variables, rows):
                return p.Values(tuple(variable.name for variable in variables), rows)
            case a.Group(inner, keys, aggregates):
                plan = self.build(inner, source, outer)
                named: list[tuple[str, Aggregate]] = []
                for variable, aggregate in aggregates:
                    operand = aggregate.operand
                    if operand is not None:
                        plan, operand = self._apart(plan, operand, ".operand.", source, outer)
                        aggregate = replace(aggregate, operand=operand)
                    named.append((variable.name, aggregate))
                return p.Group(plan, tuple(key.name for key in keys), tuple(named))
            case a.OrderBy(inner, keys):
                plan = self.build(inner, source, outer)
                sorting: list[a.OrderKey] = []
                for key in keys:
                    plan, expression = self._apart(plan, key.expression, ".order.", source, outer)
                    sorting.append(replace(key, expression=expression))
                return p.OrderBy(plan, tuple(sorting))
            case a.Project(inner, variables):
                names = tuple(variable.name for variable in variables)
                plan = self.build(inner, source, outer & frozenset(names))
                if isinstance(plan, p.OrderBy):
                    plan = replace(plan, visible=names)
                return p.Project(plan, names)
            case a.Distinct(inner):
                return p.Distinct(self.build(inner, source, outer))
            case a.Reduced(inner):
                return self.build(inner, source, outer)
            case a.Slice(inner, offset, limit):
                return p.Slice(self.build(inner, source, outer), offset, limit, a.is_ordered(inner))

    def _apart(
        self, plan: p.Plan, expression: Expression, name: str, source: p.Source, outer: frozenset[str]
    ) -> tuple[p.Plan, Expression]:
        """An expression with EXISTS becomes a variable that is bound below: only conditions and BIND decide
        EXISTS. RAND and its like would draw differently there."""
        if not has_exists(expression) or volatile(expression):
            return plan, expression
        name = f"{name}{next(self._numbers)}"
        formula = self.formula(expression, source, possible(plan), outer)
        return p.Extend(plan, ((name, formula),)), Variable(name)

    # GRAPH and WINDOW

    def _graph(
        self, name: IRI | Variable, inner: a.Pattern, source: p.Source, outer: frozenset[str]
    ) -> p.Plan:
        named = p.Source(source.window, name)
        if isinstance(name, IRI):
            plan = self.build(inner, named, outer)
            needed = ITSELF in required(inner, ITSELF)
            return plan if needed else joined(p.GraphNames(named), plan)
        if inner == a.BGP(()):
            return p.GraphNames(named)
        plan = self.build(inner, named, outer)
        if _by_column(plan, name.name, named):
            return plan
        mark = f".each{next(self._numbers)}"
        return p.Graph(
            named, mark, name.name, self.build(inner, p.Source(source.window, Variable(mark)), outer)
        )

    def _window(self, name: IRI | Variable, inner: a.Pattern, outer: frozenset[str]) -> p.Plan:
        declared = [name.value] if isinstance(name, IRI) else list(self.nameable)
        parts: list[p.Plan] = []
        for window in declared:
            if window not in self.windows:
                raise UsageError(f"window {window} is not declared")
            for each in self.windows[window]:
                plan = self.build(inner, p.Source(each.name), outer)
                ranging = each.declaration.stream
                if isinstance(ranging, Variable):
                    plan = joined(plan, p.Values((ranging.name,), ((IRI(each.stream),),)))
                if isinstance(name, Variable):
                    plan = joined(plan, p.Values((name.name,), ((IRI(window),),)))
                parts.append(plan)
        return parts[0] if len(parts) == 1 else p.Union(tuple(parts))

    # Expressions

    def formula(
        self, expression: Expression, source: p.Source, seen: frozenset[str], outer: frozenset[str]
    ) -> p.Formula:
        """An expression over solutions that may bind ``seen``, its EXISTS parts built and named."""
        if not has_exists(expression):
            return p.Formula(expression)
        tests: list[p.Exists] = []
        known = seen | outer

        def test(exists: Exists) -> Expression:
            plan = self.build(exists.pattern, source, known)
            name = f".exists{next(self._numbers)}"
            tests.append(p.Exists(name, plan, substituted(plan, known)))
            return Not(Variable(name)) if exists.negated else Variable(name)

        return p.Formula(replaced(expression, test), tuple(tests), expression)


def replaced(expression: Any, test: Callable[[Exists], Expression]) -> Any:
    """The expression with ``test(exists)`` in place of every EXISTS."""
    if isinstance(expression, Exists):
        return test(expression)
    return rebuilt(expression, lambda part: replaced(part, test))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction: a filter keeps a row exactly where all of them are true."""
    if isinstance(expression, And) and not volatile(expression):
        return conjuncts(expression.left) + conjuncts(expression.right)
    return (expression,)


def joined(*parts: p.Plan) -> p.Plan:
    """A join with nested joins taken apart, where their conditions mean the same outside."""
    if not parts:
        return p.UNIT
    if len(parts) == 1:
        return parts[0] if isinstance(parts[0], p.Join) else p.Join(parts)
    flat: list[p.Plan] = []
    conditions: list[p.Formula] = []
    for number, part in enumerate(parts):
        others = frozenset().union(*(possible(other) for i, other in enumerate(parts) if i != number))
        if isinstance(part, p.Join) and _closed(part, others):
            flat.extend(part.parts)
            conditions.extend(part.conditions)
        elif part != p.UNIT:
            flat.append(part)
    if not flat:
        return p.UNIT
    return p.Join(tuple(flat), tuple(conditions))


def _closed(part: p.Join, others: frozenset[str]) -> bool:
    """Whether no condition can see more once the part is joined with others.

    RAND and its like see the whole solution.
    """
    if _draws(part):
        return False
    bound = certain(part)
    return all(reads(condition) & others <= bound for condition in part.conditions)


def _draws(part: p.Join) -> bool:
    return any(volatile(condition.expression) for condition in part.conditions)


def _either(plan: p.Plan) -> tuple[p.Plan, ...]:
    return plan.parts if isinstance(plan, p.Union) else (plan,)


def _by_column(plan: p.Plan, name: str, source: p.Source) -> bool:
    """Whether ``GRAPH ?name`` is the same as one more column in every leaf, joined on."""
    match plan:
        case p.Match(read, _):
            return read == source
        case p.Join(parts, conditions):
            return all(_by_column(part, name, source) for part in parts) and not any(
                condition.tests or name in reads(condition) for condition in conditions
            )
        case p.LeftJoin(left, right, condition):
            quiet = condition is None or not (condition.tests or name in reads(condition))
            own = any(isinstance(part, p.Match) and name in _own(part) for part in p.below(right))
            both = _by_column(left, name, source) and _by_column(right, name, source)
            return quiet and not own and both
        case p.Union(parts):
            return all(_by_column(part, name, source) for part in parts)
    return False


def _own(match: p.Match) -> frozenset[str]:
    """The variables of the pattern itself, without that of its graph."""
    return certain(p.Match(p.Source(), match.pattern))
