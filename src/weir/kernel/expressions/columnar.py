"""Compiled expressions: a tree of nodes, each a function from columns of solutions to a ``Vector``.

The nodes have the names of the expressions they evaluate.

Operators with SPARQL's own rules for errors (17.2) are here; arithmetic and comparisons call the columnar
functions and finish the rest the scalar way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np

from weir.kernel.expressions.comparison import UNDONE, classes_of, compare
from weir.kernel.expressions.fallback import Scalar
from weir.kernel.expressions.numeric import Numbers, calculate, numbers_of
from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Truth, Vector, effective, truth_of
from weir.language.algebra.expressions import Arithmetic, Comparison
from weir.rdf.columns import Ids, Mask


@dataclass(frozen=True, slots=True)
class Solutions:
    """The solutions that an expression is evaluated for: columns by variable name, 0 where unbound."""

    columns: Mapping[str, Ids]
    length: int
    terms: Terms

    def take(self, rows: Ids) -> Solutions:
        """Some of the rows, for a branch that concerns only them."""
        taken = {name: column[rows] for name, column in self.columns.items()}
        return Solutions(taken, len(rows), self.terms)


class Node(Protocol):
    """A compiled expression."""

    def evaluate(self, solutions: Solutions) -> Vector: ...


@dataclass(frozen=True, slots=True)
class Constant:
    """One term for all rows; its forms are made once."""

    identifier: int
    numbers: Numbers
    truth: Truth

    def evaluate(self, solutions: Solutions) -> Vector:
        ids = np.full(1, self.identifier, np.int64)
        return Vector(solutions.length, solutions.terms, ids=ids, numbers=self.numbers, truth=self.truth)

    @staticmethod
    def of(identifier: int, terms: Terms) -> Constant:
        ids = np.full(1, identifier, np.int64)
        return Constant(identifier, numbers_of(ids, terms), effective(ids, terms))


@dataclass(frozen=True, slots=True)
class Column:
    """A variable; unbound where there is no such column."""

    name: str

    def evaluate(self, solutions: Solutions) -> Vector:
        ids = solutions.columns.get(self.name)
        return Vector(solutions.length, solutions.terms, ids=_NOTHING if ids is None else ids)


_NOTHING = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class Or:
    """``||`` as the maximum of truths."""

    parts: tuple[Node, ...]

    def evaluate(self, solutions: Solutions) -> Vector:
        truths = (part.evaluate(solutions).truth() for part in self.parts)
        return Vector(solutions.length, solutions.terms, truth=reduce(np.maximum, truths))


@dataclass(frozen=True, slots=True)
class And:
    """``&&`` as the minimum of truths."""

    parts: tuple[Node, ...]

    def evaluate(self, solutions: Solutions) -> Vector:
        truths = (part.evaluate(solutions).truth() for part in self.parts)
        return Vector(solutions.length, solutions.terms, truth=reduce(np.minimum, truths))


@dataclass(frozen=True, slots=True)
class Not:
    """``!``."""

    operand: Node

    def evaluate(self, solutions: Solutions) -> Vector:
        truth = TRUE - self.operand.evaluate(solutions).truth()
        return Vector(solutions.length, solutions.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class Bound:
    """``BOUND``."""

    name: str

    def evaluate(self, solutions: Solutions) -> Vector:
        ids = solutions.columns.get(self.name, _NOTHING)
        return Vector(solutions.length, solutions.terms, truth=truth_of(ids != 0))


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison; ``scalar`` finishes what the columnar ways leave."""

    operator: Comparison
    left: Node
    right: Node
    scalar: Scalar

    def evaluate(self, solutions: Solutions) -> Vector:
        truth = self.compare(self.left.evaluate(solutions), self.right.evaluate(solutions), solutions)
        return Vector(solutions.length, solutions.terms, truth=truth)

    def compare(self, left: Vector, right: Vector, solutions: Solutions) -> Truth:
        truth = compare(self.operator, left, right, solutions.terms)
        rows = np.flatnonzero(truth == UNDONE)
        if len(rows):
            ids = self.scalar([left.ids_at(rows), right.ids_at(rows)], len(rows))
            truth = truth.copy()
            truth[rows] = effective(ids, solutions.terms)
        return truth


@dataclass(frozen=True, slots=True)
class In:
    """``[NOT] IN``: a disjunction of equalities."""

    operand: Node
    choices: tuple[Node, ...]
    equality: Compare
    negated: bool

    def evaluate(self, solutions: Solutions) -> Vector:
        operand = self.operand.evaluate(solutions)
        truth = np.where(operand.ids() == 0, ERROR, FALSE)
        for choice in self.choices:
            truth = np.maximum(truth, self.equality.compare(operand, choice.evaluate(solutions), solutions))
        return Vector(solutions.length, solutions.terms, truth=TRUE - truth if self.negated else truth)


@dataclass(frozen=True, slots=True)
class Calculate:
    """Arithmetic on two numbers."""

    operator: Arithmetic
    left: Node
    right: Node
    scalar: Scalar

    def evaluate(self, solutions: Solutions) -> Vector:
        left, right = self.left.evaluate(solutions), self.right.evaluate(solutions)
        numbers, pending = calculate(self.operator, left.numbers(), right.numbers())
        return _finish(numbers, pending, self.scalar, (left, right), solutions)


@dataclass(frozen=True, slots=True)
class Numeric:
    """A function of one number, by ``function`` on columns."""

    function: Callable[[Numbers], Numbers]
    operand: Node
    scalar: Scalar

    def evaluate(self, solutions: Solutions) -> Vector:
        operand = self.operand.evaluate(solutions)
        numbers = operand.numbers()
        return _finish(self.function(numbers), numbers.kind == EXOTIC, self.scalar, (operand,), solutions)


def _finish(
    numbers: Numbers, pending: Mask, scalar: Scalar, arguments: Sequence[Vector], solutions: Solutions
) -> Vector:
    if pending.any():
        rows = np.flatnonzero(np.broadcast_to(pending, solutions.length))
        done = scalar([argument.ids_at(rows) for argument in arguments], len(rows))
        rest = numbers_of(done, solutions.terms).spread(len(rows))
        numbers = numbers.spread(solutions.length).patched(rows, rest)
    return Vector(solutions.length, solutions.terms, numbers=numbers)


@dataclass(frozen=True, slots=True)
class If:
    """``IF``: each branch is evaluated for the rows that take it."""

    condition: Node
    then: Node
    otherwise: Node

    def evaluate(self, solutions: Solutions) -> Vector:
        truth = self.condition.evaluate(solutions).truth()
        out = np.zeros(solutions.length, np.int64)
        for answer, branch in ((TRUE, self.then), (FALSE, self.otherwise)):
            rows = np.flatnonzero(truth == answer)
            if len(rows) == solutions.length:
                return branch.evaluate(solutions)
            if len(rows):
                out[rows] = branch.evaluate(solutions.take(rows)).ids()
        return Vector(solutions.length, solutions.terms, ids=out)


@dataclass(frozen=True, slots=True)
class Coalesce:
    """``COALESCE``: the next choice only for rows still in error."""

    choices: tuple[Node, ...]

    def evaluate(self, solutions: Solutions) -> Vector:
        out = np.zeros(solutions.length, np.int64)
        rows = np.arange(solutions.length)
        for choice in self.choices:
            out[rows] = choice.evaluate(
                solutions if len(rows) == solutions.length else solutions.take(rows)
            ).ids()
            rows = rows[out[rows] == 0]
            if not len(rows):
                break
        return Vector(solutions.length, solutions.terms, ids=out)


@dataclass(frozen=True, slots=True)
class SameTerm:
    """``sameTerm``: equality of ids."""

    left: Node
    right: Node

    def evaluate(self, solutions: Solutions) -> Vector:
        left, right = self.left.evaluate(solutions).ids(), self.right.evaluate(solutions).ids()
        truth = np.where((left == 0) | (right == 0), ERROR, truth_of(left == right))
        return Vector(solutions.length, solutions.terms, truth=truth)


@dataclass(frozen=True, slots=True)
class IsClass:
    """isIRI, isBlank, isLiteral: whether the term is of one of ``classes``."""

    operand: Node
    classes: frozenset[TermClass]

    def evaluate(self, solutions: Solutions) -> Vector:
        ids = self.operand.evaluate(solutions).ids()
        wanted = [int(each) for each in self.classes]
        found = truth_of(np.isin(classes_of(ids, solutions.terms), wanted))
        return Vector(solutions.length, solutions.terms, truth=np.where(ids == 0, ERROR, found))


@dataclass(frozen=True, slots=True)
class IsNumeric:
    """isNumeric: whether the term has a numeric value."""

    operand: Node

    def evaluate(self, solutions: Solutions) -> Vector:
        operand = self.operand.evaluate(solutions)
        found = truth_of(operand.numbers().kind != NOT_A_NUMBER)
        return Vector(solutions.length, solutions.terms, truth=np.where(operand.ids() == 0, ERROR, found))


@dataclass(frozen=True, slots=True)
class Call:
    """Any other function: by ``scalar``."""

    scalar: Scalar
    arguments: tuple[Node, ...]

    def evaluate(self, solutions: Solutions) -> Vector:
        arguments = [argument.evaluate(solutions).ids() for argument in self.arguments]
        return Vector(solutions.length, solutions.terms, ids=self.scalar(arguments, solutions.length))
