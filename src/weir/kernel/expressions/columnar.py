"""Compiled expressions: functions from columns of solutions to a ``Vector``, put together node by node.

Operators with SPARQL's own rules for errors (17.2) are here; arithmetic and comparisons call the columnar
functions and finish the rest the scalar way: by ``kernel.functions``, once per distinct combination of their
arguments' ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np

from weir.kernel.expressions.comparison import UNDONE, classes_of, compare
from weir.kernel.expressions.numeric import Numbers, calculate, numbers_of
from weir.kernel.expressions.term_cache import EXOTIC, NOT_A_NUMBER, TermClass, Terms
from weir.kernel.expressions.vector import ERROR, FALSE, TRUE, Truth, Vector, effective, truth_of
from weir.kernel.functions import Context, value_or_none
from weir.kernel.relations.keys import codes
from weir.language.algebra.expressions import Arithmetic, Comparison, Expression
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import Term

_REMEMBERED = 1 << 16
_FEW = 16
_NOTHING = np.zeros(1, np.int64)


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

    def ids(self, ids: Ids) -> Vector:
        """Values of these solutions by their ids."""
        return Vector(self.length, self.terms, ids=ids)

    def truth(self, truth: Truth) -> Vector:
        """Values of these solutions that are true, false or an error."""
        return Vector(self.length, self.terms, truth=truth)


Node: TypeAlias = Callable[[Solutions], Vector]
"""A compiled expression."""


class Scalar:
    """``template`` is an expression over the variables ``names``, which stand for the arguments.

    Where it is ``strict``, an argument in error is an error of the whole. Outcomes are remembered between
    calls, within bounds and while the dictionary keeps their texts: what comes here depends on nothing but
    its arguments.
    """

    def __init__(
        self, template: Expression, names: Sequence[str], terms: Terms, context: Context, *, strict: bool
    ) -> None:
        self.names = tuple(names)
        self._template = template
        self._terms = terms
        self._context = context
        self._strict = strict
        self._known: dict[tuple[int, ...], int] = {}
        self._generation = terms.refresh()

    def __call__(self, arguments: Sequence[Ids], length: int) -> Ids:
        """The outcome's id for each row, 0 on error."""
        if length <= _FEW or not arguments:
            rows = list(zip(*(ids.tolist() for ids in arguments), strict=True)) if arguments else [()]
            found = self.values(rows)
            return np.array(found, np.int64) if arguments else np.full(length, found[0])
        numbers, firsts = codes(arguments, length)
        distinct = list(zip(*(ids[firsts].tolist() for ids in arguments), strict=True))
        return np.array(self.values(distinct), np.int64)[numbers]

    def values(self, combinations: Sequence[tuple[int, ...]]) -> list[int]:
        """The outcome's id for each combination of the arguments' ids."""
        generation = self._terms.refresh()
        if self._generation != generation:
            self._generation = generation
            self._known.clear()
        known = self._known
        try:
            return [known[ids] for ids in combinations]
        except KeyError:
            pass
        new = [ids for ids in dict.fromkeys(combinations) if ids not in known]
        if len(known) + len(new) > _REMEMBERED:
            known = self._known = {ids: known[ids] for ids in combinations if ids in known}
        if len(new) == 1:
            known[new[0]] = self._terms.encode(self._value(new[0]))
        else:
            outcomes = self._terms.encode_all([self._value(ids) for ids in new])
            known.update(zip(new, outcomes.tolist(), strict=True))
        return [known[ids] for ids in combinations]

    def _value(self, ids: tuple[int, ...]) -> Term | None:
        if self._strict and not all(ids):
            return None
        solution = {name: self._terms.term(each) for name, each in zip(self.names, ids, strict=True) if each}
        return value_or_none(self._template, solution, self._context)


def constant(identifier: int, terms: Terms) -> Node:
    """One term for all rows; its forms are made once."""
    ids = np.full(1, identifier, np.int64)
    numbers, truth = numbers_of(ids, terms), effective(ids, terms)
    return lambda solutions: Vector(solutions.length, terms, ids=ids, numbers=numbers, truth=truth)


def column(name: str) -> Node:
    """A variable; unbound where there is no such column."""
    return lambda solutions: solutions.ids(solutions.columns.get(name, _NOTHING))


def bound(name: str) -> Node:
    """``BOUND``."""
    return lambda solutions: solutions.truth(truth_of(solutions.columns.get(name, _NOTHING) != 0))


def either(parts: Sequence[Node]) -> Node:
    """``||`` as the maximum of truths."""
    return lambda solutions: solutions.truth(reduce(np.maximum, (part(solutions).truth() for part in parts)))


def both(parts: Sequence[Node]) -> Node:
    """``&&`` as the minimum of truths."""
    return lambda solutions: solutions.truth(reduce(np.minimum, (part(solutions).truth() for part in parts)))


def negation(operand: Node) -> Node:
    """``!``."""
    return lambda solutions: solutions.truth(TRUE - operand(solutions).truth())


def comparison(operator: Comparison, left: Node, right: Node, scalar: Scalar) -> Node:
    """A comparison; ``scalar`` finishes what the columnar ways leave."""
    return lambda solutions: solutions.truth(
        _compared(operator, left(solutions), right(solutions), scalar, solutions.terms)
    )


def _compared(operator: Comparison, left: Vector, right: Vector, scalar: Scalar, terms: Terms) -> Truth:
    truth = compare(operator, left, right, terms)
    rows = np.flatnonzero(truth == UNDONE)
    if len(rows):
        truth = truth.copy()
        truth[rows] = effective(scalar([left.ids_at(rows), right.ids_at(rows)], len(rows)), terms)
    return truth


def member(operand: Node, choices: Sequence[Node], equals: Scalar, *, negated: bool) -> Node:
    """``[NOT] IN``: a disjunction of equalities."""

    def node(solutions: Solutions) -> Vector:
        sought = operand(solutions)
        truth = np.where(sought.ids() == 0, ERROR, FALSE)
        for choice in choices:
            equal = _compared(Comparison.EQ, sought, choice(solutions), equals, solutions.terms)
            truth = np.maximum(truth, equal)
        return solutions.truth(TRUE - truth if negated else truth)

    return node


def calculation(operator: Arithmetic, left: Node, right: Node, scalar: Scalar) -> Node:
    """Arithmetic on two numbers."""

    def node(solutions: Solutions) -> Vector:
        one, two = left(solutions), right(solutions)
        numbers, pending = calculate(operator, one.numbers(), two.numbers())
        return _finish(numbers, pending, scalar, (one, two), solutions)

    return node


def numeric_function(function: Callable[[Numbers], Numbers], operand: Node, scalar: Scalar) -> Node:
    """A function of one number, by ``function`` on columns."""

    def node(solutions: Solutions) -> Vector:
        value = operand(solutions)
        numbers = value.numbers()
        return _finish(function(numbers), numbers.kind == EXOTIC, scalar, (value,), solutions)

    return node


def _finish(
    numbers: Numbers, pending: Mask, scalar: Scalar, arguments: Sequence[Vector], solutions: Solutions
) -> Vector:
    if pending.any():
        rows = np.flatnonzero(np.broadcast_to(pending, solutions.length))
        done = scalar([argument.ids_at(rows) for argument in arguments], len(rows))
        rest = numbers_of(done, solutions.terms).spread(len(rows))
        numbers = numbers.spread(solutions.length).patched(rows, rest)
    return Vector(solutions.length, solutions.terms, numbers=numbers)


def choice(condition: Node, then: Node, otherwise: Node) -> Node:
    """``IF``: each branch is evaluated for the rows that take it."""

    def node(solutions: Solutions) -> Vector:
        truth = condition(solutions).truth()
        out = np.zeros(solutions.length, np.int64)
        for answer, branch in ((TRUE, then), (FALSE, otherwise)):
            rows = np.flatnonzero(truth == answer)
            if len(rows) == solutions.length:
                return branch(solutions)
            if len(rows):
                out[rows] = branch(solutions.take(rows)).ids()
        return solutions.ids(out)

    return node


def coalesce(choices: Sequence[Node]) -> Node:
    """``COALESCE``: the next choice only for rows still in error."""

    def node(solutions: Solutions) -> Vector:
        out = np.zeros(solutions.length, np.int64)
        rows = np.arange(solutions.length)
        for each in choices:
            out[rows] = each(solutions if len(rows) == solutions.length else solutions.take(rows)).ids()
            rows = rows[out[rows] == 0]
            if not len(rows):
                break
        return solutions.ids(out)

    return node


def same_term(left: Node, right: Node) -> Node:
    """``sameTerm``: equality of ids."""

    def node(solutions: Solutions) -> Vector:
        one, two = left(solutions).ids(), right(solutions).ids()
        return solutions.truth(np.where((one == 0) | (two == 0), ERROR, truth_of(one == two)))

    return node


def is_class(operand: Node, classes: Sequence[TermClass]) -> Node:
    """isIRI, isBlank, isLiteral: whether the term is of one of ``classes``."""

    def node(solutions: Solutions) -> Vector:
        ids = operand(solutions).ids()
        found = truth_of(np.isin(classes_of(ids, solutions.terms), list(classes)))
        return solutions.truth(np.where(ids == 0, ERROR, found))

    return node


def is_numeric(operand: Node) -> Node:
    """isNumeric: whether the term has a numeric value."""

    def node(solutions: Solutions) -> Vector:
        value = operand(solutions)
        found = truth_of(value.numbers().kind != NOT_A_NUMBER)
        return solutions.truth(np.where(value.ids() == 0, ERROR, found))

    return node


def call(scalar: Scalar, arguments: Sequence[Node]) -> Node:
    """Any other function: by ``scalar``."""
    return lambda solutions: solutions.ids(
        scalar([argument(solutions).ids() for argument in arguments], solutions.length)
    )
