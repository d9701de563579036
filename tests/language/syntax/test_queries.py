"""Whole queries: REGISTER, dataset clauses, forms and options."""

from __future__ import annotations

import pytest

import weir
from weir.language import Dialect
from weir.language.algebra.query import R2S, Previous
from weir.language.syntax import tree
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser
from weir.rdf.terms import IRI


def unit(text: str) -> tree.Unit:
    return QueryParser(Tokens(Source(text)), None, None).unit()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT * {}", tree.Select),
        ("CONSTRUCT WHERE {}", tree.Construct),
        ("ASK {}", tree.Ask),
        ("DESCRIBE <a>", tree.Describe),
    ],
)
def test_forms(text: str, form: type) -> None:
    assert isinstance(unit(text).body, form)


def test_dataset_clauses_keep_their_order() -> None:
    found = unit("ASK FROM <a> FROM NAMED <b> {}").dataset
    assert found == (tree.FromGraph(4, IRI("a"), False), tree.FromGraph(13, IRI("b"), True))


def test_modifiers() -> None:
    found = unit(
        "SELECT ?x { } GROUP BY ?x HAVING (1) ORDER BY DESC(?x) LIMIT 5 OFFSET 2 VALUES ?x {}"
    ).body.modifiers
    assert (len(found.group_by), len(found.having), found.order_by[0].descending) == (1, 1, True)
    assert (found.limit, found.offset, found.values is None) == (5, 2, False)


@pytest.mark.parametrize(
    "text",
    [
        "REGISTER RSTREAM <out> AS SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { WINDOW <w> { ?a ?b ?c } }",
        "REGISTER STREAM <out> AS SELECT RSTREAM * FROM NAMED WINDOW <w> ON STREAM <s> [NOW] {}",
        "REGISTER <out> AS SELECT * FROM NAMED WINDOW ON STREAM <s> [NOW] AS <w> { WINDOW <w> { ?a ?b ?c } }",
        "REGISTER RSTREAM STREAM <out> AS SELECT RSTREAM * FROM NAMED ON <s> [NOW] AS <w> { WINDOW <w> {} }",
    ],
)
def test_spellings_of_rspql(text: str) -> None:
    query = weir.parse(text)
    assert query.output == "out"
    assert query.streams == ("s",)
    assert query.dataset.windows[0].name == "w"
    assert query.semantics.r2s is R2S.RSTREAM


def test_contradicting_operators() -> None:
    with pytest.raises(weir.SyntaxError, match="contradicts"):
        weir.parse("REGISTER RSTREAM <out> AS SELECT ISTREAM * FROM WINDOW <w> ON <s> [NOW] {}")


def test_rspql_wants_its_prologue_first() -> None:
    text = "REGISTER RSTREAM <out> AS PREFIX : <http://e/> SELECT * FROM WINDOW <w> ON <s> [NOW] {}"
    with pytest.raises(weir.SyntaxError, match="REGISTER before the prefixes"):
        weir.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "REGISTER QUERY Name AS PREFIX : <e/> SELECT * FROM STREAM <s> [RANGE 5s] { ?x :p ?y }",
        "PREFIX : <e/> REGISTER QUERY Name AS SELECT * FROM STREAM <s> [RANGE 5 s TUMBLING] { ?x :p ?y }",
        "PREFIX : <e/> REGISTER STREAM Name AS SELECT * FROM NAMED STREAM <s> [RANGE 5s] { ?x :p ?y }",
    ],
)
def test_spellings_of_csparql(text: str) -> None:
    query = weir.parse(text)
    assert query.dialect is Dialect.CSPARQL and query.output == "Name"
    assert query == weir.parse(
        "PREFIX : <e/> REGISTER QUERY <Name> AS SELECT * FROM STREAM <s> [RANGE 5s STEP 5s] { ?x :p ?y }"
    )


def test_csparql_empty_option() -> None:
    assert weir.parse("SELECT * FROM STREAM <s> [RANGE 5s] EMPTY { ?x ?p ?y }").semantics.report_empty


def test_relative_iris_work_without_base() -> None:
    query = weir.parse(
        "REGISTER STREAM <out> AS SELECT * FROM NAMED WINDOW <w1> ON <in> [NOW] { WINDOW <w1> {} }"
    )
    assert (query.output, query.streams, query.dataset.windows[0].name) == ("out", ("in",), "w1")
    based = weir.parse("SELECT * FROM NAMED WINDOW <w> ON <in> [NOW] {}", base="http://b/x/")
    assert based.streams == ("http://b/x/in",)


def test_options_of_a_query() -> None:
    query = weir.parse(
        "SELECT DSTREAM * FROM WINDOW <w> ON <s> [NOW] EMIT AFTER PT5S EMPTY PREVIOUS INSTANT WHERE {}"
    )
    semantics = query.semantics
    assert (semantics.r2s, semantics.previous) == (R2S.DSTREAM, Previous.INSTANT)
    assert (semantics.emit_after, semantics.report_empty) == (5_000_000, True)
    with pytest.raises(weir.SyntaxError, match="EMPTY is given twice"):
        weir.parse("SELECT * FROM WINDOW <w> ON <s> [NOW] EMPTY EMPTY {}")


def test_aggregate_without_brackets_outside_cqels() -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse("SELECT count(?x) as ?n { ?x ?p ?y }", "rspql")
    error = caught.value
    assert error.primary == "an aggregate in SELECT stands in brackets"
    assert error.hint == "write (count(…) AS ?name); only CQELS-QL leaves the brackets out"
    assert weir.parse("SELECT count(?x) as ?n { ?x ?p ?y }", "cqels").form
