"""Compiled expressions: a tree of nodes, each a function from a relation's columns to a ``Vector``.

Operators with SPARQL's own rules for errors (17.2) are here; arithmetic and comparisons call the columnar
functions and finish the rest the scalar way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weir.kernel.expressions.arithmetic import calculate
from weir.kernel.expressions.comparison import UNDONE, classes_of, compare
from weir.kernel.expressions.fallback import Scalar
from weir.kernel.expressions.numeric import Numbers, numbers_of
from weir.kernel.expressions.termcache import EXOTIC, NOT_A_NUMBER, TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Truth, Vector, effective, truth_of
from weir.language.algebra.expressions import Arithmetic, Comparison
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows an expression is evaluated for: columns by variable name."""

    columns: Mapping[str, Ids]
    length: int
    terms: Terms

    def take(self, rows: Ids) -> Frame:
        """Some of the rows, for a branch that concerns only them."""
        taken = {name: column[rows] for name, column in self.columns.items()}
        return Frame(taken, len(rows), self.terms)


class Node(Protocol):
    """A compiled expression."""

    def evaluate(self, frame: Frame) -> Vector: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """One term for all rows; its forms are made once."""

    identifier: int
    numbers: Numbers
    truth: Truth

    def evaluate(self, frame: Frame) -> Vector:
        ids = np.full(1, self.identifier, np.int64)
        return Vector(frame.length, frame.terms, ids=ids, numbers=self.numbers, truth=self.truth)

    @staticmethod
    def of(identifier: int, terms: Terms) -> Constant:
        ids = np.full(1, identifier, np.int64)
        return Constant(identifier, numbers_of(ids, terms), effective(ids, terms))


@dataclass(frozen=True, slots=True)
class Column:
    """A variable; unbound where there is no such column."""

    name: str

    def evaluate(self, frame: Frame) -> Vector:
        ids = frame.columns.get(self.name)
        return Vector(frame.length, frame.terms, ids=_NOTHING if ids is None else ids)


_NOTHING = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class Either:
    """``||`` as the maximum of truths."""

    parts: tuple[Node, ...]

    def evaluate(self, frame: Frame) -> Vector:
        truth = self.parts[0].evaluate(frame).truth()
        for part in self.parts[1:]:
            truth = np.maximum(truth, part.evaluate(frame).truth())
        return Vector(frame.length, frame.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class Both:
    """``&&`` as the minimum of truths."""

    parts: tuple[Node, ...]

    def evaluate(self, frame: Frame) -> Vector:
        truth = self.parts[0].evaluate(frame).truth()
        for part in self.parts[1:]:
            truth = np.minimum(truth, part.evaluate(frame).truth())
        return Vector(frame.length, frame.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class Negation:
    """``!``."""

    operand: Node

    def evaluate(self, frame: Frame) -> Vector:
        truth = TRUE - self.operand.evaluate(frame).truth()
        return Vector(frame.length, frame.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class IsBound:
    """``BOUND``."""

    name: str

    def evaluate(self, frame: Frame) -> Vector:
        ids = frame.columns.get(self.name, _NOTHING)
        return Vector(frame.length, frame.terms, truth=truth_of(ids != 0))


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison; ``scalar`` finishes what the columnar ways leave."""

    operator: Comparison
    left: Node
    right: Node
    scalar: Scalar

    def evaluate(self, frame: Frame) -> Vector:
        truth = self.compare(self.left.evaluate(frame), self.right.evaluate(frame), frame)
        return Vector(frame.length, frame.terms, truth=truth)

    def compare(self, left: Vector, right: Vector, frame: Frame) -> Truth:
        truth = compare(self.operator, left, right, frame.terms)
        rows = np.flatnonzero(truth == UNDONE)
        if len(rows):
            ids = self.scalar([left.ids_at(rows), right.ids_at(rows)], len(rows))
            truth = truth.copy()
            truth[rows] = effective(ids, frame.terms)
        return truth


@dataclass(frozen=True, slots=True)
class Among:
    """``[NOT] IN``: a disjunction of equalities."""

    operand: Node
    choices: tuple[Node, ...]
    equality: Compared
    negated: bool

    def evaluate(self, frame: Frame) -> Vector:
        operand = self.operand.evaluate(frame)
        truth = np.where(operand.ids() == 0, ERROR, FALSE)
        for choice in self.choices:
            truth = np.maximum(truth, self.equality.compare(operand, choice.evaluate(frame), frame))
        return Vector(frame.length, frame.terms, truth=TRUE - truth if self.negated else truth)


@dataclass(frozen=True, slots=True)
class Calculated:
    """Arithmetic on two numbers."""

    operator: Arithmetic
    left: Node
    right: Node
    scalar: Scalar

    def evaluate(self, frame: Frame) -> Vector:
        left, right = self.left.evaluate(frame), self.right.evaluate(frame)
        numbers, pending = calculate(self.operator, left.numbers(), right.numbers())
        return _finish(numbers, pending, self.scalar, (left, right), frame)


@dataclass(frozen=True, slots=True)
class Numeric:
    """A function of one number, by ``function`` on columns."""

    function: Callable[[Numbers], Numbers]
    operand: Node
    scalar: Scalar

    def evaluate(self, frame: Frame) -> Vector:
        operand = self.operand.evaluate(frame)
        numbers = operand.numbers()
        return _finish(self.function(numbers), numbers.kind == EXOTIC, self.scalar, (operand,), frame)


def _finish(
    numbers: Numbers, pending: Mask, scalar: Scalar, arguments: Sequence[Vector], frame: Frame
) -> Vector:
    if pending.any():
        rows = np.flatnonzero(np.broadcast_to(pending, frame.length))
        done = scalar([argument.ids_at(rows) for argument in arguments], len(rows))
        rest = numbers_of(done, frame.terms).spread(len(rows))
        numbers = numbers.spread(frame.length).patched(rows, rest)
    return Vector(frame.length, frame.terms, numbers=numbers)


@dataclass(frozen=True, slots=True)
class Chosen:
    """``IF``: each branch is evaluated for the rows that take it."""

    condition: Node
    then: Node
    otherwise: Node

    def evaluate(self, frame: Frame) -> Vector:
        truth = self.condition.evaluate(frame).truth()
        out = np.zeros(frame.length, np.int64)
        for answer, branch in ((TRUE, self.then), (FALSE, self.otherwise)):
            rows = np.flatnonzero(truth == answer)
            if len(rows) == frame.length:
                return branch.evaluate(frame)
            if len(rows):
                out[rows] = branch.evaluate(frame.take(rows)).ids()
        return Vector(frame.length, frame.terms, ids=out)


@dataclass(frozen=True, slots=True)
class First:
    """``COALESCE``: the next choice only for rows still in error."""

    choices: tuple[Node, ...]

    def evaluate(self, frame: Frame) -> Vector:
        out = np.zeros(frame.length, np.int64)
        rows = np.arange(frame.length)
        for choice in self.choices:
            out[rows] = choice.evaluate(frame if len(rows) == frame.length else frame.take(rows)).ids()
            rows = rows[out[rows] == 0]
            if not len(rows):
                break
        return Vector(frame.length, frame.terms, ids=out)


@dataclass(frozen=True, slots=True)
class SameTerm:
    """``sameTerm``: equality of ids."""

    left: Node
    right: Node

    def evaluate(self, frame: Frame) -> Vector:
        left, right = self.left.evaluate(frame).ids(), self.right.evaluate(frame).ids()
        truth = np.where((left == 0) | (right == 0), ERROR, truth_of(left == right))
        return Vector(frame.length, frame.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class IsOfClass:
    """isIRI, isBlank, isLiteral: whether the term is of one of ``classes``."""

    operand: Node
    classes: frozenset[TermClass]

    def evaluate(self, frame: Frame) -> Vector:
        ids = self.operand.evaluate(frame).ids()
        wanted = [int(each) for each in self.classes]
        found = truth_of(np.isin(classes_of(ids, frame.terms), wanted))
        return Vector(frame.length, frame.terms, truth=np.where(ids == 0, ERROR, found))


@dataclass(frozen=True, slots=True)
class IsNumeric:
    """isNumeric: whether the term has a numeric value."""

    operand: Node

    def evaluate(self, frame: Frame) -> Vector:
        operand = self.operand.evaluate(frame)
        found = truth_of(operand.numbers().kind != NOT_A_NUMBER)
        return Vector(frame.length, frame.terms, truth=np.where(operand.ids() == 0, ERROR, found))


@dataclass(frozen=True, slots=True)
class Applied:
    """Any other function."""

    scalar: Scalar
    arguments: tuple[Node, ...]

    def evaluate(self, frame: Frame) -> Vector:
        arguments = [argument.evaluate(frame).ids() for argument in self.arguments]
        return Vector(frame.length, frame.terms, ids=self.scalar(arguments, frame.length))
