"""Windows as each dialect writes them."""

from __future__ import annotations

import pytest

from weir.errors import TranslationError
from weir.language import parse
from weir.language.algebra.windows import Report, WindowDeclaration
from weir.language.dialects import CSPARQL
from weir.language.writing.windows import (
    check_semantics,
    cqels,
    csparql,
    report_text,
    rspql,
    sparqlstream,
    unit,
)


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


def test_the_other_dialects() -> None:
    window = declared("RANGE 90s STEP 1m")
    assert cqels(window) == "[RANGE 90s SLIDE 1m]"
    assert csparql(window) == "[RANGE 90s STEP 1m]"
    assert sparqlstream(window) == "[NOW - 90 S TO NOW SLIDE 1 MIN]"


@pytest.mark.parametrize(
    ("write", "bracket"), [(cqels, "ELEMENTS 3"), (csparql, "NOW"), (sparqlstream, "ALL")]
)
def test_what_a_dialect_cannot_write(write: object, bracket: str) -> None:
    with pytest.raises(TranslationError, match="cannot express"):
        write(declared(bracket))  # type: ignore[operator]


@pytest.mark.parametrize(("length", "text"), [(1, "1000ns"), (1_000, "1ms"), (7_200_000_000, "2h")])
def test_one_number_with_the_largest_unit(length: int, text: str) -> None:
    assert unit(length) == text


def test_a_report_in_words() -> None:
    assert (
        report_text(Report(True, True, 1_000_000, True))
        == "WINDOW CLOSE, CONTENT CHANGE, PERIODIC PT1S, NON EMPTY"
    )


@pytest.mark.parametrize("option", ["CONTENT BAG", "LATENESS 1s", "TICK TIME 1s", "REPORT CONTENT CHANGE"])
def test_semantics_that_a_dialect_has_no_option_for(option: str) -> None:
    report = "" if "REPORT" in option else "REPORT WINDOW CLOSE, NON EMPTY"
    check_semantics(declared("RANGE 5s REPORT WINDOW CLOSE, NON EMPTY"), CSPARQL, None)
    with pytest.raises(TranslationError):
        check_semantics(declared(f"RANGE 5s {report} {option}"), CSPARQL, None)
