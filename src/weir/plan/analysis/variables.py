"""Which variables a plan can bind, which it binds in every solution, and when it may be joined with values.

Putting the current solution into the pattern of EXISTS (18.6) and joining with it are the same as long as
nothing in the pattern looks at a variable that its own group leaves unbound, and nothing counts or cuts
solutions (``joinable``). Else the values must be put in first.
"""

from __future__ import annotations

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Aggregation
from weir.language.algebra.scope import assigned, may_be_empty, mentioned, visible, volatile
from weir.plan import nodes as p
from weir.rdf.terms import Variable


def possible(plan: p.Plan) -> frozenset[str]:
    """The variables that some solution may bind."""
    return _bound(plan, every=False)


def certain(plan: p.Plan) -> frozenset[str]:
    """The variables that every solution binds."""
    return _bound(plan, every=True)


def _bound(plan: p.Plan, every: bool) -> frozenset[str]:
    def below(part: p.Plan) -> frozenset[str]:
        return _bound(part, every)

    match plan:
        case p.Match(source, pattern):
            return _names(*pattern.nodes, source.graph)
        case p.PathPattern(source, subject, _, object):
            return _names(subject, object, source.graph)
        case p.GraphNames(source):
            return _names(source.graph)
        case p.Values(variables, rows) if every:
            return frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in rows))
        case p.Values(variables, _):
            return frozenset(variables)
        case p.Union(parts) if every and parts:
            return frozenset.intersection(*map(below, parts))
        case p.Join(parts) | p.Union(parts):
            return frozenset().union(*map(below, parts))
        case p.LeftJoin(left, right) if not every:
            return below(left) | below(right)
        case p.LeftJoin(left) | p.Minus(left):
            return below(left)
        case p.Extend(inner, bindings) if every:
            return assigned(below(inner), ((name, formula.expression) for name, formula in bindings))
        case p.Extend(inner, bindings):
            return below(inner).union(name for name, _ in bindings)
        case p.Group(inner, keys, aggregates) if every:
            counts = {name for name, aggregate in aggregates if aggregate.function is Aggregation.COUNT}
            return (below(inner) & frozenset(keys)) | counts
        case p.Group(_, keys, aggregates):
            return frozenset(keys) | {name for name, _ in aggregates}
        case p.Project(inner, variables):
            return below(inner) & frozenset(variables)
        case p.OrderBy(inner) | p.Distinct(inner) | p.Slice(inner) | p.Static(inner):
            return below(inner)
        case p.Graph(_, _, variable, inner):
            return below(inner) | {variable}
        case p.Service():
            return frozenset(() if every else (variable.name for variable in visible(plan)))


def _names(*nodes: a.Node | None) -> frozenset[str]:
    return frozenset(
        node.name for node in nodes if isinstance(node, Variable) and not node.name.startswith(".each")
    )


def marks(plan: p.Plan) -> frozenset[str]:
    """The marks (``.each…``) of the enclosing ``GRAPH ?g`` whose graph a plan reads."""
    found = {name for formula in p.formulas(plan) for test in formula.tests for name in marks(test.plan)}
    for child in p.children(plan):
        found |= marks(child)
    if isinstance(plan, p.Match | p.PathPattern | p.GraphNames | p.Graph):
        graph = plan.source.graph
        if isinstance(graph, Variable) and graph.name.startswith(".each"):
            found.add(graph.name)
    if isinstance(plan, p.Graph):
        found.discard(plan.name)
    return frozenset(found)


def draws(plan: p.Plan) -> bool:
    """Whether RAND, UUID, STRUUID or BNODE occurs anywhere in a plan."""
    return any(volatile(formula.expression) for node in p.below(plan) for formula in p.formulas(node))


def reads(formula: p.Formula) -> frozenset[str]:
    """The variables whose values decide a formula, also through EXISTS."""
    names = {variable.name for variable in mentioned(formula.expression)}
    for test in formula.tests:
        names.discard(test.name)
        names |= set(test.outer)
        names |= possible(test.plan)
    return frozenset(names)


def subjects(plan: p.Plan) -> frozenset[str]:
    """Variables that every solution takes from the subject of a triple."""
    match plan:
        case p.Match(_, pattern):
            return frozenset({pattern.subject.name} if isinstance(pattern.subject, Variable) else ())
        case p.Join(parts, _):
            return frozenset().union(*(subjects(part) for part in parts))
        case p.Project(inner, names) | p.Group(inner, names, _):
            return subjects(inner) & frozenset(names)
        case p.LeftJoin(left, _, _) | p.Minus(left, _):
            return subjects(left)
        case p.Static(inner) | p.Extend(inner) | p.OrderBy(inner) | p.Distinct(inner) | p.Slice(inner):
            return subjects(inner)
    return frozenset()


def substituted(plan: p.Plan, known: frozenset[str]) -> tuple[str, ...]:
    """The variables among ``known`` whose values must be put into the plan; none where a join will do."""
    if joinable(plan, known):
        return ()
    return tuple(sorted(known & everything(plan)))


def everything(plan: p.Plan) -> frozenset[str]:
    """All variables that the plan mentions where values put in from outside would reach them."""
    names = set(possible(plan))
    for formula in p.formulas(plan):
        names |= reads(formula)
        for test in formula.tests:
            names |= everything(test.plan)
    if isinstance(plan, p.Project):
        return frozenset(plan.variables)
    for child in p.children(plan):
        names |= everything(child)
    return frozenset(names)


def joinable(plan: p.Plan, known: frozenset[str]) -> bool:
    """Whether putting values of ``known`` into the plan is the same as joining with them."""
    match plan:
        case p.Match() | p.GraphNames() | p.Values():
            return True
        case p.PathPattern(_, _, path, _):
            return not (possible(plan) & known and may_be_empty(path))
        case p.Join(parts, conditions):
            bound = certain(plan)
            return all(joinable(part, known) for part in parts) and all(
                reads(condition) & known <= bound for condition in conditions
            )
        case p.Union(parts):
            return all(joinable(part, known) for part in parts)
        case p.Extend(inner, bindings):
            bound = certain(inner)
            for name, formula in bindings:
                if not reads(formula) & known <= bound:
                    return False
                bound = assigned(bound, [(name, formula.expression)])
            return joinable(inner, known)
        case p.LeftJoin(left, right, condition):
            seen = everything(right) | (reads(condition) if condition else frozenset())
            return joinable(left, known) and joinable(right, known) and seen & known <= certain(left)
        case p.Minus(left, right):
            return (
                joinable(left, known)
                and joinable(right, known)
                and everything(right) & known <= certain(left)
            )
        case p.Project(inner, variables):
            return joinable(inner, known & frozenset(variables))
        case p.Distinct(inner):
            return joinable(inner, known)
        case p.Graph(_, _, variable, inner):
            return variable not in everything(inner) and joinable(inner, known)
    return not everything(plan) & known
