"""The algebra: SPARQL 1.1 section 18.2 plus ``Window``. Every node is frozen and says what it means.

Blank nodes of a query are internal variables (``Variable.internal``). A pattern is evaluated against
an *active graph*: the default graph, a named graph (``Graph``) or a window's content (``Window``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from weir.language.algebra.expressions import Aggregate, Expression
from weir.rdf.terms import IRI, Term, Variable, triple_term


@dataclass(frozen=True, slots=True)
class TripleTermPattern:
    """A triple term with variables inside; one without is a ``TripleTerm``."""

    subject: Node
    predicate: Node
    object: Node


Node: TypeAlias = Term | Variable | TripleTermPattern


def triple_node(subject: Node, predicate: Node, object: Node) -> Node:
    """The node of a triple term: a constant where its parts are, whatever is nested in it."""
    if isinstance(object, TripleTermPattern):
        object = triple_node(object.subject, object.predicate, object.object)
    parts = [constant(part) for part in (subject, predicate, object)]
    found = None if None in parts else triple_term(*parts)
    return TripleTermPattern(subject, predicate, object) if found is None else found


def constant(node: Node | None) -> Term | None:
    """The term of a node that has no variable; None where it has one."""
    return None if node is None or isinstance(node, Variable | TripleTermPattern) else node


def variables_of(node: Node | None) -> Iterator[Variable]:
    """The variables of a node, those inside triple terms among them."""
    if isinstance(node, Variable):
        yield node
    elif isinstance(node, TripleTermPattern):
        for part in (node.subject, node.predicate, node.object):
            yield from variables_of(part)


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """One triple pattern; subjects may be literals in a pattern, and then match nothing."""

    subject: Node
    predicate: Node
    object: Node

    @property
    def nodes(self) -> tuple[Node, Node, Node]:
        return self.subject, self.predicate, self.object


# Property paths (section 18.1.7)


@dataclass(frozen=True, slots=True)
class Link:
    """One predicate."""

    iri: IRI


@dataclass(frozen=True, slots=True)
class Inverse:
    """``^path``."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """``left / right``."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    """``left | right``."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """``path*``, as a set."""

    path: Path


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """``path+``, as a set."""

    path: Path


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """``path?``, as a set."""

    path: Path


@dataclass(frozen=True, slots=True)
class NegatedSet:
    """``!(a|^b)``: any predicate but these, forward for ``forward``, backward for ``inverse``.

    The backward half takes part only where ``inverse`` is not empty, the forward half where
    ``forward`` is not empty or both are empty.
    """

    forward: tuple[IRI, ...]
    inverse: tuple[IRI, ...]


Path: TypeAlias = Link | Inverse | Sequence | Alternative | ZeroOrMore | OneOrMore | ZeroOrOne | NegatedSet


# Patterns


@dataclass(frozen=True, slots=True)
class BGP:
    """All triple patterns at once; the empty one has the single empty solution."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """Pairs connected by a path that is no plain sequence of links."""

    subject: Node
    path: Path
    object: Node


@dataclass(frozen=True, slots=True)
class Join:
    """Unions of compatible solutions."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: joined solutions that pass ``condition``, and left ones with no such partner."""

    left: Pattern
    right: Pattern
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Solutions whose ``condition`` has the effective boolean value true."""

    condition: Expression
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Union:
    """Multiset union."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    """Left solutions with no compatible right one that shares a bound variable."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Graph:
    """``pattern`` on a named graph, or on each in turn with its name bound."""

    name: IRI | Variable
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Window:
    """``pattern`` on the content of a named window, or on each *named* one in turn, its name bound."""

    name: IRI | Variable
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Service:
    """``pattern`` at a remote endpoint."""

    name: IRI | Variable
    pattern: Pattern
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Extend:
    """Each solution with each variable bound to its expression's value, in order, unbound on error.

    BINDs one after another and the expressions of SELECT are one ``Extend``: they stand side by side, however
    many they are, and RAND and its like draw for the solution as it was before all of them.
    """

    pattern: Pattern
    bindings: tuple[tuple[Variable, Expression], ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One solution per distinct value of ``keys`` (one in all if there are none and no rows).

    ``keys`` are bound below by ``Extend`` where they were expressions. The outcome binds the keys and
    the aggregates' variables; an aggregate in error leaves its variable unbound.
    """

    pattern: Pattern
    keys: tuple[Variable, ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One ORDER BY condition."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """A sequence ordered by keys (section 15.1); ties follow the canonical order of terms."""

    pattern: Pattern
    keys: tuple[OrderKey, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """Solutions restricted to ``variables``; the root of a SELECT and of every subquery."""

    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each solution once."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Reduced:
    """Duplicates may go; Weir keeps them all."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Slice:
    """LIMIT and OFFSET, at each evaluation time."""

    pattern: Pattern
    offset: int = 0
    limit: int | None = None


Pattern: TypeAlias = (
    BGP
    | PathPattern
    | Join
    | LeftJoin
    | Filter
    | Union
    | Minus
    | Graph
    | Window
    | Service
    | Extend
    | Values
    | Group
    | OrderBy
    | Project
    | Distinct
    | Reduced
    | Slice
)


def extended(pattern: Pattern, variable: Variable, expression: Expression) -> Extend:
    """The pattern with one more assignment."""
    before = pattern.bindings if isinstance(pattern, Extend) else ()
    inner = pattern.pattern if isinstance(pattern, Extend) else pattern
    return Extend(inner, (*before, (variable, expression)))


def order_of(pattern: Pattern) -> OrderBy | None:
    """The ORDER BY that makes the outcome a sequence: below its own ``Project``, not a subquery's."""
    while isinstance(pattern, Slice | Distinct | Reduced):
        pattern = pattern.pattern
    if isinstance(pattern, Project):
        pattern = pattern.pattern
    return pattern if isinstance(pattern, OrderBy) else None


def is_ordered(pattern: Pattern) -> bool:
    """Whether the outcome is a sequence that ORDER BY made."""
    return order_of(pattern) is not None
