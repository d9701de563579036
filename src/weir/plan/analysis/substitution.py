"""When EXISTS may be a plain join with its pattern's solutions, and when values must be put in first.

Putting the current solution into a pattern (18.6) and joining with it are the same as long as nothing in
the pattern looks at a variable that its own group leaves unbound, and nothing counts or cuts solutions.
"""

from __future__ import annotations

from weir.language.algebra import patterns as a
from weir.plan import nodes as p
from weir.plan.analysis.variables import certain, possible, reads


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
        case p.Extend(inner, _, formula):
            return joinable(inner, known) and reads(formula) & known <= certain(inner)
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


def may_be_empty(path: a.Path) -> bool:
    """Whether a path can have length zero."""
    match path:
        case a.ZeroOrMore() | a.ZeroOrOne():
            return True
        case a.Inverse(inner) | a.OneOrMore(inner):
            return may_be_empty(inner)
        case a.Sequence(left, right):
            return may_be_empty(left) and may_be_empty(right)
        case a.Alternative(left, right):
            return may_be_empty(left) or may_be_empty(right)
        case _:
            return False
