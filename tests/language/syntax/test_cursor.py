"""A place in the tokens: what is expected there, and which dialects the text still fits."""

from __future__ import annotations

import pytest

import weir
from weir.language import Dialect
from weir.language.presets import PRESETS, Feature
from weir.language.syntax import cursor
from weir.language.syntax.cursor import Cursor
from weir.language.syntax.lexer import Source, Tokens

RSPQL = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP PT5S] { WINDOW <w> { ?a ?b ?c } }"
CQELS = "SELECT * { STREAM <s> [RANGE 10s SLIDE 5s] { ?a ?b ?c } }"
CSPARQL = "SELECT * FROM STREAM <s> [RANGE 10s STEP 5s] { ?a ?b ?c }"
SPARQLSTREAM = "SELECT * FROM NAMED STREAM <s> [NOW - 10 S TO NOW SLIDE 5 S] { ?a ?b ?c }"
TEXTS = {
    Dialect.SPARQL: "SELECT * { ?a ?b ?c }",
    Dialect.RSPQL: RSPQL,
    Dialect.CQELS: CQELS,
    Dialect.CSPARQL: CSPARQL,
    Dialect.SPARQLSTREAM: SPARQLSTREAM,
}


def at(text: str, dialect: Dialect | None = None) -> Cursor:
    return Cursor(Tokens(Source(text)), dialect)


def test_reading() -> None:
    place = at("SELECT ( x")
    assert not place.accept("(")
    place.expect("SELECT")
    assert place.accept("(") and place.i == 2
    assert place.shown(3) == "the end of the query"


def test_a_construct_narrows_the_dialects() -> None:
    place = at("x")
    place.use(Feature.NOW)
    assert [preset.dialect for preset in place.presets] == [Dialect.RSPQL, Dialect.CQELS]
    place.use(Feature.STREAM_PATTERN)
    assert [preset.dialect for preset in place.presets] == [Dialect.CQELS]
    with pytest.raises(weir.SyntaxError, match="FROM WINDOW is RSP-QL, but this query is CQELS-QL"):
        place.use(Feature.FROM_WINDOW)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELEKT", "did you mean SELECT?"),
        ("loc2", "?loc2"),
        ('"abc', "not closed on its line"),
        ("`", "straight quotes"),
        ("<a b>", "no spaces"),
    ],
)
def test_a_hint_for_what_commonly_goes_wrong(text: str, hint: str) -> None:
    assert hint in (at(text).expected("something").hint or "")


@pytest.mark.parametrize("dialect", TEXTS)
def test_auto_finds_the_dialect(dialect: Dialect) -> None:
    query = weir.parse(TEXTS[dialect])
    assert query.dialect is dialect
    assert query == weir.parse(TEXTS[dialect], dialect.value)


@pytest.mark.parametrize("dialect", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_a_dialect_refuses_the_others(dialect: Dialect, other: Dialect) -> None:
    """Plain SPARQL is in all of them; nothing else of one is in another."""
    if dialect in (other, Dialect.SPARQL):
        assert weir.parse(TEXTS[dialect], other.value).dialect is other
        return
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(TEXTS[dialect], other.value)
    assert caught.value.primary.startswith(f"{PRESETS[other].title} has no ")
    assert PRESETS[dialect].title in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT ISTREAM * { STREAM <s> [NOW] { ?a ?b ?c } }", "STREAM in a pattern is CQELS-QL"),
        (
            "SELECT * FROM STREAM <s> [RANGE 5s] { STREAM <s> [NOW] { ?a ?b ?c } }",
            "but this query is C-SPARQL",
        ),
        (
            "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] FROM STREAM <s> [RANGE 5s] {}",
            "FROM STREAM is C-SPARQL",
        ),
        ("REGISTER STREAM <o> AS SELECT ISTREAM * FROM STREAM <s> [RANGE 5s] {}", "FROM STREAM is C-SPARQL"),
    ],
)
def test_a_mixture_fits_no_dialect_and_the_reason_is_given(text: str, reason: str) -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text)
    assert reason in caught.value.primary
    assert "one query is written in one dialect" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "REGISTER STREAM <out> AS CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c }",
        "SELECT ISTREAM * { ?a ?b ?c }",
        "SELECT * EMPTY { ?a ?b ?c }",
    ],
)
def test_what_fits_two_dialects_means_the_same_in_both(text: str) -> None:
    fits = []
    for dialect in Dialect:
        try:
            fits.append(weir.parse(text, dialect.value))
        except weir.SyntaxError:
            continue
    assert len(fits) == 2
    assert fits[0] == fits[1] == weir.parse(text)


def test_what_fits_two_dialects_that_disagree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No construct of today is so shared; were TUMBLING in FROM STREAM SPARQLstream's too, it would be."""
    masks = dict(cursor._MASKS)
    masks[Feature.FROM_STREAM] = masks[Feature.STREAM_PATTERN] | masks[Feature.FROM_STREAM]
    monkeypatch.setattr(cursor, "_MASKS", masks)
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse("SELECT * FROM STREAM <s> [RANGE 5s] { ?a ?b ?c }")
    assert caught.value.primary == "the query fits CQELS-QL and C-SPARQL, which give it different meanings"
    assert caught.value.hint == "say which with the dialect cqels or csparql"


def test_keywords_in_any_case() -> None:
    assert weir.parse(RSPQL.lower().replace("pt", "PT").replace("<W>", "<w>")) == weir.parse(RSPQL)
    assert weir.parse(CSPARQL.replace("FROM STREAM", "from Stream")) == weir.parse(CSPARQL)
