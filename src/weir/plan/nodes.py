"""The physical plan: SPARQL's algebra with every leaf told where it reads from, joins flattened.

Nodes are frozen. ``Joined`` is a join of any number of parts whose order is chosen while it runs (CQELS
3.3); ``Static`` is a part that no stream touches, evaluated once and indexed (CQELS 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from weir.language.algebra.expressions import Aggregate, Expression
from weir.language.algebra.patterns import Node, OrderKey, Path, Service, TriplePattern
from weir.rdf.terms import IRI, Term, Variable


@dataclass(frozen=True, slots=True)
class Source:
    """The active graph of a leaf.

    Without a window: the default graph, a named static graph, or (a variable) all of them. With one: its
    whole content, or only the triples of its graph of that name. A variable whose name starts with
    ``.each`` stands for the one name that the enclosing ``Each`` is at.
    """

    window: str | None = None
    graph: IRI | Variable | None = None


@dataclass(frozen=True, slots=True)
class Test:
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
    tests: tuple[Test, ...] = ()
    written: Expression | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """One triple pattern."""

    source: Source
    pattern: TriplePattern


@dataclass(frozen=True, slots=True)
class Connect:
    """A property path between two nodes."""

    source: Source
    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class Names:
    """The graph's name while it exists, bound where it is a variable."""

    source: Source


@dataclass(frozen=True, slots=True)
class Table:
    """Inline rows; None is unbound."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of all parts, filtered by all conditions, in whatever order is cheapest.

    A condition may be applied as soon as no part still to come can bind one of its variables.
    """

    parts: tuple[Plan, ...]
    conditions: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Optionally:
    """OPTIONAL."""

    left: Plan
    right: Plan
    condition: Formula | None = None


@dataclass(frozen=True, slots=True)
class Without:
    """MINUS."""

    left: Plan
    right: Plan


@dataclass(frozen=True, slots=True)
class Either:
    """UNION of any number of parts."""

    parts: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """BIND and the expressions of SELECT."""

    plan: Plan
    variable: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class Grouped:
    """GROUP BY with its aggregates."""

    plan: Plan
    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class Ordered:
    """ORDER BY; ties are broken on ``visible``, the variables that the enclosing projection keeps."""

    plan: Plan
    keys: tuple[OrderKey, ...]
    visible: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Projected:
    """Only these variables."""

    plan: Plan
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unique:
    """DISTINCT."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Sliced:
    """LIMIT and OFFSET; ``ordered`` says whether the plan is a sequence already."""

    plan: Plan
    offset: int
    limit: int | None
    ordered: bool


@dataclass(frozen=True, slots=True)
class Each:
    """The plan once for each graph name, which stands for ``name`` in its sources and is bound to
    ``variable`` in its solutions."""

    source: Source
    name: str
    variable: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Remote:
    """A SERVICE call; its rows come from a local view."""

    service: Service


@dataclass(frozen=True, slots=True)
class Static:
    """A part without streams, windows or the present time: evaluated once, indexed on demand."""

    plan: Plan


Plan: TypeAlias = (
    Match
    | Connect
    | Names
    | Table
    | Joined
    | Optionally
    | Without
    | Either
    | Bind
    | Grouped
    | Ordered
    | Projected
    | Unique
    | Sliced
    | Each
    | Remote
    | Static
)

UNIT = Table((), ((),))
"""The one empty solution."""


def children(plan: Plan) -> tuple[Plan, ...]:
    """The plans right below, without those of EXISTS."""
    match plan:
        case Joined(parts, _) | Either(parts):
            return parts
        case Optionally(left, right, _) | Without(left, right):
            return left, right
        case (
            Bind(inner, _, _)
            | Grouped(inner, _, _)
            | Ordered(inner, _, _)
            | Projected(inner, _)
            | Unique(inner)
            | Sliced(inner, _, _, _)
            | Each(_, _, _, inner)
            | Static(inner)
        ):
            return (inner,)
        case _:
            return ()


def formulas(plan: Plan) -> tuple[Formula, ...]:
    """The formulas of this node alone; ORDER BY keys and aggregates are expressions without EXISTS."""
    match plan:
        case Joined(_, conditions):
            return conditions
        case Optionally(_, _, condition):
            return () if condition is None else (condition,)
        case Bind(_, _, formula):
            return (formula,)
        case _:
            return ()
