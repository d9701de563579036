"""All W3C SPARQL 1.0 and 1.1 query syntax tests and all queries of the evaluation tests."""

from __future__ import annotations

import pytest

import weir
from conformance.syntax import Text, read_texts
from shared import shared_dir
from weir.explain import stages
from weir.language import write
from weir.language.presets import PRESETS

TEXTS = read_texts(shared_dir("w3c"))
VALID = [pytest.param(text, id=text.name) for text in TEXTS if text.valid]
INVALID = [pytest.param(text, id=text.name) for text in TEXTS if not text.valid]


def test_the_suites_are_complete() -> None:
    folders = {text.name.rpartition("/")[0] for text in TEXTS}
    assert {f"sparql10/syntax-sparql{n}" for n in range(1, 6)} <= folders
    assert {"sparql11/syntax-query", "sparql11/syntax-fed"} <= folders
    assert len(VALID) >= 800 and len(INVALID) >= 90


@pytest.mark.parametrize("text", VALID)
def test_valid_query_parses(text: Text) -> None:
    query = weir.parse(text.read(), file=text.name, base=text.base)
    assert query.dialect.value == "sparql"


@pytest.mark.parametrize("text", INVALID)
def test_invalid_query_is_refused(text: Text) -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text.read(), file=text.name, base=text.base)
    assert caught.value.line >= 1 and caught.value.column >= 1
    assert str(caught.value).startswith(f"{text.name}:")


@pytest.mark.parametrize("text", VALID)
def test_algebra_to_text_to_algebra_is_the_identity(text: Text) -> None:
    query = weir.parse(text.read(), base=text.base)
    assert weir.parse(write(query)) == query


@pytest.mark.parametrize("text", VALID)
def test_plain_query_means_the_same_in_every_dialect(text: Text) -> None:
    query = weir.parse(text.read(), base=text.base)
    for dialect in PRESETS:
        assert weir.parse(text.read(), dialect.value, base=text.base) == query
        assert weir.parse(write(query, dialect), dialect.value) == query


@pytest.mark.parametrize("text", VALID)
def test_every_stage_can_be_printed(text: Text) -> None:
    printed = stages(weir.parse(text.read(), base=text.base))
    assert list(printed) == ["ast", "algebra", "dataset", "semantics"]
    assert all(printed.values())
