"""The dialects as values: what each has, and what it leaves unsaid."""

from __future__ import annotations

import pytest

from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import Content
from weir.language.dialects.preset import Feature
from weir.language.dialects.presets import CQELS, CSPARQL, PRESETS, RSPQL, SPARQL, SPARQLSTREAM


def test_every_dialect_has_its_preset() -> None:
    assert {dialect: preset.dialect for dialect, preset in PRESETS.items()} == {
        each: each for each in Dialect
    }


def test_every_feature_belongs_to_a_dialect() -> None:
    assert set().union(*(preset.features for preset in PRESETS.values())) == set(Feature)
    assert not SPARQL.features


@pytest.mark.parametrize("preset", [CSPARQL, SPARQLSTREAM], ids=lambda preset: preset.title)
def test_windows_of_the_default_graph_report_when_they_close_with_something(preset: object) -> None:
    assert preset.report.window_close and preset.report.non_empty  # type: ignore[attr-defined]


def test_only_cqels_is_incremental_over_bags() -> None:
    assert (CQELS.r2s, CQELS.content, CQELS.previous) == (R2S.ISTREAM, Content.BAG, Previous.INSTANT)
    assert (RSPQL.r2s, RSPQL.content, RSPQL.previous) == (R2S.RSTREAM, Content.GRAPH, Previous.EVALUATION)
    assert [preset for preset in PRESETS.values() if not preset.tumbling] == [CQELS]
