"""``translate``: other dialects, the features they lack, and the network of C-SPARQL queries."""

from __future__ import annotations

import pytest

import weir
from shared import ROOT
from weir.language import Dialect, Query, translate, write
from weir.language.algebra.canonical import canonical, equivalent
from weir.language.algebra.query import R2S
from weir.language.algebra.windows import Content, Range, Report

EXAMPLES = ROOT / "examples" / "languages"
NAMED = "SELECT RSTREAM * FROM NAMED WINDOW <w> ON <s> [{}] {{ WINDOW <w> {{ ?x ?p ?y }} }}"
MERGED = "SELECT RSTREAM * FROM WINDOW <w> ON <s> [{}] {{ ?x ?p ?y }}"
CLOSE = "REPORT WINDOW CLOSE, NON EMPTY"
CQELS_LIKE = (
    "SELECT ISTREAM * FROM NAMED WINDOW <w> ON <s> [{} REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG] "
    "PREVIOUS INSTANT {{ WINDOW <w> {{ ?x ?p ?y }} }}"
)


def example(name: str) -> Query:
    return weir.parse((EXAMPLES / f"{name}.rq").read_text())


def text_of(query: Query, dialect: str) -> str:
    text = translate(query, dialect)
    assert isinstance(text, str)
    return text


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
    assert equivalent(there, query)
    assert weir.parse(text_of(there, "csparql")) == query


def test_sparqlstream_to_csparql_and_back() -> None:
    query = example("sparqlstream/listing3")
    there = weir.parse(text_of(query, "csparql"))
    assert there.dialect is Dialect.CSPARQL and there == query
    assert weir.parse(text_of(there, "sparqlstream")) == query


def test_the_translation_of_q2() -> None:
    assert text_of(example("cqels/q2"), "rspql") == (
        "PREFIX lv: <http://deri.org/floorplan/>\n"
        "CONSTRUCT ISTREAM {\n"
        "  ?person1 lv:reachable ?person2 .\n"
        "}\n"
        "FROM NAMED <http://deri.org/floorplan/>\n"
        "FROM NAMED WINDOW <w1> ON <http://deri.org/streams/rfid> "
        "[NOW REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG]\n"
        "FROM NAMED WINDOW <w2> ON <http://deri.org/streams/rfid> "
        "[RANGE PT3S STEP MESSAGE REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG]\n"
        "PREVIOUS INSTANT\n"
        "WHERE {\n"
        "  WINDOW <w1> {\n"
        "    ?person1 lv:detectedAt ?loc1 .\n"
        "  }\n"
        "  WINDOW <w2> {\n"
        "    ?person2 lv:detectedAt ?loc2 .\n"
        "  }\n"
        "  GRAPH <http://deri.org/floorplan/> {\n"
        "    ?loc1 lv:connected ?loc2 .\n"
        "  }\n"
        "}\n"
    )


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
        (MERGED.format("RANGE 5s TICK TUPLE REPORT WINDOW CLOSE, NON EMPTY"), "csparql", "TICK of a window"),
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
        translate(weir.parse(text), dialect)
    assert caught.value.feature.startswith(feature)
    assert "cannot express" in caught.value.primary


def test_reports_that_a_dialect_takes_for_granted_are_hinted_at() -> None:
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(MERGED.format("RANGE 5s")), "csparql")
    assert caught.value.hint == "its windows always report WINDOW CLOSE, NON EMPTY"


def test_computed_every_survives() -> None:
    text = "REGISTER QUERY q COMPUTED EVERY 5s AS SELECT * FROM STREAM <s> [RANGE 30s STEP 10s] { ?x ?p ?y }"
    query = weir.parse(text)
    there = weir.parse(text_of(query, "rspql"))
    assert equivalent(there, query)
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


# The network of section 4


def test_the_network_of_listing_6() -> None:
    """Three queries, as in Listings 4 and 5: two count topics, the third joins the counts."""
    query = example("rspql/listing6")
    network = translate(query, "csparql")
    assert isinstance(network, list)
    names = [name for name, _ in network]
    assert names == [
        "http://example.org/lwinStream",
        "http://example.org/swinStream",
        "http://example.org/out",
    ]
    long, short, joined = (weir.parse(text, "csparql") for _, text in network)
    minute = 60_000_000
    assert [window.kind for window in long.dataset.windows] == [Range(120 * minute, 10 * minute)]
    assert [window.kind for window in short.dataset.windows] == [Range(10 * minute, 10 * minute)]
    assert long.streams == short.streams == ("http://example.org/in",)
    assert [window.kind for window in joined.dataset.windows] == [Range(10 * minute, 10 * minute)] * 2
    assert joined.streams == (long.output, short.output)
    assert joined.output == query.output and joined.form == query.form
    assert all(window.in_default for part in (long, short, joined) for window in part.dataset.windows)


def test_the_network_reads_optional_columns_optionally() -> None:
    window = "[RANGE 10s STEP 5s]"
    query = weir.parse(
        f"PREFIX : <http://e/> SELECT * FROM NAMED WINDOW <a> ON <s> {window} "
        f"FROM NAMED WINDOW <b> ON <s> {window} "
        "{ WINDOW <a> { ?x :p ?y OPTIONAL { ?x :q ?z } } WINDOW <b> { ?x :r ?w } }"
    )
    network = translate(query, "csparql")
    assert isinstance(network, list)
    assert [name for name, _ in network] == ["aStream", "bStream", "query3"]
    assert "OPTIONAL {\n    ?row1 <urn:weir:column:z> ?z ." in network[-1][1]


TWO = (
    "PREFIX : <http://e/> SELECT {op} * FROM NAMED WINDOW <a> ON <s> [{first}] "
    "FROM NAMED WINDOW <b> ON <s> [{second}] {options} "
    "{{ WINDOW <a> {{ {one} }} WINDOW <b> {{ {two} }} {more} }}"
)
PLAIN = {
    "op": "RSTREAM",
    "first": "RANGE 10s STEP 5s",
    "second": "RANGE 5s STEP 5s",
    "options": "",
    "one": "?x :p ?y",
    "two": "?x :q ?z",
    "more": "",
}


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"op": "ISTREAM"}, "ISTREAM"),
        ({"options": "EMPTY"}, "PREVIOUS INSTANT, EMIT AFTER or EMPTY"),
        ({"first": "RANGE 10s STEP 2s"}, "windows whose closes do not fall together"),
        ({"first": "RANGE 7s STEP 5s"}, "windows whose closes do not fall together"),
        ({"first": "TRIPLES 5"}, "windows whose closes do not fall together"),
        ({"first": "RANGE 10s STEP 5s CONTENT BAG"}, "CONTENT BAG"),
        ({"more": "?x :r ?v"}, "patterns on the default graph"),
        ({"one": "GRAPH ?g { ?x :p ?y }"}, "GRAPH inside a window"),
        ({"one": "OPTIONAL { ?x :p ?y }"}, "a report when the window <a> is empty"),
        ({"one": "SELECT (COUNT(*) AS ?n) { ?x :p ?y }"}, "a report when the window <a> is empty"),
    ],
)
def test_what_the_network_would_not_answer_alike_is_refused(change: dict[str, str], feature: str) -> None:
    assert isinstance(translate(weir.parse(TWO.format(**PLAIN)), "csparql"), list)
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(TWO.format(**(PLAIN | change))), "csparql")
    assert caught.value.feature.startswith(feature)


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
