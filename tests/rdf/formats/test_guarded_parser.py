"""The guarded parser: quads of good texts, the place of the first mistake, and refusals before the parser."""

from __future__ import annotations

import io

import pyoxigraph as ox
import pytest

from weir.errors import DataError
from weir.rdf.formats.guarded_parser import (
    Unparsable,
    as_nquads,
    parse_quads,
    quad_texts,
    read_statements,
    rewritten,
)
from weir.rdf.formats.guards import DEEPEST
from weir.rdf.terms import NESTING

GOOD = "<http://e/s> <http://e/p> <http://e/o> ."
DEEP = DEEPEST + 1


def test_quads_in_canonical_texts() -> None:
    quads = parse_quads(b"@base <http://e/> . <s> <p> 'x'@EN .", ox.RdfFormat.TURTLE)
    assert quad_texts(quads) == [("<http://e/s>", "<http://e/p>", '"x"@en', "")]


def test_relative_iris_need_a_base() -> None:
    found = quad_texts(parse_quads(b"<s> <p> <o> .", ox.RdfFormat.TURTLE, "http://e/d"))
    assert found == [("<http://e/s>", "<http://e/p>", "<http://e/o>", "")]


def test_the_place_of_a_mistake() -> None:
    with pytest.raises(Unparsable) as caught:
        list(parse_quads(f"{GOOD}\n{GOOD[:-1]}x .".encode(), ox.RdfFormat.N_QUADS))
    assert (caught.value.line, caught.value.reason.startswith("Parser error")) == (2, False)


@pytest.mark.parametrize(
    ("text", "syntax", "reason"),
    [
        ("[" * DEEP + "]" * DEEP, ox.RdfFormat.JSON_LD, "nested"),
        ("<a>" * DEEP + "</a>" * DEEP, ox.RdfFormat.RDF_XML, "nested"),
        ('<!DOCTYPE a [<!ENTITY b "&c;&c;">]><a/>', ox.RdfFormat.RDF_XML, "entity"),
        ("<< " * DEEP, ox.RdfFormat.TURTLE, "triple terms"),
    ],
)
def test_what_would_break_the_parser_never_reaches_it(text: str, syntax: ox.RdfFormat, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        list(parse_quads(text.encode(), syntax))


def test_brackets_in_strings_are_not_nested() -> None:
    text = '{"http://e/p": "' + "[" * DEEP + '"}'
    assert len(list(parse_quads(text.encode(), ox.RdfFormat.JSON_LD))) == 1


def test_a_bad_statement_among_many_is_told_with_its_column() -> None:
    found = read_statements([GOOD] * 5 + ["<http://e/s> <http://e/p> x ."] + [GOOD] * 4)
    reasons = [item for item in found if isinstance(item, str)]
    assert len(found) == 10 and [reason.partition(":")[0] for reason in reasons] == ["column 27"]


def test_a_deep_statement_does_not_take_its_neighbours_with_it() -> None:
    found = read_statements([GOOD, "<< " * DEEP, GOOD])
    assert [isinstance(item, tuple) for item in found] == [True, False, True]


def test_one_statement_a_text() -> None:
    two, none = read_statements([f"{GOOD} {GOOD}", "# none"])
    assert "Only a single triple" in str(two) and none == "no statement"


@pytest.mark.parametrize(
    ("syntax", "text"), [(ox.RdfFormat.TURTLE, f"{GOOD}\n" * 5000), (ox.RdfFormat.JSON_LD, "[]")]
)
def test_a_file_is_read_as_a_text_is(syntax: ox.RdfFormat, text: str) -> None:
    data = text.encode()
    assert quad_texts(parse_quads(io.BytesIO(data), syntax)) == quad_texts(parse_quads(data, syntax))


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        (ox.RdfFormat.TURTLE, f"{GOOD}\n" + "<http://e/s> <http://e/p> <<( " * DEEP),
        (ox.RdfFormat.JSON_LD, "[" * DEEP),
    ],
)
def test_a_file_that_nests_too_deeply_is_refused(syntax: ox.RdfFormat, text: str) -> None:
    with pytest.raises(Unparsable, match="deep, more than"):
        list(parse_quads(io.BytesIO(text.encode()), syntax))


def nested(depth: int, between: str = "") -> str:
    inside = "<http://e/o>"
    for _ in range(depth):
        inside = f"<<( <http://e/a> <http://e/p> {between}{inside} )>>"
    return f"<http://e/s> <http://e/p> {inside} ."


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("before", ["", '<http://e/s> <http://e/p> "' + ">>" * 20_000 + '" .\n'])
@pytest.mark.parametrize("between", ["", "# >>\n", '# """\n', "# '''\n"])
def test_triple_terms_nest_so_far_and_no_further(between: str, before: str, as_file: bool) -> None:
    def quads(depth: int) -> int:
        data = (before + nested(depth, between)).encode()
        return len(list(parse_quads(io.BytesIO(data) if as_file else data, ox.RdfFormat.TURTLE)))

    assert quads(NESTING) == 1 + bool(before)
    for depth in (NESTING + 1, 20_000):
        with pytest.raises(Unparsable, match=f"nested {depth} deep"):
            quads(depth)


@pytest.mark.parametrize("text", [nested(1), '<http://e/s> <http://e/p> "<<" .'])
def test_many_triple_terms_side_by_side_do_not_nest(text: str) -> None:
    data = "\n".join([text] * 2_000).encode()
    assert len(list(parse_quads(io.BytesIO(data), ox.RdfFormat.TURTLE))) == 2_000


QUADS = b"<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n<http://e/a> <http://e/b> <http://e/d> .\n"


@pytest.mark.parametrize("media_type", ["application/trig", "application/n-quads", "application/ld+json"])
def test_a_syntax_with_graphs_keeps_them(media_type: str) -> None:
    found = ox.parse(
        rewritten(QUADS, ox.RdfFormat.N_QUADS, media_type), format=ox.RdfFormat.from_media_type(media_type)
    )
    assert set(found) == set(ox.parse(QUADS, format=ox.RdfFormat.N_QUADS))


@pytest.mark.parametrize("media_type", ["text/turtle", "application/n-triples", "application/rdf+xml"])
def test_in_a_syntax_without_graphs_triples_lie_side_by_side(media_type: str) -> None:
    made = rewritten(QUADS, ox.RdfFormat.N_QUADS, media_type, {"e": "http://e/"})
    found = ox.parse(made, format=ox.RdfFormat.from_media_type(media_type))
    assert {quad.object.value for quad in found} == {"http://e/c", "http://e/d"}
    assert (b"e:a" in made) == (media_type == "text/turtle")


def test_what_a_syntax_cannot_express_is_told() -> None:
    with pytest.raises(DataError, match="cannot be written as application/ld"):
        rewritten(nested(1).encode(), ox.RdfFormat.N_QUADS, "application/ld+json")


@pytest.mark.parametrize(
    "text",
    [
        f"@prefix e: <http://e/{'x' * 60_000}> . " + "e:a e:b e:c .\n" * 5_000,
        f"@base <http://e/{'x' * 60_000}/> . " + "<a> <b> <c> .\n" * 5_000,
        "@base <http://e/> . " + "@base <xxxxxx/> .\n" * 5_000 + "<a> <b> <c> .\n" * 5_000,
    ],
)
def test_a_document_does_not_grow_beyond_measure(text: str) -> None:
    with pytest.raises(Unparsable, match="beyond measure"):
        as_nquads(text.encode(), ox.RdfFormat.TURTLE)


def test_a_panic_of_the_parser_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """As pyo3 raises it: no ``Exception``."""

    def panicking(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr(ox, "parse", panicking)
    with pytest.raises(Unparsable, match="the parser failed: index out of bounds"):
        list(parse_quads(b"", ox.RdfFormat.TURTLE))
