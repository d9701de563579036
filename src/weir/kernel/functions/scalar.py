"""The scalar evaluator: an expression and a solution give a term or an ``ExpressionError`` (section 17).

Both evaluators use it: ``reference`` for every solution, ``interval`` once per distinct combination of
the terms that an expression mentions (not where ``volatile`` says that more than those counts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from weir.kernel.functions import builtins as terms
from weir.kernel.functions import builtins as times
from weir.kernel.functions import operators as numeric
from weir.kernel.functions import regex, strings
from weir.kernel.functions.casts import CASTS
from weir.kernel.functions.draws import Draws
from weir.kernel.functions.operators import ExpressionError, compare, ebv, equal
from weir.kernel.functions.ordering import Solution
from weir.kernel.functions.strings import simple_text
from weir.language.algebra.expressions import (
    And,
    Bound,
    Builtin,
    Calculate,
    Call,
    Coalesce,
    Compare,
    Exists,
    Expression,
    FunctionCall,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
)
from weir.language.algebra.patterns import Pattern
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable
from weir.rdf.xsd.moments import datetime_literal
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_INTEGER, decimal_text
from weir.rdf.xsd.values import boolean

TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
"""C-SPARQL's ``f:timestamp(?s, ?p, ?o)``."""


def _no_exists(pattern: Pattern, solution: Solution) -> bool:
    raise ExpressionError("EXISTS cannot be evaluated here")


def _no_timestamp(subject: Term, predicate: Term, object: Term) -> int | None:
    return None


@dataclass(slots=True)
class Context:
    """What an expression may depend on besides its solution.

    ``now`` is τ in microseconds; ``exists`` tells whether a pattern has a solution under the current one;
    ``timestamp`` gives the time of a triple in the windows; ``draws`` are the random choices of the
    solution at hand; ``functions`` are extension functions by IRI.
    """

    now: int = 0
    exists: Callable[[Pattern, Solution], bool] = _no_exists
    timestamp: Callable[[Term, Term, Term], int | None] = _no_timestamp
    draws: Draws = field(default_factory=lambda: Draws(""))
    functions: Mapping[str, Callable[..., Term]] = field(default_factory=dict)


def evaluate(expression: Expression, solution: Solution, context: Context) -> Term:
    """The term that the expression denotes; ``ExpressionError`` where it has none."""
    return _EVALUATORS[type(expression)](expression, solution, context)


def value_or_none(expression: Expression, solution: Solution, context: Context) -> Term | None:
    """As ``evaluate``, with None for an error."""
    try:
        return _EVALUATORS[type(expression)](expression, solution, context)
    except ExpressionError:
        return None


def holds(expression: Expression, solution: Solution, context: Context) -> bool:
    """FILTER's test: the effective boolean value, false on error."""
    try:
        return ebv(evaluate(expression, solution, context))
    except ExpressionError:
        return False


def _variable(node: Variable, solution: Solution, context: Context) -> Term:
    term = solution.get(node.name)
    if term is None:
        raise ExpressionError(f"?{node.name} is unbound")
    return term


def _constant(node: IRI | BlankNode | Literal, solution: Solution, context: Context) -> Term:
    return node


def _truth(expression: Expression, solution: Solution, context: Context) -> bool | None:
    """The effective boolean value with None for an error."""
    try:
        return ebv(evaluate(expression, solution, context))
    except ExpressionError:
        return None


def _or(node: Or, solution: Solution, context: Context) -> Term:
    left = _truth(node.left, solution, context)
    if left:
        return boolean(True)
    right = _truth(node.right, solution, context)
    if right:
        return boolean(True)
    if left is None or right is None:
        raise ExpressionError("an error on a side of || that decides")
    return boolean(False)


def _and(node: And, solution: Solution, context: Context) -> Term:
    left = _truth(node.left, solution, context)
    if left is False:
        return boolean(False)
    right = _truth(node.right, solution, context)
    if right is False:
        return boolean(False)
    if left is None or right is None:
        raise ExpressionError("an error on a side of && that decides")
    return boolean(True)


def _not(node: Not, solution: Solution, context: Context) -> Term:
    return boolean(not ebv(evaluate(node.operand, solution, context)))


def _compare(node: Compare, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return boolean(compare(node.operator, left, evaluate(node.right, solution, context)))


def _calculate(node: Calculate, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return numeric.calculate(node.operator, left, evaluate(node.right, solution, context))


def _negate(node: Negate, solution: Solution, context: Context) -> Term:
    return numeric.negate(evaluate(node.operand, solution, context))


def _plus(node: Plus, solution: Solution, context: Context) -> Term:
    return numeric.plus(evaluate(node.operand, solution, context))


def _in(node: In, solution: Solution, context: Context) -> Term:
    sought = evaluate(node.operand, solution, context)
    failed = False
    for choice in node.choices:
        try:
            if equal(sought, evaluate(choice, solution, context)):
                return boolean(not node.negated)
        except ExpressionError:
            failed = True
    if failed:
        raise ExpressionError("an error in a list that decides")
    return boolean(node.negated)


def _exists(node: Exists, solution: Solution, context: Context) -> Term:
    return boolean(context.exists(node.pattern, solution) != node.negated)


def _bound(node: Bound, solution: Solution, context: Context) -> Term:
    return boolean(solution.get(node.variable.name) is not None)


def _if(node: If, solution: Solution, context: Context) -> Term:
    chosen = node.then if ebv(evaluate(node.condition, solution, context)) else node.otherwise
    return evaluate(chosen, solution, context)


def _coalesce(node: Coalesce, solution: Solution, context: Context) -> Term:
    for choice in node.choices:
        term = value_or_none(choice, solution, context)
        if term is not None:
            return term
    raise ExpressionError("no argument of COALESCE has a value")


def _call(node: Call, solution: Solution, context: Context) -> Term:
    arguments = [evaluate(argument, solution, context) for argument in node.arguments]
    special = _SPECIAL.get(node.function)
    if special is not None:
        return special(context, *arguments)
    return apply(node.function, *arguments)


def apply(function: Builtin, *arguments: Term) -> Term:
    """A built-in that depends on nothing but its arguments."""
    term: Term = _BUILTINS[function](*arguments)
    return term


def _function_call(node: FunctionCall, solution: Solution, context: Context) -> Term:
    arguments = [evaluate(argument, solution, context) for argument in node.arguments]
    name = node.function.value
    if name == TIMESTAMP and len(arguments) == 3:
        return _timestamp(context.timestamp(arguments[0], arguments[1], arguments[2]))
    cast = CASTS.get(name)
    if cast is not None and len(arguments) == 1:
        return cast(arguments[0])
    extension = context.functions.get(name)
    if extension is None:
        raise ExpressionError(f"unknown function {name} of {len(arguments)} arguments")
    return extension(*arguments)


def _timestamp(microseconds: int | None) -> Term:
    if microseconds is None:
        raise ExpressionError("the triple is in no window")
    if microseconds % 1000:
        return Literal(decimal_text(Decimal(microseconds).scaleb(-3)), XSD_DECIMAL)
    return Literal(str(microseconds // 1000), XSD_INTEGER)


def _bnode(context: Context, label: Term | None = None) -> Term:
    return context.draws.bnode(None if label is None else simple_text(label))


def _iri(context: Context, term: Term, base: Term | None = None) -> Term:
    """``IRI(x)``; a second argument is the query's BASE, put there when the query was read."""
    return terms.iri(term, base.value if isinstance(base, IRI) else None)


_SPECIAL: dict[Builtin, Callable[..., Term]] = {
    Builtin.NOW: lambda context: datetime_literal(context.now),
    Builtin.RAND: lambda context: context.draws.rand(),
    Builtin.UUID: lambda context: context.draws.uuid(),
    Builtin.STRUUID: lambda context: context.draws.struuid(),
    Builtin.BNODE: _bnode,
    Builtin.IRI: _iri,
}

_BUILTINS: dict[Builtin, Callable[..., Term]] = {
    Builtin.STR: terms.text_of,
    Builtin.LANG: terms.language,
    Builtin.LANGMATCHES: strings.langmatches,
    Builtin.DATATYPE: terms.datatype,
    Builtin.ABS: numeric.absolute,
    Builtin.CEIL: numeric.ceiling,
    Builtin.FLOOR: numeric.floor,
    Builtin.ROUND: numeric.round_half_up,
    Builtin.CONCAT: strings.concat,
    Builtin.STRLEN: strings.strlen,
    Builtin.UCASE: strings.ucase,
    Builtin.LCASE: strings.lcase,
    Builtin.ENCODE_FOR_URI: strings.encode_for_uri,
    Builtin.CONTAINS: strings.contains,
    Builtin.STRSTARTS: strings.strstarts,
    Builtin.STRENDS: strings.strends,
    Builtin.STRBEFORE: strings.strbefore,
    Builtin.STRAFTER: strings.strafter,
    Builtin.YEAR: times.year,
    Builtin.MONTH: times.month,
    Builtin.DAY: times.day,
    Builtin.HOURS: times.hours,
    Builtin.MINUTES: times.minutes,
    Builtin.SECONDS: times.seconds,
    Builtin.TIMEZONE: times.timezone,
    Builtin.TZ: times.tz,
    Builtin.MD5: terms.digest("md5"),
    Builtin.SHA1: terms.digest("sha1"),
    Builtin.SHA256: terms.digest("sha256"),
    Builtin.SHA384: terms.digest("sha384"),
    Builtin.SHA512: terms.digest("sha512"),
    Builtin.STRLANG: terms.strlang,
    Builtin.STRDT: terms.strdt,
    Builtin.SAMETERM: terms.same_term,
    Builtin.ISIRI: terms.is_iri,
    Builtin.ISBLANK: terms.is_blank,
    Builtin.ISLITERAL: terms.is_literal,
    Builtin.ISNUMERIC: terms.is_numeric,
    Builtin.REGEX: regex.regex,
    Builtin.SUBSTR: strings.substr,
    Builtin.REPLACE: regex.replace,
}

_EVALUATORS: dict[type, Callable[[Any, Solution, Context], Term]] = {
    Variable: _variable,
    IRI: _constant,
    BlankNode: _constant,
    Literal: _constant,
    Or: _or,
    And: _and,
    Not: _not,
    Compare: _compare,
    Calculate: _calculate,
    Negate: _negate,
    Plus: _plus,
    In: _in,
    Exists: _exists,
    Bound: _bound,
    If: _if,
    Coalesce: _coalesce,
    Call: _call,
    FunctionCall: _function_call,
}
