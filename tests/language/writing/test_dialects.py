"""A query as text in each dialect, and the features that a dialect lacks."""

from __future__ import annotations

import pytest

import weir
from shared import ROOT
from weir.language import Dialect, Query
from weir.language.algebra.query import R2S, canonical
from weir.language.algebra.windows import Content, Report
from weir.language.writing.dialects import declared_prefixes, write

EXAMPLES = ROOT / "examples" / "languages"
NAMED = "SELECT RSTREAM * FROM NAMED WINDOW <w> ON <s> [{}] {{ WINDOW <w> {{ ?x ?p ?y }} }}"
MERGED = "SELECT RSTREAM * FROM WINDOW <w> ON <s> [{}] {{ ?x ?p ?y }}"
CLOSE = "REPORT WINDOW CLOSE, NON EMPTY"
CQELS_LIKE = (
    "SELECT ISTREAM * FROM NAMED WINDOW <w> ON <s> [{} REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG "
    "TICK CHANGE] PREVIOUS INSTANT {{ WINDOW <w> {{ ?x ?p ?y }} }}"
)


def example(name: str) -> Query:
    return weir.parse((EXAMPLES / f"{name}.rq").read_text())


def text_of(query: Query, dialect: str) -> str:
    return write(query, Dialect(dialect))


@pytest.mark.parametrize("name", ["q1", "q2", "q3", "q4", "q5", "listing2"])
def test_cqels_to_rspql_and_back(name: str) -> None:
    query = example(f"cqels/{name}")
    text = text_of(query, "rspql")
    assert "REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG" in text and "PREVIOUS INSTANT" in text
    there = weir.parse(text)
    assert there.dialect is Dialect.RSPQL
    assert canonical(there) == canonical(query)
    back = weir.parse(text_of(there, "cqels"))
    assert back == query


@pytest.mark.parametrize("name", ["csparql/listing3", "csparql/listing4", "csparql/listing5"])
def test_csparql_to_rspql_and_back(name: str) -> None:
    query = example(name)
    there = weir.parse(text_of(query, "rspql"))
    assert canonical(there) == canonical(query)
    assert weir.parse(text_of(there, "csparql")) == query


def test_sparqlstream_to_csparql_and_back() -> None:
    query = example("sparqlstream/listing3")
    there = weir.parse(text_of(query, "csparql"))
    assert there.dialect is Dialect.CSPARQL and there == query
    assert weir.parse(text_of(there, "sparqlstream")) == query


@pytest.mark.parametrize(
    ("text", "dialect", "feature"),
    [
        (NAMED.format("NOW"), "sparql", "windows on streams"),
        (NAMED.format("NOW"), "cqels", "RSTREAM"),
        (NAMED.format(f"RANGE 5s {CLOSE}"), "csparql", "patterns on a window of their own"),
        (NAMED.format(f"RANGE 5s {CLOSE}"), "sparqlstream", "patterns on a window of their own"),
        (MERGED.format("RANGE 5s"), "csparql", "REPORT WINDOW CLOSE"),
        (MERGED.format(f"RANGE 5s {CLOSE} CONTENT BAG"), "csparql", "CONTENT BAG"),
        (MERGED.format(f"RANGE 5s {CLOSE} LATENESS 1s"), "csparql", "LATENESS of a window"),
        (MERGED.format(f"RANGE 5s {CLOSE} STARTING AT PT1H"), "sparqlstream", "STARTING AT of a window"),
        (MERGED.format(f'RANGE 5s {CLOSE} BOUNDS "(]"'), "sparqlstream", "BOUNDS of a window"),
        (MERGED.format("RANGE 5s TICK TUPLE REPORT WINDOW CLOSE, NON EMPTY"), "csparql", "TICK TUPLE"),
        (MERGED.format(f"RANGE 5s {CLOSE} TIMES DISTINCT"), "csparql", "TIMES DISTINCT of a window"),
        (MERGED.format(f"RANGE 5s {CLOSE} STARTING AT FIRST"), "csparql", "STARTING AT of a window"),
        (CQELS_LIKE.replace("TICK CHANGE", "TICK BATCH").format("NOW"), "cqels", "TICK BATCH"),
        (MERGED.format("NOW REPORT NON EMPTY"), "csparql", "the window [NOW"),
        (MERGED.format("ELEMENTS 3 REPORT NON EMPTY"), "sparqlstream", "the window [ELEMENTS 3"),
        (MERGED.format(f"FROM NOW-PT9S TO NOW-PT2S {CLOSE}"), "csparql", "the window [FROM NOW-PT9S"),
        (MERGED.replace("RSTREAM", "ISTREAM").format(f"RANGE 5s {CLOSE}"), "csparql", "ISTREAM"),
        (MERGED.replace("{{", "EMPTY {{", 1).format(f"RANGE 5s {CLOSE}"), "sparqlstream", "EMPTY"),
        (MERGED.replace("{{", "EMIT AFTER 5s {{", 1).format(f"RANGE 5s {CLOSE}"), "csparql", "EMIT AFTER"),
        (CQELS_LIKE.format("ELEMENTS 3"), "cqels", "the window [ELEMENTS 3"),
        (CQELS_LIKE.replace("NAMED ", "").replace("WINDOW <w> {{", "{{").format("NOW"), "cqels",
         "a window in the default graph"),
        (CQELS_LIKE.replace("<w> {{", "?w {{").format("NOW"), "cqels", "WINDOW with a variable"),
        (CQELS_LIKE.replace("WINDOW <w> {{", "{{").format("NOW"), "cqels", "a window that is used nowhere"),
        (CQELS_LIKE.replace("?x ?p ?y }}", "?x ?p ?y }} WINDOW <w> {{ ?y ?q ?z }}").format("NOW"), "cqels",
         "a window that is used in two places"),
        ("REGISTER STREAM <o> AS " + CQELS_LIKE.format("NOW"), "cqels", "REGISTER"),
        ("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }", "rspql", "a window on every registered stream"),
    ],
)  # fmt: skip
def test_the_missing_feature_is_named(text: str, dialect: str, feature: str) -> None:
    with pytest.raises(weir.TranslationError) as caught:
        text_of(weir.parse(text), dialect)
    features = [found for found, _ in caught.value.obstacles]
    assert any(found.startswith(feature) for found in features), features
    assert all(reason for _, reason in caught.value.obstacles)
    assert "cannot express" in caught.value.primary


def test_computed_every_survives() -> None:
    text = "REGISTER QUERY q COMPUTED EVERY 5s AS SELECT * FROM STREAM <s> [RANGE 30s STEP 10s] { ?x ?p ?y }"
    query = weir.parse(text)
    there = weir.parse(text_of(query, "rspql"))
    assert canonical(there) == canonical(query)
    assert "COMPUTED EVERY 5s" in text_of(there, "csparql")


def test_window_names_that_are_bound_are_kept() -> None:
    query = weir.parse(
        "SELECT * FROM NAMED WINDOW <b> ON <s> [NOW] FROM NAMED WINDOW <a> ON <s> [ALL] { WINDOW ?w {} }"
    )
    assert canonical(query) == query
    assert weir.parse(write(query)) == query


def test_a_fresh_window_name_does_not_clash() -> None:
    query = weir.parse("SELECT * FROM NAMED WINDOW <w1> ON <s> [NOW] { WINDOW <w1> { ?x ?p ?y } }")
    assert "<w1>" in write(query)
    stream = weir.parse("SELECT * { STREAM <w1> [NOW] { ?x ?p ?y } }")
    assert weir.parse(text_of(stream, "rspql")).streams == ("w1",)


def test_an_ask_cannot_carry_its_operator_unregistered() -> None:
    registered = weir.parse("REGISTER ISTREAM <o> AS ASK FROM WINDOW <w> ON <s> [NOW] { ?x ?p ?y }")
    assert registered.semantics.r2s is R2S.ISTREAM
    assert weir.parse(write(registered)) == registered


def test_spelled_out_semantics_are_the_same_query() -> None:
    silent = weir.parse("SELECT * FROM WINDOW <w> ON <s> [RANGE 5s STEP 1s] { ?x ?p ?y }")
    spelled = weir.parse(
        "SELECT RSTREAM * FROM WINDOW <w> ON <s> [RANGE 5s STEP 1s REPORT WINDOW CLOSE CONTENT GRAPH "
        'TICK BATCH LATENESS PT0S AHEAD P366D BOUNDS "[)"] PREVIOUS EVALUATION EMIT AFTER PT0S { ?x ?p ?y }'
    )
    assert silent == spelled
    assert silent.dataset.windows[0].semantics.report == Report(window_close=True)
    assert silent.dataset.windows[0].semantics.content is Content.GRAPH


def test_the_prefixes_of_a_text_are_used_again() -> None:
    query = weir.parse("PREFIX : <http://e/> PREFIX x: <http://x/> SELECT * { ?s :p ?o }")
    assert declared_prefixes(query) == {"": "http://e/", "x": "http://x/"}
    assert write(query).startswith("PREFIX : <http://e/>\nSELECT ?s ?o\n")
