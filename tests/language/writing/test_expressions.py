"""Expressions as text, with no more brackets than they need."""

from __future__ import annotations

import pytest

from language.algebra_kit import where
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.writing.expressions import ExpressionWriter
from weir.language.writing.terms import Terms
from weir.rdf.terms import Variable


def condition(text: str) -> e.Expression:
    found = where(f"FILTER ({text})")
    assert isinstance(found, a.Filter)
    return found.condition


@pytest.mark.parametrize(
    "text",
    [
        "?x || ?y && !?z",
        "(?x || ?y) && ?z",
        "?x - (?y - 1)",
        "?x - ?y - 1",
        "(?x + 1) * -?y",
        "-(5)",
        "?x + 1 > 2 * ?y",
        "?x NOT IN (1, 2)",
        "IF(BOUND(?x), STR(?x), COALESCE(?y, 1))",
        "<http://e/f>(DISTINCT ?x)",
    ],
)
def test_text_is_what_was_read(text: str) -> None:
    assert ExpressionWriter(Terms({})).expression(condition(text)) == text


def test_a_variable_of_a_group_is_its_aggregate() -> None:
    writer = ExpressionWriter(Terms({}))
    writer.aggregates[Variable(".a0")] = e.Aggregate(e.Aggregation.GROUP_CONCAT, Variable("x"), True, ", ")
    assert writer.expression(Variable(".a0")) == 'GROUP_CONCAT(DISTINCT ?x ; SEPARATOR = ", ")'
