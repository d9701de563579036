"""Property: text → algebra → text → algebra is the identity, in one dialect and between dialects."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

import weir
from language.texts import QUERIES, SCALE, STREAM_QUERIES
from weir.language import Dialect, Query, write
from weir.language.algebra.query import canonical

BOUNDED = settings(
    max_examples=300 * SCALE,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def parsed(text: str) -> Query:
    """The random texts follow the grammar, not all of its static rules: those that break one are left out."""
    try:
        return weir.parse(text)
    except weir.SyntaxError as error:
        assert not error.primary.startswith("expected"), f"{error}\n{text}"
        assume(False)
        raise


def test_a_window_whose_name_begins_with_a_dot_keeps_it() -> None:
    text = "SELECT * FROM NAMED WINDOW <.w> ON <s> [NOW] WHERE { WINDOW ?w { ?s ?p ?o } }"
    assert canonical(weir.parse(write(weir.parse(text)))) == canonical(weir.parse(text))


@BOUNDED
@given(QUERIES)
def test_sparql_through_text(text: str) -> None:
    query = parsed(text)
    written = write(query)
    assert weir.parse(written) == query, written


@BOUNDED
@given(STREAM_QUERIES)
def test_stream_dialects_through_their_own_text(text: str) -> None:
    query = parsed(text)
    written = write(query)
    assert canonical(weir.parse(written)) == canonical(query), written


@BOUNDED
@given(STREAM_QUERIES)
def test_translation_keeps_algebra_and_semantics(text: str) -> None:
    query = parsed(text)
    for dialect in Dialect:
        try:
            written = write(query, dialect)
        except weir.TranslationError as error:
            assert error.feature
            continue
        there = weir.parse(written, dialect.value)
        assert there.dialect is dialect
        assert canonical(there) == canonical(query), written
        assert canonical(weir.parse(write(there, query.dialect))) == canonical(query)


@pytest.mark.parametrize("length", [2, 64, 65, 128, 200, 1000])
def test_long_chains_become_balanced_trees_and_come_back(length: int) -> None:
    choices = " || ".join(f"?x = {n}" for n in range(length))
    branches = " UNION ".join(f"{{ ?x :p {n} }}" for n in range(length))
    query = weir.parse(f"PREFIX : <http://e/> SELECT * {{ {branches} FILTER ({choices}) }}")
    assert weir.parse(write(query)) == query
