"""Text → tokens."""

from __future__ import annotations

import pytest

from weir.language.syntax.lexer import Kind, Source, Tokens


def tokens(text: str) -> list[tuple[Kind, str]]:
    found = Tokens(Source(text))
    return [(Kind(kind), text) for kind, text in zip(found.kinds, found.texts, strict=True)][:-2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("?x", Kind.VARIABLE),
        ("$x1", Kind.VARIABLE),
        ("ex:a.b", Kind.PREFIXED),
        (":", Kind.PREFIXED),
        ("<http://e/>", Kind.IRI),
        ("a", Kind.A),
        ("12", Kind.INTEGER),
        (".5", Kind.DECIMAL),
        ("1e3", Kind.DOUBLE),
        ("&&", Kind.MARK),
        ("'x'", Kind.STRING),
        ('"""x"y"""', Kind.LONG),
        ("_:b0", Kind.BLANK),
        ("@en-GB", Kind.LANGUAGE),
        ("`", Kind.BAD),
    ],
)
def test_kinds(text: str, kind: Kind) -> None:
    assert tokens(text) == [(kind, text)]


def test_keywords_in_any_case_and_as_written() -> None:
    found = Tokens(Source("select"))
    assert (found.texts[0], found.written(0)) == ("SELECT", "select")


def test_comments_end_with_their_line() -> None:
    assert tokens('# { ?a\n ?x # <\r :p # "\n ?y') == [
        (Kind.VARIABLE, "?x"),
        (Kind.PREFIXED, ":p"),
        (Kind.VARIABLE, "?y"),
    ]


def test_a_byte_order_mark_is_no_token() -> None:
    assert tokens("\ufeffASK") == [(Kind.WORD, "ASK")]


def test_places() -> None:
    found = Tokens(Source("a  ?x"))
    assert (found.offset(1), found.end(1)) == (3, 5)
    assert found.kinds[2:] == [Kind.END, Kind.END]


def test_an_error_points_into_the_text() -> None:
    source = Source('SELECT *\n{ "\\u003Fx" ?y', "q.rq")
    offset = source.text.index("?y")
    assert source.place(offset) == (2, 13)
    error = source.error(offset, "unexpected ?y", "leave it out")
    assert (error.line, error.column, error.file, error.hint) == (2, 13, "q.rq", "leave it out")


def test_escapes_stand_in_iris_and_strings_only() -> None:
    assert tokens("<\\u0061>") == [(Kind.IRI, "<\\u0061>")]
    assert tokens("?\\u0061")[1][0] == Kind.BAD
