"""What an expression mentions: its parts, variables, and whether more than its variables decides it."""

from __future__ import annotations

from collections.abc import Iterator

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
from weir.rdf.terms import Variable

VOLATILE = frozenset({Builtin.RAND, Builtin.UUID, Builtin.STRUUID, Builtin.BNODE})
"""Functions that depend on the whole solution (see ``fresh``)."""


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions right below; the pattern of EXISTS is not one."""
    match expression:
        case Or(left, right) | And(left, right):
            return left, right
        case Compare(_, left, right) | Calculate(_, left, right):
            return left, right
        case Not(operand) | Negate(operand) | Plus(operand):
            return (operand,)
        case In(operand, choices, _):
            return operand, *choices
        case If(condition, then, otherwise):
            return condition, then, otherwise
        case Coalesce(choices):
            return choices
        case Call(_, arguments) | FunctionCall(_, arguments, _):
            return arguments
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, not into the patterns of EXISTS."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def variables_of(expression: Expression) -> frozenset[str]:
    """Names of the variables that the expression reads, those inside EXISTS excepted."""
    names = set()
    for part in walk(expression):
        if isinstance(part, Variable):
            names.add(part.name)
        elif isinstance(part, Bound):
            names.add(part.variable.name)
    return frozenset(names)


def is_volatile(expression: Expression) -> bool:
    """Whether RAND, UUID, STRUUID or BNODE occurs."""
    return any(isinstance(part, Call) and part.function in VOLATILE for part in walk(expression))


def reads_time(expression: Expression) -> bool:
    """Whether NOW occurs."""
    return any(isinstance(part, Call) and part.function is Builtin.NOW for part in walk(expression))


def has_exists(expression: Expression) -> bool:
    """Whether EXISTS occurs."""
    return any(isinstance(part, Exists) for part in walk(expression))
