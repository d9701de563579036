"""Messages of errors: what is wrong, where, and what to do."""

from __future__ import annotations

import pytest

from weir.errors import EvaluationError, SyntaxError, TranslationError, WeirError, kind_of


def test_detail_and_hint_stand_below_what_is_wrong() -> None:
    assert str(WeirError("it is wrong")) == "it is wrong"
    assert (
        str(EvaluationError("it is wrong", detail="here", hint="mend it"))
        == "it is wrong\nhere\nhint: mend it"
    )


def test_a_syntax_error_points_at_its_place() -> None:
    source = "SELECT *\nWHERE [ ?s ?p ?o }"
    error = SyntaxError("expected {", line=2, column=7, source=source, file="q.rq", hint="write {")
    assert str(error).splitlines() == [
        "q.rq:2:7: expected {",
        "    WHERE [ ?s ?p ?o }",
        "          ^",
        "hint: write {",
    ]


def test_a_long_line_is_shown_around_the_place() -> None:
    shown = str(SyntaxError("no", column=500, source="x" * 499 + "!" + "y" * 500)).splitlines()
    assert len(shown[1]) < 130
    assert shown[1][shown[2].index("^")] == "!"


@pytest.mark.parametrize(("line", "source"), [(3, "SELECT"), (0, "SELECT"), (1, "")])
def test_a_place_outside_the_text_shows_no_line(line: int, source: str) -> None:
    assert str(SyntaxError("no", line=line, source=source)) == f"query:{line}:1: no"


def test_a_translation_error_names_every_obstacle_and_its_reason() -> None:
    error = TranslationError("CQELS-QL", (("PAST windows", "it has none"),))
    assert str(error) == "CQELS-QL cannot express PAST windows\nit has none"
    assert (error.feature, error.dialect) == ("PAST windows", "CQELS-QL")
    several = TranslationError("CQELS-QL", (("PAST windows", "it has none"), ("ASK", "nor that")))
    assert several.primary == "CQELS-QL cannot express 2 features of the query"
    assert several.detail == "- PAST windows: it has none\n- ASK: nor that"


def test_values_are_named_by_their_kinds() -> None:
    assert [kind_of(each) for each in (1, "a", None)] == ["an int", "a str", "a NoneType"]
