"""The syntax tree: what a text says, before any translation. ``at`` is the offset where a node starts.

IRIs are resolved and ``;``, ``,``, ``[…]`` and ``(…)`` in triples are spelled out as plain triples; all
else keeps the shape and order of the text. Terms and variables stand for themselves; a blank node whose
label starts with a dot was written without one. Paths, expressions and windows are those of the algebra
where nothing has to be translated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from weir.language.algebra.expressions import Aggregation, Expression
from weir.language.algebra.patterns import Path, TripleTermPattern
from weir.language.algebra.query import R2S, Previous
from weir.language.algebra.windows import All, Bounds, Content, Elements, Now, Past, Report, Start, Tick
from weir.language.algebra.windows import Triples as LatestTriples
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable

TermNode: TypeAlias = IRI | Literal | BlankNode | Variable | TripleTermPattern


# Expressions are the algebra's, but for what has to be translated first


@dataclass(frozen=True, slots=True)
class Exists:
    at: int
    group: Group
    negated: bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``operand`` None is ``*``; ``separator`` None is the default."""

    at: int
    function: Aggregation
    operand: Expression | None
    distinct: bool
    separator: str | None


# Windows


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """A range whose step depends on the dialect where it is not written: ``step`` None.

    ``each`` is Weir's ``STEP MESSAGE``. Every other window is written as what it is.
    """

    range: int
    step: int | None
    each: bool = False


WindowShape: TypeAlias = RangeWindow | Now | All | LatestTriples | Elements | Past


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """Weir's own options in the brackets; None is not written."""

    report: Report | None = None
    content: Content | None = None
    tick: Tick | None = None
    start: Start = None
    bounds: Bounds | None = None
    lateness: int | None = None
    ahead: int | None = None
    times_distinct: bool | None = None


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What stands in the brackets."""

    at: int
    shape: WindowShape
    options: WindowOptions


# Patterns


@dataclass(frozen=True, slots=True)
class Triple:
    at: int
    subject: TermNode
    predicate: IRI | Variable | Path
    object: TermNode


@dataclass(frozen=True, slots=True)
class Triples:
    at: int
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class Group:
    at: int
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    at: int
    condition: Expression


@dataclass(frozen=True, slots=True)
class Optional:
    at: int
    group: Group


@dataclass(frozen=True, slots=True)
class Minus:
    at: int
    group: Group


@dataclass(frozen=True, slots=True)
class Union:
    at: int
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    at: int
    name: IRI | Variable
    group: Group


@dataclass(frozen=True, slots=True)
class Service:
    at: int
    name: IRI | Variable
    silent: bool
    group: Group


@dataclass(frozen=True, slots=True)
class Window:
    """RSP-QL's ``WINDOW``."""

    at: int
    name: IRI | Variable
    group: Group


@dataclass(frozen=True, slots=True)
class Stream:
    """CQELS-QL's ``STREAM``, which declares its window in place; ``label`` is ``.1``, ``.2``, …"""

    at: int
    label: str
    stream: IRI | Variable
    window: WindowSpec
    group: Group


@dataclass(frozen=True, slots=True)
class Bind:
    at: int
    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class Values:
    at: int
    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SubSelect:
    at: int
    select: Select


Element: TypeAlias = (
    Triples
    | Group
    | Filter
    | Optional
    | Minus
    | Union
    | Graph
    | Service
    | Window
    | Stream
    | Bind
    | Values
    | SubSelect
)


# Queries


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a SELECT clause or of GROUP BY; a bare key without a name has no variable."""

    at: int
    variable: Variable | None
    expression: Expression | None


@dataclass(frozen=True, slots=True)
class Order:
    at: int
    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Solution modifiers, and the VALUES clause that may follow them."""

    group_by: tuple[Item, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int | None = None
    values: Values | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """``items`` None is ``*``."""

    at: int
    items: tuple[Item, ...] | None
    distinct: bool
    reduced: bool
    where: Group
    modifiers: Modifiers


@dataclass(frozen=True, slots=True)
class Construct:
    """``template`` None is the short form, whose template is its pattern."""

    at: int
    template: tuple[Triple, ...] | None
    where: Group
    modifiers: Modifiers


@dataclass(frozen=True, slots=True)
class Ask:
    at: int
    where: Group
    modifiers: Modifiers


@dataclass(frozen=True, slots=True)
class Describe:
    """``targets`` None is ``*``."""

    at: int
    targets: tuple[IRI | Variable, ...] | None
    where: Group | None
    modifiers: Modifiers


Body: TypeAlias = Select | Construct | Ask | Describe


@dataclass(frozen=True, slots=True)
class FromGraph:
    at: int
    graph: IRI
    named: bool


@dataclass(frozen=True, slots=True)
class FromWindow:
    """RSP-QL's ``FROM NAMED WINDOW name ON stream […]``."""

    at: int
    name: IRI
    stream: IRI
    window: WindowSpec
    named: bool


@dataclass(frozen=True, slots=True)
class FromStream:
    """C-SPARQL's and SPARQLstream's ``FROM STREAM``; ``label`` is ``.1``, ``.2``, …"""

    at: int
    label: str
    stream: IRI
    window: WindowSpec


DatasetClause: TypeAlias = FromGraph | FromWindow | FromStream


@dataclass(frozen=True, slots=True)
class Settings:
    """What a query declares about its output; None is not written."""

    output: str | None = None
    r2s: R2S | None = None
    computed_every: int | None = None
    previous: Previous | None = None
    emit_after: int | None = None
    empty: bool | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole query."""

    body: Body
    dataset: tuple[DatasetClause, ...]
    settings: Settings
