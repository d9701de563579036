"""All that a dialect cannot express, each with the reason."""

from __future__ import annotations

import pytest

import weir
from weir.language import Dialect, translate
from weir.language.presets import CSPARQL
from weir.language.writing.obstacles import obstacles, window_obstacles

QUIET = "REPORT WINDOW CLOSE, NON EMPTY"
MANY = """REGISTER ISTREAM <out> AS
ASK FROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP MESSAGE STARTING AT PT1H CONTENT BAG LATENESS PT1S]
PREVIOUS INSTANT EMIT AFTER PT5S EMPTY
{ WINDOW ?w { ?x ?p ?y } }"""


def features(text: str, dialect: str) -> list[str]:
    return [feature for feature, _ in obstacles(weir.parse(text), Dialect(dialect))]


@pytest.mark.parametrize(
    ("dialect", "found"),
    [
        ("rspql", []),
        ("sparql", ["REGISTER", "ISTREAM", "PREVIOUS INSTANT", "EMIT AFTER", "EMPTY", "windows on streams"]),
        (
            "cqels",
            ["REGISTER", "EMIT AFTER", "EMPTY", "WINDOW with a variable", "a window that is used nowhere",
             "REPORT CONTENT CHANGE", "TICK BATCH", "STARTING AT of a window", "LATENESS of a window"],
        ),
        (
            "csparql",
            ["ISTREAM", "PREVIOUS INSTANT", "EMIT AFTER", "patterns on a window of their own",
             "the window [RANGE PT10S STEP MESSAGE]", "REPORT CONTENT CHANGE", "CONTENT BAG",
             "STARTING AT of a window", "LATENESS of a window"],
        ),
        (
            "sparqlstream",
            ["REGISTER", "ISTREAM", "PREVIOUS INSTANT", "EMIT AFTER", "EMPTY",
             "patterns on a window of their own", "the window [RANGE PT10S STEP MESSAGE]",
             "REPORT CONTENT CHANGE", "CONTENT BAG", "STARTING AT of a window", "LATENESS of a window"],
        ),
    ],
)  # fmt: skip
def test_all_obstacles_are_named(dialect: str, found: list[str]) -> None:
    assert features(MANY, dialect) == found


@pytest.mark.parametrize(
    ("text", "dialect", "feature", "reason"),
    [
        (
            f"SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 5s {QUIET}] {{ WINDOW <w> {{ ?x ?p ?y }} }}",
            "csparql",
            "patterns on a window of their own",
            "all its windows are merged into the default graph (RSP-QL paper, section 4)",
        ),
        (
            f"SELECT ISTREAM * FROM WINDOW <w> ON <s> [RANGE 5s {QUIET}] {{ ?x ?p ?y }}",
            "csparql",
            "ISTREAM",
            "it always streams the whole result, RSTREAM (RSP-QL paper, section 4)",
        ),
        (
            "SELECT RSTREAM * FROM WINDOW <w> ON <s> [NOW] { ?x ?p ?y }",
            "cqels",
            "RSTREAM",
            "it always streams what is new, ISTREAM (RSP-QL paper, section 4)",
        ),
        (
            "SELECT RSTREAM * FROM WINDOW <w> ON <s> [NOW] { ?x ?p ?y }",
            "cqels",
            "a window in the default graph",
            "cannot be part of the default graph (RSP-QL paper, section 4)",
        ),
    ],
)
def test_the_reasons_are_those_of_the_paper(text: str, dialect: str, feature: str, reason: str) -> None:
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(text), dialect)
    assert dict(caught.value.obstacles)[feature].endswith(reason)


def test_a_single_obstacle_is_the_message() -> None:
    with pytest.raises(weir.TranslationError) as caught:
        translate(weir.parse(f"ASK FROM WINDOW <w> ON <s> [RANGE 5s {QUIET} LATENESS 1s] {{}}"), "csparql")
    assert str(caught.value) == "C-SPARQL cannot express LATENESS of a window\nit has no such option"


def test_what_two_windows_have_in_common_is_named_once() -> None:
    window = f"[RANGE 5s {QUIET} CONTENT BAG TICK TUPLE]"
    text = f"ASK FROM WINDOW <a> ON <s> {window} FROM WINDOW <b> ON <s> {window} {{ ?x ?p ?y }}"
    with pytest.raises(weir.TranslationError, match="2 features") as caught:
        translate(weir.parse(text), "csparql")
    assert str(caught.value).splitlines()[1:] == [
        "- CONTENT BAG: its windows are always a graph",
        "- TICK TUPLE: its tick is always BATCH",
    ]


@pytest.mark.parametrize("option", ["CONTENT BAG", "LATENESS 1s", "TICK TIME 1s", "REPORT CONTENT CHANGE"])
def test_semantics_that_a_dialect_has_no_option_for(option: str) -> None:
    def found(options: str) -> list[object]:
        (window,) = weir.parse(f"ASK FROM WINDOW <w> ON <s> [RANGE 5s {options}] {{}}").dataset.windows
        return list(window_obstacles(window, CSPARQL, None))

    assert found(QUIET) == []
    assert len(found(option if "REPORT" in option else f"{QUIET} {option}")) == 1
