"""``translate``: a query in another dialect, and the network of C-SPARQL queries."""

from __future__ import annotations

import pytest

import weir
from shared import ROOT
from weir.language import Query
from weir.language.algebra.windows import Range
from weir.language.writing.translation import network, translate

EXAMPLES = ROOT / "examples" / "languages"
MERGED = "SELECT RSTREAM * FROM WINDOW <w> ON <s> [{}] {{ ?x ?p ?y }}"


def example(name: str) -> Query:
    return weir.parse((EXAMPLES / f"{name}.rq").read_text())


def text_of(query: Query, dialect: str) -> str:
    text = translate(query, dialect)
    assert isinstance(text, str)
    return text


def test_the_translation_of_q2() -> None:
    assert text_of(example("cqels/q2"), "rspql") == (
        "PREFIX lv: <http://deri.org/floorplan/>\n"
        "CONSTRUCT ISTREAM {\n"
        "  ?person1 lv:reachable ?person2 .\n"
        "}\n"
        "FROM NAMED <http://deri.org/floorplan/>\n"
        "FROM NAMED WINDOW <w1> ON <http://deri.org/streams/rfid> "
        "[NOW REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG TICK CHANGE]\n"
        "FROM NAMED WINDOW <w2> ON <http://deri.org/streams/rfid> "
        "[RANGE PT3S STEP MESSAGE REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG TICK CHANGE]\n"
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


def test_reports_that_a_dialect_takes_for_granted_are_hinted_at() -> None:
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(MERGED.format("RANGE 5s")), "csparql")
    assert caught.value.detail == (
        "its windows always report WINDOW CLOSE, NON EMPTY (RSP-QL paper, section 3)"
    )


def test_the_network_of_listing_6() -> None:
    """Three queries, as in Listings 4 and 5: two count topics, the third joins the counts."""
    query = example("rspql/listing6")
    found = network(query)
    assert translate(query, "csparql") == found
    names = [name for name, _ in found]
    assert names == [
        "http://example.org/lwinStream",
        "http://example.org/swinStream",
        "http://example.org/out",
    ]
    long, short, joined = (weir.parse(text, "csparql") for _, text in found)
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
    found = network(query)
    assert [name for name, _ in found] == ["aStream", "bStream", "query3"]
    assert "OPTIONAL {\n    ?row1 <urn:weir:column:z> ?z ." in found[-1][1]


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
        ({"options": "EMPTY"}, "EMPTY over several windows"),
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
    features = [found for found, _ in caught.value.obstacles]
    assert any(found.startswith(feature) for found in features), features


def test_an_obstacle_of_the_network_is_named_as_it_was_written() -> None:
    change = {"first": "RANGE 10s STEP 5s REPORT CONTENT CHANGE"}
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(TWO.format(**(PLAIN | change))), "csparql")
    assert "REPORT CONTENT CHANGE" in [found for found, _ in caught.value.obstacles]
