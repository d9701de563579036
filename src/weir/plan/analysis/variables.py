"""Which variables a plan can bind, and which it binds in every solution."""

from __future__ import annotations

from weir.language.algebra.patterns import Node
from weir.language.algebra.scope import always, mentioned, visible
from weir.plan import nodes as p
from weir.rdf.terms import Variable


def possible(plan: p.Plan) -> frozenset[str]:
    """The variables that some solution may bind."""
    match plan:
        case p.Match() | p.PathPattern() | p.GraphNames():
            return certain(plan)
        case p.Values(variables, _):
            return frozenset(variables)
        case p.Join(parts, _) | p.Union(parts):
            return frozenset().union(*(possible(part) for part in parts))
        case p.LeftJoin(left, right, _):
            return possible(left) | possible(right)
        case p.Minus(left, _):
            return possible(left)
        case p.Extend(inner, variable, _):
            return possible(inner) | {variable}
        case p.Group(_, keys, aggregates):
            return frozenset(keys) | {name for name, _ in aggregates}
        case p.Project(inner, variables):
            return possible(inner) & frozenset(variables)
        case p.OrderBy(inner) | p.Distinct(inner) | p.Slice(inner) | p.Static(inner):
            return possible(inner)
        case p.Graph(_, _, variable, inner):
            return possible(inner) | {variable}
        case p.Service(service):
            return frozenset(variable.name for variable in visible(service))


def certain(plan: p.Plan) -> frozenset[str]:
    """The variables that every solution binds."""
    match plan:
        case p.Match(source, pattern):
            return _names(pattern.subject, pattern.predicate, pattern.object, source.graph)
        case p.PathPattern(source, subject, _, object):
            return _names(subject, object, source.graph)
        case p.GraphNames(source):
            return _names(source.graph)
        case p.Values(variables, rows):
            return frozenset(v for i, v in enumerate(variables) if all(row[i] is not None for row in rows))
        case p.Join(parts, _):
            return frozenset().union(*(certain(part) for part in parts))
        case p.Union(parts):
            found = [certain(part) for part in parts]
            return frozenset.intersection(*found) if found else frozenset()
        case p.LeftJoin(left, _, _) | p.Minus(left, _):
            return certain(left)
        case p.Extend(inner, variable, formula):
            bound = certain(inner)
            return bound | {variable} if always(formula.expression, bound) else bound
        case p.Group(inner, keys, aggregates):
            counts = {name for name, aggregate in aggregates if aggregate.function.value == "COUNT"}
            return (certain(inner) & frozenset(keys)) | counts
        case p.Project(inner, variables):
            return certain(inner) & frozenset(variables)
        case p.OrderBy(inner) | p.Distinct(inner) | p.Slice(inner) | p.Static(inner):
            return certain(inner)
        case p.Graph(_, _, variable, inner):
            return certain(inner) | {variable}
        case p.Service():
            return frozenset()


def _names(*nodes: Node | None) -> frozenset[str]:
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
        case p.Static(inner) | p.Extend(inner, _, _) | p.OrderBy(inner) | p.Distinct(inner) | p.Slice(inner):
            return subjects(inner)
    return frozenset()
