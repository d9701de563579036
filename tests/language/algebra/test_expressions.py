"""Expressions are values: equal where they say the same, usable as keys."""

from __future__ import annotations

import pytest

from weir.errors import SyntaxError
from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.rdf.terms import Variable


def condition(text: str) -> e.Expression:
    found = parse(f"SELECT * {{ FILTER ({text}) }}").pattern
    assert isinstance(found, a.Project) and isinstance(found.pattern, a.Filter)
    return found.pattern.condition


def test_equal_expressions_are_one_key() -> None:
    assert len({condition("?x+1 > ?y"), condition("( ?x + 1 ) > ?y"), condition("?x+1 >= ?y")}) == 2


def test_an_expression_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        condition("!?x").operand = Variable("y")  # type: ignore[misc,union-attr]


@pytest.mark.parametrize("builtin", e.Builtin, ids=lambda builtin: builtin.value)
def test_every_built_in_is_called_by_its_name(builtin: e.Builtin) -> None:
    for count in range(5):
        arguments = ", ".join(["?x"] * count)
        try:
            found = condition(f"{builtin.value}({arguments})")
        except SyntaxError as error:
            assert "arguments" in str(error)
            continue
        assert found == e.Call(builtin, (Variable("x"),) * count)
        return
    raise AssertionError(f"{builtin.value} takes no number of arguments")


def test_an_aggregate_without_operand_counts_solutions() -> None:
    found = parse("SELECT (COUNT(*) AS ?n) { ?x ?p ?y }").pattern
    assert isinstance(found, a.Project) and isinstance(found.pattern, a.Extend)
    group = found.pattern.pattern
    assert isinstance(group, a.Group) and group.aggregates[0][1] == e.Aggregate(e.Aggregation.COUNT)
