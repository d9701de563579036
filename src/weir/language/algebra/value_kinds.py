"""Of what kind a query's answers are, as far as its text tells: counts are whole numbers whatever the data.

Law: a variable of a known kind is, in every solution, unbound or a value of that kind. A variable that a
triple pattern binds has a kind only where a filter compares it with a number, for then it is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.scope import visible
from weir.rdf.terms import XSD, Literal, Variable
from weir.rdf.xsd.numbers import NUMERIC_TYPES, NumericKind

LONG, DECIMAL, DOUBLE = "long", "decimal", "double"
BOOLEAN, TIMESTAMP = "boolean", "timestamp"
STRING = "string"
"""Text, or anything."""

Kinds: TypeAlias = dict[str, str]
_NUMBERS = (LONG, DECIMAL, DOUBLE)
_OF_TYPE = {
    **{
        iri: {NumericKind.INTEGER: LONG, NumericKind.DECIMAL: DECIMAL}.get(kind, DOUBLE)
        for iri, kind in NUMERIC_TYPES.items()
    },
    XSD + "boolean": BOOLEAN,
    XSD + "dateTime": TIMESTAMP,
}
_OF_CALL = {
    **dict.fromkeys(["STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"], LONG),
    **dict.fromkeys(["CONTAINS", "STRSTARTS", "STRENDS", "LANGMATCHES", "REGEX", "SAMETERM"], BOOLEAN),
    **dict.fromkeys(
        ["ISIRI", "ISBLANK", "ISLITERAL", "ISNUMERIC", "ISTRIPLE", "HASLANG", "HASLANGDIR"], BOOLEAN
    ),
    "SECONDS": DECIMAL,
    "RAND": DOUBLE,
    "NOW": TIMESTAMP,
}
_SAME = frozenset({e.Builtin.ABS, e.Builtin.CEIL, e.Builtin.FLOOR, e.Builtin.ROUND})
_ORDERED = frozenset({e.Comparison.LT, e.Comparison.GT, e.Comparison.LE, e.Comparison.GE, e.Comparison.EQ})


def value_kinds(pattern: a.Pattern) -> Kinds:
    """The kinds of a pattern's variables that are known; every other one may be anything."""
    match pattern:
        case a.Filter(condition, inner):
            return dict.fromkeys(_numbers_in(condition), DOUBLE) | value_kinds(inner)
        case a.Join(left, right) | a.LeftJoin(left, right) | a.Union(left, right):
            return _either(left, right)
        case a.Minus(inner) | a.OrderBy(inner) | a.Distinct(inner) | a.Reduced(inner) | a.Slice(inner):
            return value_kinds(inner)
        case a.Graph(_, inner) | a.Window(_, inner):
            return value_kinds(inner)
        case a.Project(inner, variables):
            return _only(value_kinds(inner), variables)
        case a.Extend(inner, bindings):
            found = value_kinds(inner)
            for variable, expression in bindings:
                found |= _known(variable, _kind(expression, found))
            return found
        case a.Group(inner, keys, aggregates):
            below = value_kinds(inner)
            found = _only(below, keys)
            for variable, each in aggregates:
                found |= _known(variable, _aggregate(each, below))
            return found
        case a.Values(variables, rows):
            columns = zip(variables, zip(*rows, strict=True), strict=True) if rows else ()
            made = ((v, _joint(_constant(t) for t in column if t is not None)) for v, column in columns)
            return {variable.name: kind for variable, kind in made if kind != STRING}
    return {}


def _only(kinds: Kinds, variables: Iterable[Variable]) -> Kinds:
    return {v.name: kinds[v.name] for v in variables if v.name in kinds}


def _known(variable: Variable, kind: str) -> Kinds:
    return {} if kind == STRING else {variable.name: kind}


def _either(left: a.Pattern, right: a.Pattern) -> Kinds:
    """The kinds where either of two patterns may bind a variable."""
    sides = [(frozenset(v.name for v in visible(each)), value_kinds(each)) for each in (left, right)]
    found = {}
    for name in sides[0][1].keys() | sides[1][1].keys():
        kind = _joint(kinds.get(name, STRING) for names, kinds in sides if name in names)
        if kind != STRING:
            found[name] = kind
    return found


def _numbers_in(condition: e.Expression) -> Iterable[str]:
    """The variables that a condition compares with a number."""
    match condition:
        case e.And(left, right):
            yield from _numbers_in(left)
            yield from _numbers_in(right)
        case e.Compare(operator, Variable(name), Literal() as other) | e.Compare(
            operator, Literal() as other, Variable(name)
        ) if operator in _ORDERED and _constant(other) in _NUMBERS:
            yield name


def _constant(term: object) -> str:
    return _OF_TYPE.get(term.datatype, STRING) if isinstance(term, Literal) else STRING


def _joint(kinds: Iterable[str]) -> str:
    """The kind that has all values of these."""
    found = set(kinds)
    if len(found) == 1:
        return found.pop()
    return max(found, key=_NUMBERS.index) if found and found <= set(_NUMBERS) else STRING


def _number(*kinds: str) -> str:
    """The kind of what is calculated of values, which are numbers whatever is known of them."""
    return max((kind if kind in _NUMBERS else DOUBLE for kind in kinds), key=_NUMBERS.index)


def _aggregate(each: e.Aggregate, below: Mapping[str, str]) -> str:
    kind = STRING if each.operand is None else _kind(each.operand, below)
    match each.function:
        case e.Aggregation.COUNT:
            return LONG
        case e.Aggregation.SUM:
            return _number(kind)
        case e.Aggregation.AVG:
            return _number(kind, DECIMAL)
        case e.Aggregation.MIN | e.Aggregation.MAX | e.Aggregation.SAMPLE:
            return kind
    return STRING


def _kind(expression: e.Expression, known: Mapping[str, str]) -> str:
    match expression:
        case Literal():
            return _constant(expression)
        case Variable(name):
            return known.get(name, STRING)
        case e.Or() | e.And() | e.Not() | e.Compare() | e.In() | e.Exists() | e.Bound():
            return BOOLEAN
        case e.Calculate(operator, left, right):
            divided = (DECIMAL,) if operator is e.Arithmetic.DIVIDE else ()
            return _number(_kind(left, known), _kind(right, known), *divided)
        case e.Negate(operand) | e.Plus(operand):
            return _number(_kind(operand, known))
        case e.If(_, then, otherwise):
            return _joint((_kind(then, known), _kind(otherwise, known)))
        case e.Coalesce(choices):
            return _joint(_kind(each, known) for each in choices)
        case e.Call(function, arguments) if function in _SAME:
            return _number(_kind(arguments[0], known))
        case e.Call(function):
            return _OF_CALL.get(function.value, STRING)
        case e.FunctionCall(function):
            return _OF_TYPE.get(function.value, STRING)
    return STRING
