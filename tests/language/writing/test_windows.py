"""Windows as each dialect writes them."""

from __future__ import annotations

import pytest

from weir.language import Dialect, parse
from weir.language.algebra.windows import Report, WindowDeclaration
from weir.language.writing.windows import bracket, report_text, rspql, unit


def declared(bracket: str) -> WindowDeclaration:
    return parse(f"SELECT * FROM WINDOW <w> ON <s> [{bracket}] {{ ?x ?p ?y }}").dataset.windows[0]


@pytest.mark.parametrize(
    "bracket",
    [
        "RANGE PT10S STEP PT5S REPORT WINDOW CLOSE CONTENT GRAPH",
        "RANGE PT10S STEP MESSAGE REPORT CONTENT CHANGE, NON EMPTY CONTENT BAG",
        "NOW REPORT CONTENT CHANGE CONTENT GRAPH TICK TIME PT1S LATENESS PT2S AHEAD P1D",
        "TRIPLES 3 STEP 2 STARTING AT PT1H REPORT PERIODIC PT7S CONTENT GRAPH",
        'FROM NOW-PT35M TO NOW-PT5M STEP PT5M REPORT WINDOW CLOSE CONTENT GRAPH BOUNDS "(]"',
    ],
)
def test_rspql_is_what_was_read(bracket: str) -> None:
    assert rspql(declared(bracket)) == f"[{bracket}]"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("rspql", "[RANGE PT1M30S STEP PT1M]"),
        ("cqels", "[RANGE 90s SLIDE 1m]"),
        ("csparql", "[RANGE 90s STEP 1m]"),
        ("sparqlstream", "[NOW - 90 S TO NOW SLIDE 1 MIN]"),
        ("sparql", None),
    ],
)
def test_the_bracket_of_each_dialect(dialect: str, text: str | None) -> None:
    assert bracket(declared("RANGE 90s STEP 1m").kind, Dialect(dialect)) == text


@pytest.mark.parametrize(
    ("dialect", "kind"), [("cqels", "ELEMENTS 3"), ("csparql", "NOW"), ("sparqlstream", "ALL")]
)
def test_what_a_dialect_cannot_write(dialect: str, kind: str) -> None:
    assert bracket(declared(kind).kind, Dialect(dialect)) is None


@pytest.mark.parametrize(("length", "text"), [(1, "1000ns"), (1_000, "1ms"), (7_200_000_000, "2h")])
def test_one_number_with_the_largest_unit(length: int, text: str) -> None:
    assert unit(length) == text


def test_a_report_in_words() -> None:
    assert (
        report_text(Report(True, True, 1_000_000, True))
        == "WINDOW CLOSE, CONTENT CHANGE, PERIODIC PT1S, NON EMPTY"
    )
