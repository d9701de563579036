"""Expressions (SPARQL 1.2 section 17) as frozen nodes.

A constant stands for itself (``IRI``, ``Literal`` or ``TripleTerm``), and so does a ``Variable``. Operators
whose treatment of errors is special have their own node; every other built-in is a ``Call``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from weir.rdf.terms import IRI, Literal, TripleTerm, Variable

if TYPE_CHECKING:
    from weir.language.algebra.patterns import Pattern


class Comparison(Enum):
    """RDFterm-equal and the value comparisons of section 17.3."""

    EQ = "="
    NE = "!="
    LT = "<"
    GT = ">"
    LE = "<="
    GE = ">="


class Arithmetic(Enum):
    """The numeric operators of section 17.3."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class Builtin(Enum):
    """Functions whose arguments are all evaluated first and where any error is an error (17.4)."""

    STR = "STR"
    LANG = "LANG"
    LANGMATCHES = "LANGMATCHES"
    DATATYPE = "DATATYPE"
    IRI = "IRI"
    BNODE = "BNODE"
    RAND = "RAND"
    ABS = "ABS"
    CEIL = "CEIL"
    FLOOR = "FLOOR"
    ROUND = "ROUND"
    CONCAT = "CONCAT"
    STRLEN = "STRLEN"
    UCASE = "UCASE"
    LCASE = "LCASE"
    ENCODE_FOR_URI = "ENCODE_FOR_URI"
    CONTAINS = "CONTAINS"
    STRSTARTS = "STRSTARTS"
    STRENDS = "STRENDS"
    STRBEFORE = "STRBEFORE"
    STRAFTER = "STRAFTER"
    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"
    HOURS = "HOURS"
    MINUTES = "MINUTES"
    SECONDS = "SECONDS"
    TIMEZONE = "TIMEZONE"
    TZ = "TZ"
    NOW = "NOW"
    UUID = "UUID"
    STRUUID = "STRUUID"
    MD5 = "MD5"
    SHA1 = "SHA1"
    SHA256 = "SHA256"
    SHA384 = "SHA384"
    SHA512 = "SHA512"
    STRLANG = "STRLANG"
    STRDT = "STRDT"
    STRLANGDIR = "STRLANGDIR"
    LANGDIR = "LANGDIR"
    HASLANG = "HASLANG"
    HASLANGDIR = "HASLANGDIR"
    TRIPLE = "TRIPLE"
    SUBJECT = "SUBJECT"
    PREDICATE = "PREDICATE"
    OBJECT = "OBJECT"
    ISTRIPLE = "ISTRIPLE"
    SAMETERM = "SAMETERM"
    ISIRI = "ISIRI"
    ISBLANK = "ISBLANK"
    ISLITERAL = "ISLITERAL"
    ISNUMERIC = "ISNUMERIC"
    REGEX = "REGEX"
    SUBSTR = "SUBSTR"
    REPLACE = "REPLACE"


VOLATILE = frozenset({Builtin.RAND, Builtin.UUID, Builtin.STRUUID, Builtin.BNODE})
"""Functions whose value is drawn anew at each call."""

TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
"""C-SPARQL's ``f:timestamp``: the time of a triple in the query's windows."""


@dataclass(frozen=True, slots=True)
class Or:
    """Logical-or, which an error on one side survives if the other is true."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class And:
    """Logical-and, which an error on one side survives if the other is false."""

    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of the effective boolean value."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """``left op right`` by value."""

    operator: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Calculate:
    """``left op right`` on numbers."""

    operator: Arithmetic
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negate:
    """Unary minus."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Plus:
    """Unary plus: a type error unless numeric."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class In:
    """``operand [NOT] IN (choices)``: a disjunction of equalities, with its error rule."""

    operand: Expression
    choices: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Exists:
    """``[NOT] EXISTS { pattern }`` with the current solution substituted (18.6)."""

    pattern: Pattern
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """``BOUND(?v)``."""

    variable: Variable


@dataclass(frozen=True, slots=True)
class If:
    """``IF(condition, then, otherwise)``: only the chosen branch is evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first argument without error."""

    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in of ``Builtin``."""

    function: Builtin
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function named by an IRI: an XSD cast, or an extension such as C-SPARQL's ``f:timestamp``."""

    function: IRI
    arguments: tuple[Expression, ...] = ()
    distinct: bool = False


class Aggregation(Enum):
    """The set functions of section 18.5.1."""

    COUNT = "COUNT"
    SUM = "SUM"
    MIN = "MIN"
    MAX = "MAX"
    AVG = "AVG"
    SAMPLE = "SAMPLE"
    GROUP_CONCAT = "GROUP_CONCAT"


class StagedSum(Enum):
    """SUM in two stages, which no query can ask for: sums that are not rounded yet, and the sum of such."""

    PART = "PART OF SUM"
    WHOLE = "SUM OF PARTS"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A set function over a group; ``operand`` None is ``COUNT(*)``. Occurs only in ``Group``."""

    function: Aggregation | StagedSum
    operand: Expression | None = None
    distinct: bool = False
    separator: str = " "


Expression: TypeAlias = (
    IRI
    | Literal
    | TripleTerm
    | Variable
    | Or
    | And
    | Not
    | Compare
    | Calculate
    | Negate
    | Plus
    | In
    | Exists
    | Bound
    | If
    | Coalesce
    | Call
    | FunctionCall
)
