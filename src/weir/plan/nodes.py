"""The physical plan: SPARQL's algebra with every leaf told where it reads from, joins flattened.

Nodes are frozen. ``Join`` is a join of any number of parts whose order is chosen while it runs (CQELS
3.3); ``Static`` is a part that no stream touches, evaluated once and indexed (CQELS 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Aggregate, Expression
from weir.language.algebra.fold import rebuilt
from weir.language.algebra.patterns import Node, OrderKey, Path, TriplePattern
from weir.language.algebra.windows import WindowDeclaration
from weir.plan.parameters import ParameterTable
from weir.rdf.terms import IRI, Term, Variable


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A declared window on one stream; ``name`` is what sources refer to."""

    name: str
    stream: str
    declaration: WindowDeclaration


@dataclass(frozen=True, slots=True)
class Source:
    """The active graph of a leaf.

    Without a window: the default graph, a named static graph, or (a variable) all of them. With one: its
    whole content, or only the triples of its graph of that name. A variable whose name starts with
    ``.each`` stands for the one name that the enclosing ``Graph`` is at.
    """

    window: str | None = None
    graph: IRI | Variable | None = None


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS as a column: ``name`` is true where ``plan`` has a solution for the row.

    ``outer`` names the variables whose values must be put into the plan before it is evaluated (18.6); where
    there are none, the plan's own solutions are simply joined.
    """

    name: str
    plan: Plan
    outer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression whose EXISTS parts have become variables, each decided by its test.

    ``written`` is the expression as it stands in the query, where that differs.
    """

    expression: Expression
    tests: tuple[Exists, ...] = ()
    written: Expression | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One triple pattern."""

    source: Source
    pattern: TriplePattern


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A property path between two nodes."""

    source: Source
    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class GraphNames:
    """The graph's name while it exists, bound where it is a variable."""

    source: Source


@dataclass(frozen=True, slots=True)
class Values:
    """Inline rows; None is unbound."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Parameters(Values):
    """Inline rows that are no part of the plan: the columns of ``table`` at ``places``, all of them bound."""

    table: ParameterTable
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """A join of all parts, filtered by all conditions, in whatever order is cheapest.

    A condition may be applied as soon as no part still to come can bind one of its variables.
    """

    parts: tuple[Plan, ...]
    conditions: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL (18.5): solutions of both that pass the condition, and left ones without such a partner."""

    left: Plan
    right: Plan
    condition: Formula | None = None


@dataclass(frozen=True, slots=True)
class Minus:
    """Left solutions with no compatible right one that shares a bound variable (18.5)."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class Union:
    """UNION of any number of parts."""

    parts: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND and the expressions of SELECT, in order."""

    plan: Plan
    bindings: tuple[tuple[str, Formula], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """GROUP BY with its aggregates."""

    plan: Plan
    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class OrderBy:
    """ORDER BY; ties are broken on ``visible``, the variables that the enclosing projection keeps."""

    plan: Plan
    keys: tuple[OrderKey, ...]
    visible: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """Only these variables."""

    plan: Plan
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """DISTINCT."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Slice:
    """LIMIT and OFFSET; ``ordered`` says whether the plan is a sequence already."""

    plan: Plan
    offset: int
    limit: int | None
    ordered: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """The plan once for each graph name, which stands for ``name`` in its sources and is bound to
    ``variable`` in its solutions."""

    source: Source
    name: str
    variable: str
    plan: Plan


Service = a.Service
"""A SERVICE call is the algebra's own; its rows come from a local view."""


@dataclass(frozen=True, slots=True)
class Static:
    """A part without streams, windows or the present time: evaluated once, indexed on demand."""

    plan: Plan


Plan: TypeAlias = (
    Match
    | PathPattern
    | GraphNames
    | Values
    | Join
    | LeftJoin
    | Minus
    | Union
    | Extend
    | Group
    | OrderBy
    | Project
    | Distinct
    | Slice
    | Graph
    | Service
    | Static
)

UNIT = Values((), ((),))
"""The one empty solution."""


_LEAVES = Match | PathPattern | GraphNames | Values | Service


def children(plan: Plan) -> tuple[Plan, ...]:
    """The plans right below, without those of EXISTS."""
    match plan:
        case Join(inside) | Union(inside):
            return inside
        case LeftJoin(left, right) | Minus(left, right):
            return left, right
    return () if isinstance(plan, _LEAVES) else (plan.plan,)


def formulas(plan: Plan) -> tuple[Formula, ...]:
    """The formulas of this node alone; ORDER BY keys and aggregates are expressions without EXISTS."""
    match plan:
        case Join(_, conditions):
            return conditions
        case LeftJoin(_, _, Formula() as condition):
            return (condition,)
        case Extend(_, bindings):
            return tuple([formula for _, formula in bindings])
    return ()


def tree(plan: Plan) -> Iterator[Plan]:
    """The plan and all plans below it but those of EXISTS, operators before their operands."""
    yield plan
    for child in children(plan):
        yield from tree(child)


def below(plan: Plan, closed: tuple[type, ...] = ()) -> Iterator[Plan]:
    """The plan and all plans below it, those of EXISTS included, but nothing inside a ``closed`` type."""
    yield plan
    if not isinstance(plan, closed):
        inside = (test.plan for formula in formulas(plan) for test in formula.tests)
        for child in (*inside, *children(plan)):
            yield from below(child, closed)


def mapped(
    plan: Plan, change: Callable[[Plan], Plan], tested: Callable[[Exists], Plan] | None = None
) -> Plan:
    """The node with ``change`` applied to the plans right below it; ``tested`` gives those of its EXISTS
    tests, else ``change`` does."""

    def inside(part: Any) -> Any:
        if isinstance(part, Exists):
            return replace(part, plan=change(part.plan) if tested is None else tested(part))
        if isinstance(part, tuple | Formula):
            return rebuilt(part, inside)
        return change(part) if isinstance(part, Plan) else part

    if isinstance(plan, _LEAVES):
        return plan
    found: Plan = rebuilt(plan, inside)
    return found
