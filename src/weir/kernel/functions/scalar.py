"""The scalar evaluator: an expression and a solution give a term or an ``ExpressionError`` (section 17).

Both evaluators use it: ``reference`` for every solution, ``interval`` once per distinct combination of
the terms that an expression mentions (not where ``volatile`` says that more than those counts).

RAND, UUID, STRUUID and BNODE are repeatable: drawn from a hash of (query, τ, solution, place, call). Running
a query again over the same data gives the same values, also after a restart and in both evaluators; see
decision semantics-values, 12.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from weir.kernel.functions import extensions
from weir.kernel.functions.builtins import BUILTINS
from weir.kernel.functions.casts import CASTS
from weir.kernel.functions.operators import (
    ExpressionError,
    Solution,
    calculate,
    compare,
    ebv,
    equal,
    negate,
    plus,
)
from weir.kernel.functions.strings import simple_text
from weir.language.algebra import expressions as e
from weir.language.algebra.expressions import TIMESTAMP
from weir.language.algebra.patterns import Pattern
from weir.rdf.terms import IRI, BlankNode, Literal, Term, TripleTerm, Variable
from weir.rdf.xsd.moments import datetime_literal
from weir.rdf.xsd.numbers import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, decimal_text, double_text
from weir.rdf.xsd.values import boolean


def seed(*parts: object) -> bytes:
    """16 bytes that depend on every part and on where one ends and the next begins."""
    state = hashlib.blake2b(digest_size=16, person=b"weir.fresh")
    for part in parts:
        data = str(part).encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.digest()


def solution_text(solution: Mapping[str, Term]) -> str:
    """The bound named variables in the order of their names: a solution's identity."""
    bound = sorted((name, term) for name, term in solution.items() if not name.startswith("."))
    return " ".join(f"?{name}={term}" for name, term in bound)


def blank_node(*parts: object) -> BlankNode:
    """A blank node that belongs to these parts alone."""
    return BlankNode("w" + seed("bnode", *parts).hex())


@dataclass(slots=True)
class Draws:
    """Draws for one expression and one solution: ``identity`` names both query, τ and solution,
    ``place`` the expression; each draw has a number."""

    identity: str
    place: str = ""
    calls: int = 0

    def _next(self, kind: str) -> bytes:
        self.calls += 1
        return seed(kind, self.identity, self.place, self.calls)

    def rand(self) -> Literal:
        """RAND: a double in [0, 1)."""
        value = (int.from_bytes(self._next("rand")[:8], "big") >> 11) / 2**53
        return Literal(double_text(value), XSD_DOUBLE)

    def uuid(self) -> IRI:
        """UUID as an IRI."""
        return IRI(f"urn:uuid:{uuid.UUID(bytes=self._next('uuid'), version=4)}")

    def struuid(self) -> Literal:
        """UUID as a simple literal."""
        return Literal(str(uuid.UUID(bytes=self._next("struuid"), version=4)))

    def bnode(self, label: str | None) -> BlankNode:
        """BNODE: without a label a new one at each call, with one the same throughout a solution."""
        if label is None:
            return BlankNode("w" + self._next("fresh").hex())
        return blank_node(self.identity, label)


def _no_exists(pattern: Pattern, solution: Solution) -> bool:
    raise ExpressionError("EXISTS cannot be evaluated here")


def _no_timestamp(subject: Term, predicate: Term, object: Term) -> int | None:
    return None


@dataclass(slots=True)
class Context:
    """What an expression may depend on besides its solution.

    ``now`` is τ in microseconds; ``exists`` tells whether a pattern has a solution under the current one;
    ``timestamp`` gives the time of a triple in the windows; ``draws`` are the random choices of the
    solution at hand.
    """

    now: int = 0
    exists: Callable[[Pattern, Solution], bool] = _no_exists
    timestamp: Callable[[Term, Term, Term], int | None] = _no_timestamp
    draws: Draws = field(default_factory=lambda: Draws(""))


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
    return _truth(expression, solution, context) or False


def _truth(expression: e.Expression, solution: Solution, context: Context) -> bool | None:
    """The effective boolean value with None for an error."""
    try:
        return ebv(evaluate(expression, solution, context))
    except ExpressionError:
        return None


def _variable(node: Variable, solution: Solution, context: Context) -> Term:
    term = solution.get(node.name)
    if term is None:
        raise ExpressionError(f"?{node.name} is unbound")
    return term


def _or(node: e.Or | e.And, solution: Solution, context: Context, decisive: bool = True) -> Term:
    """``||``, and ``&&`` with the decisive value false: a side that has it decides, whatever the other is."""
    left = _truth(node.left, solution, context)
    if left is decisive:
        return boolean(decisive)
    right = _truth(node.right, solution, context)
    if right is decisive:
        return boolean(decisive)
    if left is None or right is None:
        raise ExpressionError("an error on a side of || or && that decides")
    return boolean(not decisive)


def _compare(node: e.Compare, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return boolean(compare(node.operator, left, evaluate(node.right, solution, context)))


def _calculate(node: e.Calculate, solution: Solution, context: Context) -> Term:
    left = evaluate(node.left, solution, context)
    return calculate(node.operator, left, evaluate(node.right, solution, context))


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
    if cast is None:
        return extensions.call(name, arguments)
    if len(arguments) != 1:
        raise ExpressionError(f"the cast {name} takes one argument, not {len(arguments)}")
    return cast(arguments[0])


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
    IRI: lambda node, solution, context: node,
    BlankNode: lambda node, solution, context: node,
    Literal: lambda node, solution, context: node,
    TripleTerm: lambda node, solution, context: node,
    e.Or: _or,
    e.And: lambda node, solution, context: _or(node, solution, context, decisive=False),
    e.Not: lambda node, solution, context: boolean(not ebv(evaluate(node.operand, solution, context))),
    e.Compare: _compare,
    e.Calculate: _calculate,
    e.Negate: lambda node, solution, context: negate(evaluate(node.operand, solution, context)),
    e.Plus: lambda node, solution, context: plus(evaluate(node.operand, solution, context)),
    e.In: _in,
    e.Exists: lambda node, solution, context: boolean(context.exists(node.pattern, solution) != node.negated),
    e.Bound: lambda node, solution, context: boolean(solution.get(node.variable.name) is not None),
    e.If: _if,
    e.Coalesce: _coalesce,
    e.Call: _call,
    e.FunctionCall: _function_call,
}
