"""SUM in two stages for every segment of a sweep: parts that are not rounded, and the sums of parts.

What a part says is in ``rdf.xsd.exact_sums``. Here are the common cases, where all operands have one type;
both functions decline the others, which go the scalar way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.numeric import (
    DECIMAL,
    DOUBLE,
    INTEGER,
    Numbers,
    encode_numbers,
    numbers_of,
    reals,
    single,
)
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.sums import binary_sums, exact_literal, exact_sums, rounded
from weir.kernel.relations.coverage import Operand, Sweep
from weir.rdf.columns import Ids
from weir.rdf.terms import Literal
from weir.rdf.xsd.exact_sums import PART


def parts_of_sums(sweep: Sweep, values: Operand, terms: Terms) -> Ids | None:
    """The part of each segment; None where operands are of several types, not finite or too large."""
    numbers = numbers_of(values.ids, terms)
    if not len(numbers.kind) or (numbers.kind != numbers.kind[0]).any():
        return None
    kind = int(numbers.kind[0])
    if kind not in (INTEGER, DECIMAL, DOUBLE):
        return None
    operands, fits = reals(numbers)
    if not fits.all() or not np.isfinite(operands).all():
        return None
    doubles = _binary(sweep, values, operands)
    if kind == DOUBLE:
        texts = [f"{kind} 0 0/0 {double}" for double in doubles]
    else:
        digits, scale = exact_sums(sweep, values, numbers, np.full(sweep.segments, kind, np.int8))
        exact = [f"{each}E-{scale}" for each in digits.tolist()]
        singles = _binary(sweep, values, single(operands))
        texts = [
            f"{kind} {one} {two} {three}" for one, two, three in zip(exact, singles, doubles, strict=True)
        ]
    return terms.encode_all([Literal(text, PART) for text in texts])


def _binary(sweep: Sweep, values: Operand, operands: NDArray[np.float64]) -> list[str]:
    """The sums of doubles, as a part writes them."""
    spread = np.broadcast_to(operands, len(values.ids))
    totals, base = binary_sums(sweep, values.first, values.last, spread)
    up, down = max(base, 0), max(-base, 0)
    return [f"{total << up}/{down}" for total in totals.tolist()]


def sums_of_parts(sweep: Sweep, values: Operand, terms: Terms) -> Ids | None:
    """The sum of the parts in each segment; None where they are of several types, or not finite."""
    texts = terms.dictionary.texts(values.ids)
    words = [text[1 : text.index('"', 1)].split(" ") for text in texts if text is not None]
    kinds = {int(each[0]) for each in words}
    if len(words) < len(values.ids) or len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind == DOUBLE:
        found = _totals(sweep, values, [each[3] for each in words], "/", 2)
        if found is None:
            return None
        real = np.array([rounded(total, -found[1]) for total in found[0]], np.float64)
        return encode_numbers(Numbers(np.full(1, DOUBLE, np.int8), real=real), sweep.segments, terms)
    found = _totals(sweep, values, [each[1] for each in words], "E-", 10)
    if kind not in (INTEGER, DECIMAL) or found is None:
        return None
    return terms.encode_all([exact_literal(kind, total, 0, found[1]) for total in found[0]])


def _totals(
    sweep: Sweep, values: Operand, texts: list[str], between: str, base: int
) -> tuple[list[int], int] | None:
    """Sums of integers that are to be divided by powers of ``base``, and the power of all of them."""
    split = [text.split(between) for text in texts]
    if any(len(each) != 2 for each in split):
        return None
    most = max(int(power) for _, power in split)
    tops = [int(top) * base ** (most - int(power)) for top, power in split]
    return sweep.sums(values.first, values.last, np.array(tops, object)).tolist(), most
