"""Finding the dialect, and what each one has and has not."""

from __future__ import annotations

import pytest

import weir
from weir.language import Dialect
from weir.language.algebra.query import R2S, Previous
from weir.language.dialects import PRESETS, Feature
from weir.language.syntax import cursor

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


def test_every_feature_belongs_to_a_dialect() -> None:
    assert set().union(*(preset.features for preset in PRESETS.values())) == set(Feature)


def test_keywords_in_any_case() -> None:
    assert weir.parse(RSPQL.lower().replace("pt", "PT").replace("<W>", "<w>")) == weir.parse(RSPQL)
    assert weir.parse(CSPARQL.replace("FROM STREAM", "from Stream")) == weir.parse(CSPARQL)


@pytest.mark.parametrize(
    "text",
    [
        "REGISTER RSTREAM <out> AS SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { WINDOW <w> { ?a ?b ?c } }",
        "REGISTER STREAM <out> AS SELECT RSTREAM * FROM NAMED WINDOW <w> ON STREAM <s> [NOW] {}",
        "REGISTER <out> AS SELECT * FROM NAMED WINDOW ON STREAM <s> [NOW] AS <w> { WINDOW <w> { ?a ?b ?c } }",
        "REGISTER RSTREAM STREAM <out> AS SELECT RSTREAM * FROM NAMED ON <s> [NOW] AS <w> { WINDOW <w> {} }",
    ],
)
def test_spellings_of_rspql(text: str) -> None:
    query = weir.parse(text)
    assert query.output == "out"
    assert query.streams == ("s",)
    assert query.dataset.windows[0].name == "w"
    assert query.semantics.r2s is R2S.RSTREAM


def test_contradicting_operators() -> None:
    with pytest.raises(weir.SyntaxError, match="contradicts"):
        weir.parse("REGISTER RSTREAM <out> AS SELECT ISTREAM * FROM WINDOW <w> ON <s> [NOW] {}")


def test_rspql_wants_its_prologue_first() -> None:
    text = "REGISTER RSTREAM <out> AS PREFIX : <http://e/> SELECT * FROM WINDOW <w> ON <s> [NOW] {}"
    with pytest.raises(weir.SyntaxError, match="REGISTER before the prefixes"):
        weir.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "REGISTER QUERY Name AS PREFIX : <e/> SELECT * FROM STREAM <s> [RANGE 5s] { ?x :p ?y }",
        "PREFIX : <e/> REGISTER QUERY Name AS SELECT * FROM STREAM <s> [RANGE 5 s TUMBLING] { ?x :p ?y }",
        "PREFIX : <e/> REGISTER STREAM Name AS SELECT * FROM NAMED STREAM <s> [RANGE 5s] { ?x :p ?y }",
    ],
)
def test_spellings_of_csparql(text: str) -> None:
    query = weir.parse(text)
    assert query.dialect is Dialect.CSPARQL and query.output == "Name"
    assert query == weir.parse(
        "PREFIX : <e/> REGISTER QUERY <Name> AS SELECT * FROM STREAM <s> [RANGE 5s STEP 5s] { ?x :p ?y }"
    )


def test_csparql_empty_option() -> None:
    assert weir.parse("SELECT * FROM STREAM <s> [RANGE 5s] EMPTY { ?x ?p ?y }").semantics.report_empty


def test_relative_iris_work_without_base() -> None:
    query = weir.parse(
        "REGISTER STREAM <out> AS SELECT * FROM NAMED WINDOW <w1> ON <in> [NOW] { WINDOW <w1> {} }"
    )
    assert (query.output, query.streams, query.dataset.windows[0].name) == ("out", ("in",), "w1")
    based = weir.parse("SELECT * FROM NAMED WINDOW <w> ON <in> [NOW] {}", base="http://b/x/")
    assert based.streams == ("http://b/x/in",)


def test_options_of_a_query() -> None:
    query = weir.parse(
        "SELECT DSTREAM * FROM WINDOW <w> ON <s> [NOW] EMIT AFTER PT5S EMPTY PREVIOUS INSTANT WHERE {}"
    )
    semantics = query.semantics
    assert (semantics.r2s, semantics.previous) == (R2S.DSTREAM, Previous.INSTANT)
    assert (semantics.emit_after, semantics.report_empty) == (5_000_000, True)
    with pytest.raises(weir.SyntaxError, match="EMPTY is given twice"):
        weir.parse("SELECT * FROM WINDOW <w> ON <s> [NOW] EMPTY EMPTY {}")
