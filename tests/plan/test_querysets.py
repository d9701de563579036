"""Several queries in one text."""

from __future__ import annotations

import pytest

import weir
from weir.plan.querysets import parse_queries

ONE = "REGISTER <one> AS SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <p> ?o } }"
TWO = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <q> ?o } }"


def test_a_text_of_several_queries():
    found = parse_queries(f"{ONE}\n---\n\n{TWO}\n-----\n\n", "rules")
    assert list(found) == ["one", "rules-2"]
    assert found["rules-2"] == weir.parse(TWO)


def test_an_error_counts_lines_from_the_top():
    with pytest.raises(weir.SyntaxError) as caught:
        parse_queries(f"{ONE}\n---\n\nSELECT ?x WHERE {{ ?x <p> }}\n", "rules")
    assert (caught.value.line, caught.value.file) == (4, "rules")


def test_names_are_unique():
    with pytest.raises(weir.UsageError, match="two queries are called 'one'"):
        parse_queries(f"{ONE}\n---\n{ONE}")


def test_the_only_query_of_a_text_has_its_name():
    assert list(parse_queries(TWO, "rules")) == ["rules"]
    assert list(parse_queries(f"---\n{TWO}\n---\n", "rules")) == ["rules"]
