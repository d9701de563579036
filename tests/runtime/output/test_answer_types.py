"""The columns of answers before there are any, as Spark declares them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from weir.errors import UsageError
from weir.language import parse
from weir.runtime.output.answer_types import answer_types

HEAD = "FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x ?p ?y } }"


@pytest.mark.parametrize(
    ("form", "types", "columns"),
    [
        ("SELECT ?x (COUNT(?y) AS ?n)", "auto", "`x` string, `n` bigint"),
        ("SELECT ?x (COUNT(?y) AS ?n)", "ntriples", "`x` string, `n` string"),
        ("SELECT ?x ?y", {"y": "decimal"}, "`x` string, `y` decimal(38,18)"),
        ("CONSTRUCT { ?x ?p ?y }", "auto", "`subject` string, `predicate` string, `object` string"),
        ("ASK", "auto", "`boolean` boolean"),
    ],
)
def test_columns_of_answers(form: str, types: Any, columns: str) -> None:
    grouped = " GROUP BY ?x" if "COUNT" in form else ""
    found = answer_types(parse(f"{form} {HEAD}{grouped}"), types)
    assert found.ddl == f"`at` timestamp, `op` string, {columns}"


@pytest.mark.parametrize(
    ("form", "types", "said"),
    [
        ("SELECT ?x", {"z": "long"}, r"\?z, which the query does not select"),
        ("SELECT ?x", {"x": "int"}, "cannot be 'int'"),
        ("SELECT ?x", "typed", "types is 'typed'"),
        ("SELECT (?x AS ?at)", "auto", r"\?at has the name of a column"),
        ("CONSTRUCT { ?x ?p ?y }", {"subject": "string"}, "for SELECT"),
    ],
)
def test_types_that_cannot_be_are_refused(form: str, types: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        answer_types(parse(f"{form} {HEAD}"), types)


def test_values_of_another_type_are_counted() -> None:
    found = answer_types(parse(f"SELECT ?x ?y {HEAD}"), {"y": "double"})
    texts = [pa.chunked_array([each]) for each in (["<urn:a>"], ['"hot"'])]
    made, left_out = found.values(pa.table(dict(zip(("x", "y"), texts, strict=True))))
    assert {name: values.to_pylist() for name, values in made.items()} == {"x": ["urn:a"], "y": [None]}
    assert left_out == 1
