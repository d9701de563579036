"""The dialects as values: what each has, and what it leaves unsaid in a window."""

from __future__ import annotations

import pytest

import weir
from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import (
    DAY,
    All,
    AtFirst,
    Content,
    Now,
    Range,
    Report,
    Tick,
    TickKind,
    Triples,
    WindowDeclaration,
    closes,
)
from weir.language.presets import CQELS, CSPARQL, PRESETS, RSPQL, SPARQL, SPARQLSTREAM, Feature


def test_every_dialect_has_its_preset() -> None:
    assert {dialect: preset.dialect for dialect, preset in PRESETS.items()} == {
        each: each for each in Dialect
    }


def test_every_feature_belongs_to_a_dialect() -> None:
    used = {dialect for feature in Feature for dialect in feature.dialects}
    assert all(feature.dialects for feature in Feature)
    assert used == set(Dialect) - {SPARQL.dialect}


@pytest.mark.parametrize("preset", [CSPARQL, SPARQLSTREAM], ids=lambda preset: preset.title)
def test_windows_of_the_default_graph_report_when_they_close_with_something(preset: object) -> None:
    assert preset.report.window_close and preset.report.non_empty  # type: ignore[attr-defined]


def test_only_cqels_is_incremental_over_bags() -> None:
    assert (CQELS.r2s, CQELS.content, CQELS.previous) == (R2S.ISTREAM, Content.BAG, Previous.INSTANT)
    assert (RSPQL.r2s, RSPQL.content, RSPQL.previous) == (R2S.RSTREAM, Content.GRAPH, Previous.EVALUATION)
    assert [preset for preset in PRESETS.values() if not preset.tumbling] == [CQELS]


SECOND = 1_000_000


def rspql(bracket: str) -> WindowDeclaration:
    return weir.parse(f"SELECT * FROM WINDOW <w> ON <s> [{bracket}] {{ ?x ?p ?y }}").dataset.windows[0]


def refused(text: str) -> weir.SyntaxError:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text)
    return caught.value


def test_defaults_of_options() -> None:
    semantics = rspql("RANGE PT10S").semantics
    assert semantics.report == Report(window_close=True)
    assert (semantics.content, semantics.tick) == (Content.GRAPH, Tick())
    assert (semantics.start, semantics.lateness, semantics.ahead) == (None, 0, 366 * DAY)


@pytest.mark.parametrize("bracket", ["NOW", "ALL", "TRIPLES 3", "ELEMENTS 3", "RANGE 5s STEP MESSAGE"])
def test_windows_without_a_close(bracket: str) -> None:
    """Content change is their default, and window close an error."""
    assert rspql(bracket).semantics.report == Report(content_change=True)
    assert rspql(f"{bracket} REPORT NON EMPTY").semantics.report == Report(
        content_change=True, non_empty=True
    )
    error = refused(f"SELECT * FROM WINDOW <w> ON <s> [{bracket} REPORT WINDOW CLOSE] {{}}")
    assert "no close" in error.primary


@pytest.mark.parametrize("bracket", ["TRIPLES 3 STEP 2", "ELEMENTS 3 STEP 2", "RANGE 5s"])
def test_windows_with_a_step_close(bracket: str) -> None:
    assert rspql(f"{bracket} REPORT WINDOW CLOSE").semantics.report == Report(window_close=True)


def test_presets_of_windows_without_a_close() -> None:
    counted = weir.parse("SELECT * FROM STREAM <s> [RANGE TRIPLES 5] { ?x ?p ?y }")
    assert counted.dataset.windows[0].semantics.report == Report(content_change=True, non_empty=True)
    counted = weir.parse("SELECT * FROM NAMED STREAM <s> [TRIPLES 5] { ?x ?p ?y }")
    assert counted.dataset.windows[0].semantics.report == Report(content_change=True, non_empty=True)


def test_computed_every_is_a_periodic_report() -> None:
    query = weir.parse(
        "REGISTER QUERY q COMPUTED EVERY 5 s AS SELECT * FROM STREAM <s> [RANGE 30s STEP 10s] {}"
    )
    report = Report(periodic=5 * SECOND, non_empty=True, closed=True)
    assert query.dataset.windows[0].semantics.report == report


def test_computed_every_shows_what_is_there_where_no_window_closes() -> None:
    query = weir.parse("REGISTER QUERY q COMPUTED EVERY 5 s AS SELECT * FROM STREAM <s> [RANGE TRIPLES 3] {}")
    assert query.dataset.windows[0].semantics.report == Report(periodic=5 * SECOND, non_empty=True)


def test_a_query_has_one_tick() -> None:
    query = weir.parse(
        "SELECT * FROM WINDOW <a> ON <s> [NOW TICK TUPLE] FROM WINDOW <b> ON <s> [ALL] { ?s ?p ?o }"
    )
    assert [window.semantics.tick.kind for window in query.dataset.windows] == [TickKind.TUPLE] * 2


def test_the_options_of_a_grid_and_a_lane() -> None:
    query = weir.parse(
        "SELECT * FROM WINDOW <a> ON <s> "
        "[RANGE 4s STARTING AT FIRST REPORT PERIODIC 3s CLOSED TIMES DISTINCT] { ?s ?p ?o }"
    )
    semantics = query.dataset.windows[0].semantics
    assert semantics.start == AtFirst() and semantics.times_distinct
    assert semantics.report == Report(periodic=3 * SECOND, closed=True)


@pytest.mark.parametrize(
    ("kind", "found"),
    [(Now(), False), (All(), False), (Range(5), False), (Range(5, 5), True), (Triples(5, 2), True)],
)
def test_only_windows_with_a_step_close(kind: object, found: bool) -> None:
    assert closes(kind) is found


def test_a_window_without_a_close_reports_on_content_change() -> None:
    assert CSPARQL.report_of(Range(5, 5)) == Report(window_close=True, non_empty=True)
    assert CSPARQL.report_of(Triples(5)) == Report(content_change=True, non_empty=True)
    assert CQELS.report_of(Now()) == Report(content_change=True, non_empty=True)
