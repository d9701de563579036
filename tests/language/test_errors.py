"""Syntax errors: place, line with caret, what was expected, and a hint for common slips."""

from __future__ import annotations

import pytest

import weir


def refused(text: str, dialect: str = "auto") -> weir.SyntaxError:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(text, dialect, file="q.rq")
    return caught.value


def test_place_line_and_caret() -> None:
    error = refused("SELECT ?x\nWHERE {\n  ?x :p ?y }")
    assert (error.line, error.column) == (3, 6)
    assert str(error) == (
        "q.rq:3:6: unknown prefix ':'\n      ?x :p ?y }\n         ^\nhint: declare it: PREFIX : <…>"
    )


@pytest.mark.parametrize(
    ("text", "primary", "hint"),
    [
        (
            "SELECT * { ?x foaf:name ?y }",
            "unknown prefix 'foaf:'",
            "PREFIX foaf: <http://xmlns.com/foaf/0.1/>",
        ),
        ("SELECT count(?x) as ?n FROM WINDOW <w> ON <s> [NOW] {}", "FROM WINDOW is RSP-QL", "CQELS-QL"),
        (
            "SELECT * { ?x ?p ?y",
            "expected '.' or '}', found the end of the query",
            "'{' on line 1 is not closed",
        ),
        ("SELEKT * {}", "expected SELECT, CONSTRUCT, ASK or DESCRIBE", "did you mean SELECT?"),
        ("SELECT * { ?x ?p loc2 }", "expected an RDF term, found 'loc2'", "?loc2"),
        ('SELECT * { ?x ?p "abc }', "expected an RDF term", "not closed on its line"),
        ("SELECT * { ?x ?p ``N`` }", "expected an RDF term, found '`'", "straight quotes"),
        ("SELECT * { ?x ?p <a b> }", "expected an RDF term, found '<'", "no spaces"),
        ("SELECT * { FILTER ?x }", "expected a condition in brackets or a call", "FILTER (…)"),
        ("SELECT * { ?x ?p ?y } GROUP BY ?x", "SELECT * cannot be grouped", "name the variables"),
        ("SELECT ?y { ?x ?p ?y } GROUP BY ?x", "?y is neither grouped by nor aggregated", "SAMPLE(?y)"),
        ("SELECT * { ?x ?p ?y FILTER (COUNT(?x) > 1) }", "the aggregate COUNT may not stand here", "HAVING"),
        ("SELECT (COUNT(SUM(?x)) AS ?n) {}", "the aggregate SUM may not stand here", "not in one another"),
        ("SELECT * { _:a ?p 1 . OPTIONAL { _:a ?q 2 } }", "_:a is used in two basic graph patterns", "?a"),
    ],
)
def test_primary_line_and_hint(text: str, primary: str, hint: str) -> None:
    error = refused(text)
    assert primary in error.primary
    assert hint in (error.hint or "")


def test_window_used_but_not_declared() -> None:
    error = refused("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { WINDOW <v> { ?x ?p ?y } }")
    assert error.primary == "the window <v> is not declared"
    assert "declared are <w>" in (error.hint or "") and "FROM NAMED WINDOW <v> ON" in (error.hint or "")


def test_window_of_the_default_graph_cannot_be_named() -> None:
    error = refused("SELECT * FROM WINDOW <w> ON <s> [NOW] { WINDOW <w> { ?x ?p ?y } }")
    assert "part of the default graph" in error.primary
    assert "FROM NAMED WINDOW <w>" in (error.hint or "")


def test_unknown_dialect() -> None:
    with pytest.raises(weir.UsageError, match="unknown dialect 'sql'"):
        weir.parse("SELECT * {}", "sql")


def test_escapes_keep_columns_as_written() -> None:
    r"""``\u00e9`` is six columns of what the user wrote."""
    error = refused(r'SELECT * { ?x ?p "caf\u00e9" ?? }')
    assert (error.line, error.column) == (1, 30)
    assert refused(r'SELECT * { ?x ?p "\uD800" }').primary == r"\uD800 is not a character"


def test_a_lone_surrogate_is_shown_as_a_replacement() -> None:
    error = refused('SELECT * { ?x ?p "\ud800" }')
    assert error.primary == r"\uD800 is not a character" and error.column == 19
    assert "\ufffd" in str(error) and str(error).encode()


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_end_as_they_will(ending: str) -> None:
    error = refused(ending.join(["SELECT *", "{", "  ?x ?p ?y ??", "}"]))
    assert (error.line, error.column) == (3, 12)
    assert "?x ?p ?y ??" in str(error)


def test_a_long_line_is_cut_around_the_caret() -> None:
    error = refused("SELECT * { " + "?x ?p ?y . " * 1000 + "?? }")
    shown, caret = str(error).splitlines()[1:3]
    assert len(shown) < 130 and shown[len(caret) - 1 :].startswith("?? }")
