"""The set functions (section 18.5.1) over the values of one group; None stands for an error or unbound.

None depends on the order of its operands: SUM adds exactly and rounds once, SAMPLE and GROUP_CONCAT follow
the canonical order of terms (decision semantics-values, 5 to 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from weir.kernel.functions import strings
from weir.kernel.functions.builtins import str_
from weir.kernel.functions.operators import ExpressionError, canonical_key, extreme, number_of
from weir.language.algebra.expressions import Aggregate, Aggregation, StagedSum
from weir.rdf.terms import Literal, Term
from weir.rdf.xsd.exact_sums import ExactSum, total_of
from weir.rdf.xsd.numbers import (
    XSD_INTEGER,
    Number,
    NumericError,
    NumericKind,
    divide,
    literal_of,
    total,
)


def aggregate(aggregate: Aggregate, values: Sequence[Term | None]) -> Term:
    """The outcome for one group. ``COUNT(*)`` is given one value per solution, any but None.

    Distinct values are told apart as terms; an error counts as no value where it is skipped at all.
    """
    if aggregate.distinct:
        values = list(dict.fromkeys(values))
    if aggregate.function is Aggregation.GROUP_CONCAT:
        return _group_concat(_all_bound(values), aggregate.separator)
    return _FUNCTIONS[aggregate.function](values)


def _all_bound(values: Sequence[Term | None]) -> list[Term]:
    bound = [value for value in values if value is not None]
    if len(bound) < len(values):
        raise ExpressionError("an operand of an aggregate is an error")
    return bound


def _count(values: Sequence[Term | None]) -> Term:
    return Literal(str(sum(value is not None for value in values)), XSD_INTEGER)


def _sum(values: Sequence[Term | None], *, mean: bool = False) -> Term:
    """SUM, and AVG as its ``mean``; that of nothing is 0."""
    try:
        whole = total(number_of(value) for value in _all_bound(values))
        if mean and values:
            whole = divide(whole, Number(NumericKind.INTEGER, len(values)))
    except NumericError as error:
        raise ExpressionError(str(error)) from None
    return literal_of(whole)


def _partial_sum(values: Sequence[Term | None]) -> Term:
    try:
        return total_of(ExactSum.of(number_of(value)) for value in _all_bound(values)).literal
    except NumericError as error:
        raise ExpressionError(str(error)) from None


def _sum_of_parts(values: Sequence[Term | None]) -> Term:
    parts = [ExactSum.read(value) for value in _all_bound(values) if isinstance(value, Literal)]
    try:
        return literal_of(total_of(parts).number)
    except NumericError as error:
        raise ExpressionError(str(error)) from None


def _extreme(greatest: bool) -> Callable[[Sequence[Term | None]], Term]:
    def function(values: Sequence[Term | None]) -> Term:
        found = extreme(_all_bound(values), greatest=greatest)
        if found is None:
            raise ExpressionError("the extreme of nothing")
        return found

    return function


def _sample(values: Sequence[Term | None]) -> Term:
    bound = [value for value in values if value is not None]
    if not bound:
        raise ExpressionError("a sample of nothing")
    return min(bound, key=canonical_key)


def _group_concat(values: Sequence[Term], separator: str) -> Term:
    texts = [str_(value).lexical for value in sorted(values, key=canonical_key)]
    return Literal(joined(texts, separator))


def joined(texts: Sequence[str], separator: str) -> str:
    """The texts with the separator between them; an error where that is too long for a string."""
    strings.bounded(sum(map(len, texts)) + len(separator) * (len(texts) - 1))
    return separator.join(texts)


_FUNCTIONS: dict[Aggregation | StagedSum, Callable[[Sequence[Term | None]], Term]] = {
    Aggregation.COUNT: _count,
    Aggregation.SUM: _sum,
    Aggregation.AVG: partial(_sum, mean=True),
    Aggregation.MIN: _extreme(greatest=False),
    Aggregation.MAX: _extreme(greatest=True),
    Aggregation.SAMPLE: _sample,
    StagedSum.PART: _partial_sum,
    StagedSum.WHOLE: _sum_of_parts,
}
