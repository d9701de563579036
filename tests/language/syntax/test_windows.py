"""Window brackets: kinds, durations and options, as each dialect writes them."""

from __future__ import annotations

import pytest

import weir
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    Bounds,
    Content,
    Elements,
    Now,
    Past,
    Range,
    Report,
    StartAt,
    Tick,
    TickKind,
    Triples,
    WindowDeclaration,
)
from weir.language.syntax.draft import OpenRange, WindowSpec
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.windows import WindowParser

MS = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def rspql(bracket: str) -> WindowDeclaration:
    return weir.parse(f"SELECT * FROM WINDOW <w> ON <s> [{bracket}] {{ ?x ?p ?y }}").dataset.windows[0]


def refused(text: str, dialect: str = "auto") -> weir.SyntaxError:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text, dialect)
    return caught.value


@pytest.mark.parametrize(
    ("bracket", "kind"),
    [
        ("RANGE PT10S STEP PT5S", Range(10 * SECOND, 5 * SECOND)),
        ("RANGE PT10S SLIDE PT5S", Range(10 * SECOND, 5 * SECOND)),
        ("RANGE PT10S", Range(10 * SECOND, 10 * SECOND)),
        ("RANGE PT10S STEP MESSAGE", Range(10 * SECOND, None)),
        ("RANGE 10 STEP 2", Range(10 * MS, 2 * MS)),
        ("RANGE 500ms STEP 250ms", Range(500 * MS, 250 * MS)),
        ("RANGE 1.5s", Range(1500 * MS, 1500 * MS)),
        (
            "RANGE P1DT2H3M4.5S",
            Range(DAY + 2 * HOUR + 3 * MINUTE + 4500 * MS, DAY + 2 * HOUR + 3 * MINUTE + 4500 * MS),
        ),
        ('RANGE "PT1M"^^<http://www.w3.org/2001/XMLSchema#duration>', Range(MINUTE, MINUTE)),
        ("NOW", Now()),
        ("ALL", All()),
        ("TRIPLES 5", Triples(5)),
        ("TRIPLES 5 STEP 2", Triples(5, 2)),
        ("ELEMENTS 3", Elements(3)),
        ("ELEMENTS 3 STEP 3", Elements(3, 3)),
        ("FROM NOW-PT35M TO NOW-PT5M STEP PT5M", Past(35 * MINUTE, 5 * MINUTE, 5 * MINUTE)),
        ("FROM NOW - 35m TO NOW - 5m", Past(35 * MINUTE, 5 * MINUTE, 30 * MINUTE)),
        ("FROM NOW-PT35M TO NOW STEP PT5M", Range(35 * MINUTE, 5 * MINUTE)),
    ],
)
def test_kinds_of_rspql(bracket: str, kind: object) -> None:
    assert rspql(bracket).kind == kind


@pytest.mark.parametrize(
    ("bracket", "kind"),
    [
        ("RANGE 5s", Range(5 * SECOND, None)),
        ("RANGE 5s SLIDE 1s", Range(5 * SECOND, SECOND)),
        ("RANGE 5s STEP 1s", Range(5 * SECOND, SECOND)),
        ("RANGE 5s TUMBLING", Range(5 * SECOND, 5 * SECOND)),
        ("RANGE 1d2h3m4s5ms6000ns", Range(DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5 * MS + 6, None)),
        ("NOW", Now()),
        ("ALL", All()),
        ("TRIPLES 7", Triples(7)),
    ],
)
def test_kinds_of_cqels(bracket: str, kind: object) -> None:
    query = weir.parse(f"SELECT * {{ STREAM <s> [{bracket}] {{ ?x ?p ?y }} }}")
    assert query.dataset.windows[0].kind == kind
    assert query.dataset.windows[0].semantics.bounds is Bounds.CLOSED_OPEN


@pytest.mark.parametrize(
    ("bracket", "kind"),
    [
        ("RANGE 30 s STEP 5 s", Range(30 * SECOND, 5 * SECOND)),
        ("RANGE 30s", Range(30 * SECOND, 30 * SECOND)),
        ("RANGE 1h TUMBLING", Range(HOUR, HOUR)),
        ("RANGE TRIPLES 12", Triples(12)),
    ],
)
def test_kinds_of_csparql(bracket: str, kind: object) -> None:
    query = weir.parse(f"SELECT * FROM STREAM <s> [{bracket}] {{ ?x ?p ?y }}")
    assert query.dataset.windows[0].kind == kind
    assert query.dataset.windows[0].in_default


@pytest.mark.parametrize(
    ("bracket", "kind"),
    [
        ("NOW - 5 S", Range(5 * SECOND, 5 * SECOND)),
        ("NOW - 5 SECONDS TO NOW SLIDE 1 S", Range(5 * SECOND, SECOND)),
        ("NOW - 2 HR TO NOW - 10 MINUTES SLIDE 5 MIN", Past(2 * HOUR, 10 * MINUTE, 5 * MINUTE)),
        ("NOW-1 DAY SLIDE 2 HOURS", Range(DAY, 2 * HOUR)),
        ("NOW - 500 MS", Range(500 * MS, 500 * MS)),
        ("TRIPLES 4", Triples(4)),
    ],
)
def test_kinds_of_sparqlstream(bracket: str, kind: object) -> None:
    query = weir.parse(f"SELECT * FROM NAMED STREAM <s> [{bracket}] {{ ?x ?p ?y }}")
    assert query.dataset.windows[0].kind == kind
    assert query.dataset.windows[0].in_default


def test_all_options() -> None:
    semantics = rspql(
        'RANGE PT10S STEP PT5S STARTING AT "2015-06-01T12:00:00.5+02:00" REPORT WINDOW CLOSE, '
        'CONTENT CHANGE, PERIODIC 3s, NON EMPTY CONTENT BAG TICK TIME PT1S LATENESS 5s AHEAD P1D BOUNDS "(]"'
    ).semantics
    assert semantics.report == Report(True, True, 3 * SECOND, True)
    assert semantics.content is Content.BAG
    assert semantics.tick == Tick(TickKind.TIME, SECOND)
    assert semantics.start == StartAt(1_433_152_800_500_000)
    assert (semantics.lateness, semantics.ahead) == (5 * SECOND, DAY)
    assert semantics.bounds is Bounds.OPEN_CLOSED


@pytest.mark.parametrize(
    ("written_start", "start"),
    [
        ("2015-06-01T00:00:00Z", StartAt(1_433_116_800_000_000)),
        ('"2015-06-01T00:00:00Z"', StartAt(1_433_116_800_000_000)),
        ("PT1H", AlignedTo(HOUR)),
        ("1h", AlignedTo(HOUR)),
        ('"PT1H"', AlignedTo(HOUR)),
    ],
)
def test_starting_at(written_start: str, start: object) -> None:
    assert rspql(f"RANGE PT10S STARTING AT {written_start}").semantics.start == start


@pytest.mark.parametrize(
    ("bracket", "primary"),
    [
        ("RANGE P1Y", "no length of time"),
        ("RANGE P1M", "no length of time"),
        ("RANGE PT0S", "more than nothing"),
        ("RANGE 1ns", "no length of time"),
        ("RANGE 10x", "no length of time"),
        ("RANGE PT10S STEP", "expected a duration"),
        ("RANGE", "expected a duration"),
        ("TRIPLES 0", "at least 1"),
        ("TRIPLES", "expected a count"),
        ("TRIPLES 99999999999", "less than 2^31"),
        ("FROM NOW-PT5M TO NOW-PT35M STEP PT5M", "begin before it ends"),
        ("NOW REPORT", "expected WINDOW CLOSE, CONTENT CHANGE, NON EMPTY or PERIODIC"),
        ("NOW CONTENT SET", "expected GRAPH or BAG"),
        ("NOW LATENESS 1s LATENESS 2s", "LATENESS is given twice"),
        ('NOW STARTING AT "soon"', "STARTING AT takes"),
        ('NOW BOUNDS "[]"', "BOUNDS takes"),
        ("NOW SOON", "expected ']' or an option"),
        ("SOMETIMES", "expected RANGE, NOW, ALL"),
        ("", "expected RANGE, NOW, ALL"),
    ],
)
def test_bad_brackets(bracket: str, primary: str) -> None:
    assert primary in refused(f"SELECT * FROM WINDOW <w> ON <s> [{bracket}] {{}}").primary


def test_a_window_needs_its_brackets() -> None:
    error = refused("SELECT * FROM NAMED WINDOW <w> ON <s> { WINDOW <w> {} }")
    assert error.primary == "expected a window in brackets, found '{'"


@pytest.mark.parametrize("dialect", ["cqels", "csparql"])
def test_duration_without_unit(dialect: str) -> None:
    text = {
        "cqels": "SELECT * { STREAM <s> [RANGE 10] { ?x ?p ?y } }",
        "csparql": "SELECT * FROM STREAM <s> [RANGE 10 STEP 2] { ?x ?p ?y }",
    }[dialect]
    for given in (dialect, "auto"):
        error = refused(text, given)
        assert error.primary == "the duration 10 has no unit"
        assert error.hint == "write 10s, 10m or 10ms"


def test_what_is_not_written_is_open() -> None:
    spec = WindowParser(Tokens(Source("[RANGE 5s]")), None, None).window()
    assert spec == WindowSpec(0, OpenRange(5 * SECOND), {})
