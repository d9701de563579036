"""Windows are values; what a text leaves unsaid has one default."""

from __future__ import annotations

from weir.language import parse
from weir.language.algebra import windows as w

TEXT = "SELECT * FROM NAMED WINDOW <w> ON <s> [{}] {{ WINDOW <w> {{ ?x ?p ?y }} }}"


def declared(bracket: str) -> w.WindowDeclaration:
    return parse(TEXT.format(bracket)).dataset.windows[0]


def test_a_declaration_is_name_stream_kind_and_semantics() -> None:
    semantics = w.WindowSemantics(w.Report(window_close=True))
    assert declared("RANGE 2s STEP 1s") == w.WindowDeclaration(
        "w", "s", w.Range(2_000_000, 1_000_000), semantics
    )


def test_the_defaults() -> None:
    semantics = w.WindowSemantics(w.Report())
    assert (semantics.content, semantics.tick.kind) == (w.Content.GRAPH, w.TickKind.BATCH)
    assert (semantics.bounds, semantics.lateness, semantics.ahead) == (w.Bounds.CLOSED_OPEN, 0, 366 * w.DAY)


def test_equal_windows_are_one_key() -> None:
    brackets = ("RANGE PT60S", "RANGE 1m STEP 1m", "RANGE 60s CONTENT GRAPH", "RANGE 60s CONTENT BAG")
    assert len({declared(bracket) for bracket in brackets}) == 2
