"""The scalar evaluator: an expression and a solution give a term or an ``ExpressionError`` (section 17).

Both evaluators use it: ``reference`` for every solution, ``interval`` once per distinct combination of
the terms that an expression mentions (not where ``volatile`` says that more than those counts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from weir.kernel.functions.builtins import BUILTINS
from weir.kernel.functions.casts import CASTS
from weir.kernel.functions.draws import Draws
from weir.kernel.functions.operators import ExpressionError, calculate, compare, ebv, equal, negate, plus
from weir.kernel.functions.ordering import Solution
from weir.kernel.functions.strings import simple_text
from weir.language.algebra import expressions as e
from weir.language.algebra.expressions import TIMESTAMP
from weir.language.algebra.patterns import Pattern
from weir.rdf.terms import IRI, BlankNode, Literal, Term, TripleTerm, Variable
from weir.rdf.xsd.moments import datetime_literal
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_INTEGER, decimal_text
from weir.rdf.xsd.values import boolean


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


def evaluate(expression: e.Expression, solution: Solution, context: Context) -> Term:
    """The term that the expression denotes; ``ExpressionError`` where it has none."""
    return _EVALUATORS[type(expression)](expression, solution, context)


def value_or_none(expression: e.Expression, solution: Solution, context: Context) -> Term | None:
    """As ``evaluate``, with None for an error."""
    try:
        return _EVALUATORS[type(expression)](expression, solution, context)
    except ExpressionError:
        return None


def holds(expression: e.Expression, solution: Solution, context: Context) -> bool:
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


def _constant(node: Term, solution: Solution, context: Context) -> Term:
    return node


def _truth(expression: e.Expression, solution: Solution, context: Context) -> bool | None:
    """The effective boolean value with None for an error."""
    try:
        return ebv(evaluate(expression, solution, context))
    except ExpressionError:
        return None


def _or(node: e.Or, solution: Solution, context: Context) -> Term:
    left = _truth(node.left, solution, context)
    if left:
        return boolean(True)
    right = _truth(node.right, solution, context)
    if right:
        return boolean(True)
    if left is None or right is None:
        raise ExpressionError("an error on a side of || that decides")
    return boolean(False)


def _and(node: e.And, solution: Solution, context: Context) -> Term:
    left = _truth(node.left, solution, context)
    if left is False:
        return boolean(False)
    right = _truth(node.right, solution, context)
    if right is False:
        return boolean(False)
    if left is None or right is None:
        raise ExpressionError("an error on a side of && that decides")
    return boolean(True)


def _not(node: e.Not, solution: Solution, context: Context) -> Term:
    return boolean(not ebv(evaluate(node.operand, solution, context)))


def _compare(node: e.Compare, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return boolean(compare(node.operator, left, evaluate(node.right, solution, context)))


def _calculate(node: e.Calculate, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return calculate(node.operator, left, evaluate(node.right, solution, context))


def _negate(node: e.Negate, solution: Solution, context: Context) -> Term:
    return negate(evaluate(node.operand, solution, context))


def _plus(node: e.Plus, solution: Solution, context: Context) -> Term:
    return plus(evaluate(node.operand, solution, context))


def _in(node: e.In, solution: Solution, context: Context) -> Term:
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


def _exists(node: e.Exists, solution: Solution, context: Context) -> Term:
    return boolean(context.exists(node.pattern, solution) != node.negated)


def _bound(node: e.Bound, solution: Solution, context: Context) -> Term:
    return boolean(solution.get(node.variable.name) is not None)


def _if(node: e.If, solution: Solution, context: Context) -> Term:
    chosen = node.then if ebv(evaluate(node.condition, solution, context)) else node.otherwise
    return evaluate(chosen, solution, context)


def _coalesce(node: e.Coalesce, solution: Solution, context: Context) -> Term:
    for choice in node.choices:
        term = value_or_none(choice, solution, context)
        if term is not None:
            return term
    raise ExpressionError("no argument of COALESCE has a value")


def _call(node: e.Call, solution: Solution, context: Context) -> Term:
    arguments = [evaluate(argument, solution, context) for argument in node.arguments]
    contextual = _CONTEXTUAL.get(node.function)
    if contextual is not None:
        return contextual(context, *arguments)
    return BUILTINS[node.function](*arguments)


def _function_call(node: e.FunctionCall, solution: Solution, context: Context) -> Term:
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


_CONTEXTUAL: dict[e.Builtin, Callable[..., Term]] = {
    e.Builtin.NOW: lambda context: datetime_literal(context.now),
    e.Builtin.RAND: lambda context: context.draws.rand(),
    e.Builtin.UUID: lambda context: context.draws.uuid(),
    e.Builtin.STRUUID: lambda context: context.draws.struuid(),
    e.Builtin.BNODE: _bnode,
}

_EVALUATORS: dict[type, Callable[[Any, Solution, Context], Term]] = {
    Variable: _variable,
    IRI: _constant,
    TripleTerm: _constant,
    BlankNode: _constant,
    Literal: _constant,
    e.Or: _or,
    e.And: _and,
    e.Not: _not,
    e.Compare: _compare,
    e.Calculate: _calculate,
    e.Negate: _negate,
    e.Plus: _plus,
    e.In: _in,
    e.Exists: _exists,
    e.Bound: _bound,
    e.If: _if,
    e.Coalesce: _coalesce,
    e.Call: _call,
    e.FunctionCall: _function_call,
}
