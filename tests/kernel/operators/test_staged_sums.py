"""Parts of sums by columns are those of the scalar way, and so are their sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import aggregate
from weir.kernel.operators.staged_sums import parts_of_sums, sums_of_parts
from weir.kernel.relations.coverage import Operand, Sweep
from weir.language.algebra.expressions import Aggregate, Aggregation, StagedSum
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Literal, Variable
from weir.rdf.xsd.exact_sums import ExactSum
from weir.rdf.xsd.numbers import Number, NumericKind, literal_of

KINDS = {
    "integers": st.integers(-(10**15), 10**15).map(lambda n: literal_of(Number(NumericKind.INTEGER, n))),
    "decimals": st.decimals(-100, 100, places=2).map(lambda n: literal_of(Number(NumericKind.DECIMAL, n))),
    "doubles": st.floats(-1e9, 1e9).map(lambda n: literal_of(Number(NumericKind.DOUBLE, n))),
}


def over(rows: list[tuple[int, int, int]]) -> tuple[Sweep, Operand]:
    """Rows of (id, start, end) of one group."""
    ids, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    nothing = np.zeros(len(rows), np.int64)
    sweep = Sweep(nothing, start, end)
    return sweep, Operand(ids, *sweep.ranges(nothing, start, end))


@pytest.mark.parametrize("kind", KINDS)
def test_both_stages_by_columns(kind: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(KINDS[kind], st.integers(0, 4)), min_size=1, max_size=12))
    def holds(drawn: list[tuple[Literal, int]]) -> None:
        terms = Terms(Dictionary())
        rows = [(terms.encode(term), start, start + 2) for term, start in drawn]
        sweep, values = over(rows)
        parts = parts_of_sums(sweep, values, terms)
        assert parts is not None
        for segment, part in enumerate(parts.tolist()):
            inside = [
                term
                for (term, _), first, last in zip(drawn, values.first, values.last, strict=True)
                if first <= segment < last
            ]
            if inside:
                whole = aggregate(Aggregate(StagedSum.PART, Variable("v")), inside)
                assert isinstance(whole, Literal)
                found = terms.term(part)
                assert isinstance(found, Literal) and ExactSum.read(found) == ExactSum.read(whole)
        again = over([(part, 0, 1) for part in parts[np.flatnonzero(parts)].tolist()])
        found_ids = sums_of_parts(*again, terms)
        assert found_ids is not None
        every = [terms.term(part) for part in parts.tolist()]
        assert terms.term(int(found_ids[0])) == aggregate(Aggregate(StagedSum.WHOLE, Variable("v")), every)

    holds()


def test_several_types_go_the_scalar_way() -> None:
    terms = Terms(Dictionary())
    one, two = Literal("1", KINDS_OF[0]), Literal("2.5E0", KINDS_OF[1])
    mixed = over([(terms.encode(one), 0, 1), (terms.encode(two), 0, 1)])
    assert parts_of_sums(*mixed, terms) is None
    parts = [aggregate(Aggregate(StagedSum.PART, Variable("v")), [each]) for each in (one, two)]
    assert sums_of_parts(*over([(terms.encode(part), 0, 1) for part in parts]), terms) is None
    whole = aggregate(Aggregate(StagedSum.WHOLE, Variable("v")), parts)
    assert whole == aggregate(Aggregate(Aggregation.SUM, Variable("v")), [one, two])


KINDS_OF = ("http://www.w3.org/2001/XMLSchema#integer", "http://www.w3.org/2001/XMLSchema#double")
