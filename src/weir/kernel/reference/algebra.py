"""The algebra over multisets of solutions, one function per node, straight from section 18.5.

A pattern is evaluated in a ``Scope``: the active graph, the dataset that GRAPH ranges over, and the
*outer* solution where the pattern stands in EXISTS. EXISTS substitutes that solution (18.6): here its
bindings go into every triple pattern and expression that mentions the variables, and stay in the
solutions' domains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from weir.errors import EvaluationError
from weir.kernel.functions import Context, value_or_none
from weir.kernel.functions.operators import Solution, sort_solutions
from weir.kernel.functions.scalar import Draws, solution_text
from weir.kernel.reference import multisets
from weir.kernel.reference.datasets import SDS, Dataset, Graph, pairs
from weir.kernel.reference.federation import Federation, by_keys, callers, service_variables
from weir.kernel.reference.multisets import Bindings
from weir.language.algebra import patterns as algebra
from weir.language.algebra.expressions import Expression
from weir.language.algebra.patterns import Node, Pattern, TriplePattern, TripleTermPattern
from weir.language.algebra.scope import visible, volatile
from weir.rdf.terms import IRI, Literal, Term, TripleTerm, Variable, triple_term
from weir.rdf.xsd.values import effective_boolean

Valuer: TypeAlias = Callable[..., Term | None]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a pattern is evaluated."""

    graph: Graph
    dataset: Dataset
    outer: Bindings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One query at one instant. ``key`` names query and τ for the draws of RAND and its like; remote data are
    fetched only where it is an instant to ``refresh`` them at."""

    sds: SDS
    context: Context
    federation: Federation | None = None
    refresh: bool = True
    key: str = ""

    def solutions(self, pattern: Pattern) -> list[Bindings]:
        """The multiset of solutions of a whole query's pattern, as a sequence."""
        return self.evaluate(pattern, Scope(self.sds.dataset.default, self.sds.dataset))

    def evaluate(self, pattern: Pattern, scope: Scope) -> list[Bindings]:
        """The solutions of a pattern in a scope."""
        return _OPERATORS[type(pattern)](self, pattern, scope)

    def context_in(self, scope: Scope) -> Context:
        """The context of expressions in a scope: EXISTS looks at that scope."""

        def exists(pattern: Pattern, solution: Solution) -> bool:
            return bool(self.evaluate(pattern, replace(scope, outer={**scope.outer, **solution})))

        return replace(self.context, exists=exists)

    def valuer(self, scope: Scope, expression: Expression, place: str = "") -> Valuer:
        """A function that gives the expression's value for a solution and its identity, None on error."""
        context = self.context_in(scope)
        where = f"{place} {expression!r}" if volatile(expression) else ""

        def value(solution: Bindings, identity: str = "") -> Term | None:
            if where:
                context.draws = Draws(f"{self.key} {identity or solution_text(solution)}", where)
            return value_or_none(expression, {**scope.outer, **solution}, context)

        return value

    def tester(self, scope: Scope, condition: Expression) -> Callable[..., bool]:
        """A function that tells whether a filter keeps a solution, given its identity."""
        value = self.valuer(scope, condition)

        def test(solution: Bindings, identity: str = "") -> bool:
            term = value(solution, identity)
            return isinstance(term, Literal) and bool(effective_boolean(term))

        return test


def identities(solutions: list[Bindings]) -> list[str]:
    """A name for each solution of a multiset: its bindings and which of the equal ones it is."""
    seen: dict[str, int] = {}
    names = []
    for solution in solutions:
        text = solution_text(solution)
        seen[text] = seen.get(text, 0) + 1
        names.append(f"{text} #{seen[text]}")
    return names


# Graph patterns


def _bound(node: Node, solution: Bindings) -> Term | None:
    """The term that a node stands for; None where it has to be found."""
    if isinstance(node, TripleTermPattern):
        parts = (node.subject, node.predicate, node.object)
        return triple_term(*(_bound(part, solution) for part in parts))
    return solution.get(node.name) if isinstance(node, Variable) else node


def _unified(node: Node, term: Term, known: Bindings, solution: Bindings) -> bool:
    """Whether a term is an instance of a node that agrees with what is ``known``; ``solution`` gets what it
    binds."""
    if isinstance(node, TripleTermPattern):
        return isinstance(term, TripleTerm) and all(
            _unified(part, inner, known, solution)
            for part, inner in (
                (node.subject, term.subject),
                (node.predicate, term.predicate),
                (node.object, term.object),
            )
        )
    if isinstance(node, Variable):
        return known.get(node.name, term) == term and solution.setdefault(node.name, term) == term
    return node == term


def _bgp(evaluation: Evaluation, pattern: algebra.BGP, scope: Scope) -> list[Bindings]:
    solutions: list[Bindings] = [{}]
    for triple in pattern.triples:
        solutions = [extended for solution in solutions for extended in _match(triple, solution, scope)]
    return solutions


def _match(pattern: TriplePattern, solution: Bindings, scope: Scope) -> Iterable[Bindings]:
    known = {**scope.outer, **solution}
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    subject, predicate, object = (_bound(node, known) for node in nodes)
    for triple in scope.graph.match(subject, predicate, object):
        extended = dict(solution)
        if all(_unified(node, term, known, extended) for node, term in zip(nodes, triple, strict=True)):
            yield extended


def _path_pattern(evaluation: Evaluation, pattern: algebra.PathPattern, scope: Scope) -> list[Bindings]:
    start, end = _bound(pattern.subject, scope.outer), _bound(pattern.object, scope.outer)
    solutions = []
    for x, y in pairs(pattern.path, start, end, scope.graph):
        solution: Bindings = {}
        ends = ((pattern.subject, x), (pattern.object, y))
        if all(_unified(node, term, scope.outer, solution) for node, term in ends):
            solutions.append(solution)
    return solutions


def _federated(
    evaluation: Evaluation, left: Pattern, right: algebra.Service, scope: Scope, *, optional: bool = False
) -> list[tuple[list[Bindings], list[Bindings]]]:
    """The solutions of ``left`` by which variables of a SERVICE they bind, each with the solutions of the
    SERVICE that may join with them; those that pass as they are with the empty solution."""
    if evaluation.federation is None:
        raise EvaluationError(f"SERVICE {right.name} cannot be called here")
    solutions, passing = callers(right, evaluation.evaluate(left, scope))
    evaluation.federation.begin(right)
    call = partial(
        evaluation.federation.solutions,
        right,
        at=evaluation.context.now,
        refresh=evaluation.refresh,
        optional=optional,
    )
    pairs = [(group, call(group, bound)) for bound, group in by_keys(right, solutions).items()]
    return [*pairs, (passing, [{}])] if passing else pairs


def _join(evaluation: Evaluation, pattern: algebra.Join, scope: Scope) -> list[Bindings]:
    match pattern:
        case algebra.Join(other, algebra.Service() as service) | algebra.Join(
            algebra.Service(IRI()) as service, other
        ):
            pairs = _federated(evaluation, other, service, scope)
            return [row for group, found in pairs for row in multisets.join(group, found)]
    left = evaluation.evaluate(pattern.left, scope)
    endpoints = service_variables(pattern.right) - scope.outer.keys()
    if endpoints:
        return [
            multisets.merge(solution, other)
            for solution in left
            for other in _right(evaluation, pattern.right, solution, endpoints, scope)
        ]
    return multisets.join(left, evaluation.evaluate(pattern.right, scope))


def _right(
    evaluation: Evaluation, right: Pattern, solution: Bindings, endpoints: set[str], scope: Scope
) -> list[Bindings]:
    """Partners of one solution where the right side calls endpoints that the solution names."""
    given = {name: solution[name] for name in endpoints & solution.keys()}
    found = evaluation.evaluate(right, replace(scope, outer={**scope.outer, **given}))
    return [other for other in found if multisets.compatible(solution, other)]


def _left_join(evaluation: Evaluation, pattern: algebra.LeftJoin, scope: Scope) -> list[Bindings]:
    endpoints: set[str] = set()
    if isinstance(pattern.right, algebra.Service):
        pairs = _federated(evaluation, pattern.left, pattern.right, scope, optional=True)
    else:
        endpoints = service_variables(pattern.right) - scope.outer.keys()
        right = [] if endpoints else evaluation.evaluate(pattern.right, scope)
        pairs = [(evaluation.evaluate(pattern.left, scope), right)]
    test = None if pattern.condition is None else evaluation.tester(scope, pattern.condition)
    solutions = []
    for left, right in pairs:
        find = None if endpoints else multisets.partners(left, right)
        for solution in left:
            others = find(solution) if find else _right(evaluation, pattern.right, solution, endpoints, scope)
            joined = [multisets.merge(solution, other) for other in others]
            if test is not None:
                joined = [each for each in joined if test(each)]
            solutions += joined or [solution]
    return solutions


def _filter(evaluation: Evaluation, pattern: algebra.Filter, scope: Scope) -> list[Bindings]:
    solutions = evaluation.evaluate(pattern.pattern, scope)
    names = identities(solutions) if volatile(pattern.condition) else [""] * len(solutions)
    test = evaluation.tester(scope, pattern.condition)
    return [solution for solution, name in zip(solutions, names, strict=True) if test(solution, name)]


def _bind_name(name: Variable, term: Term, solutions: list[Bindings], scope: Scope) -> list[Bindings]:
    if scope.outer.get(name.name, term) != term:
        return []
    return multisets.join(solutions, [{name.name: term}])


def _graph(evaluation: Evaluation, pattern: algebra.Graph, scope: Scope) -> list[Bindings]:
    named = scope.dataset.named
    if isinstance(pattern.name, IRI):
        graph = named.get(pattern.name)
        return [] if graph is None else evaluation.evaluate(pattern.pattern, replace(scope, graph=graph))
    solutions = []
    for term, graph in named.items():
        inner = evaluation.evaluate(pattern.pattern, replace(scope, graph=graph))
        solutions += _bind_name(pattern.name, term, inner, scope)
    return solutions


def _window(evaluation: Evaluation, pattern: algebra.Window, scope: Scope) -> list[Bindings]:
    sds = evaluation.sds
    names = [pattern.name.value] if isinstance(pattern.name, IRI) else list(sds.nameable)
    solutions: list[Bindings] = []
    for name in names:
        for content in sds.windows.get(name, ()):
            inside = replace(scope, graph=content.dataset.default, dataset=content.dataset)
            inner = evaluation.evaluate(pattern.pattern, inside)
            if content.bind is not None:
                inner = _bind_name(Variable(content.bind[0]), content.bind[1], inner, scope)
            if isinstance(pattern.name, Variable):
                inner = _bind_name(pattern.name, IRI(name), inner, scope)
            solutions += inner
    return solutions


def _service(evaluation: Evaluation, pattern: algebra.Service, scope: Scope) -> list[Bindings]:
    endpoint = _bound(pattern.name, scope.outer)
    if not isinstance(endpoint, IRI):
        return callers(pattern, [scope.outer])[1] and [{}]
    if not isinstance(pattern.name, IRI):
        endpoint = IRI(endpoint.value.partition("#")[0])
    known = [variable for variable in visible(pattern.pattern) if variable.name in scope.outer]
    outer = algebra.Values(tuple(known), (tuple(scope.outer[each.name] for each in known),))
    named = algebra.Service(endpoint, pattern.pattern, pattern.silent)
    ((_, found),) = _federated(evaluation, outer, named, scope)
    return [solution for solution in found if multisets.compatible(solution, scope.outer)]


def _values(evaluation: Evaluation, pattern: algebra.Values, scope: Scope) -> list[Bindings]:
    names = [variable.name for variable in pattern.variables]
    rows = [
        {name: term for name, term in zip(names, row, strict=True) if term is not None}
        for row in pattern.rows
    ]
    return [row for row in rows if multisets.compatible(row, scope.outer)]


# Extension, aggregation, solution modifiers


def _extend(evaluation: Evaluation, pattern: algebra.Extend, scope: Scope) -> list[Bindings]:
    """All bindings share the identity of each solution below, so that BNODE("x") is one node."""
    solutions = evaluation.evaluate(pattern.pattern, scope)
    drawn = any(volatile(expression) for _, expression in pattern.bindings)
    names = identities(solutions) if drawn else [""] * len(solutions)
    for bound, expression in pattern.bindings:
        variable = bound.name
        value = evaluation.valuer(scope, expression, variable)
        kept = []
        for solution, name in zip(solutions, names, strict=True):
            term = value(solution, name)
            if term is None:
                kept.append((solution, name))
            elif scope.outer.get(variable, term) == term:
                kept.append(({**solution, variable: term}, name))
        solutions, names = [s for s, _ in kept], [n for _, n in kept]
    return solutions


def _group(evaluation: Evaluation, pattern: algebra.Group, scope: Scope) -> list[Bindings]:
    solutions = evaluation.evaluate(pattern.pattern, scope)
    if not pattern.keys and evaluation.federation is not None and evaluation.federation.silent(pattern):
        return []
    operands = {variable.name: aggregate.operand for variable, aggregate in pattern.aggregates}
    valuers = {
        name: evaluation.valuer(scope, operand, name)
        for name, operand in operands.items()
        if operand is not None
    }
    drawn = any(operand is not None and volatile(operand) for operand in operands.values())
    names = identities(solutions) if drawn else [""] * len(solutions)
    return multisets.group(pattern, list(zip(solutions, names, strict=True)), valuers)


def _order_by(
    evaluation: Evaluation, pattern: algebra.OrderBy, scope: Scope, visible: tuple[str, ...] | None = None
) -> list[Bindings]:
    solutions = evaluation.evaluate(pattern.pattern, scope)
    keys = [(evaluation.valuer(scope, key.expression), key.descending) for key in pattern.keys]
    names = multisets.named_variables(solutions) if visible is None else visible
    return [dict(solution) for solution in sort_solutions(solutions, keys, names)]


def _project(evaluation: Evaluation, pattern: algebra.Project, scope: Scope) -> list[Bindings]:
    names = tuple(variable.name for variable in pattern.variables)
    inner = replace(scope, outer={name: term for name, term in scope.outer.items() if name in names})
    if isinstance(pattern.pattern, algebra.OrderBy):
        solutions = _order_by(evaluation, pattern.pattern, inner, names)
    else:
        solutions = evaluation.evaluate(pattern.pattern, inner)
    return [{name: solution[name] for name in names if name in solution} for solution in solutions]


_OPERATORS: dict[type, Callable[[Evaluation, Any, Scope], list[Bindings]]] = {
    algebra.BGP: _bgp,
    algebra.PathPattern: _path_pattern,
    algebra.Join: _join,
    algebra.LeftJoin: _left_join,
    algebra.Filter: _filter,
    algebra.Union: lambda run, node, scope: run.evaluate(node.left, scope) + run.evaluate(node.right, scope),
    algebra.Minus: lambda run, node, scope: multisets.minus(
        run.evaluate(node.left, scope), run.evaluate(node.right, scope)
    ),
    algebra.Graph: _graph,
    algebra.Window: _window,
    algebra.Service: _service,
    algebra.Extend: _extend,
    algebra.Values: _values,
    algebra.Group: _group,
    algebra.OrderBy: _order_by,
    algebra.Project: _project,
    algebra.Distinct: lambda run, node, scope: multisets.distinct(run.evaluate(node.pattern, scope)),
    algebra.Reduced: lambda run, node, scope: run.evaluate(node.pattern, scope),
    algebra.Slice: lambda run, node, scope: multisets.slice_(node, run.evaluate(node.pattern, scope)),
}
