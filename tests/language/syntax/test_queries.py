"""Whole queries: REGISTER, dataset clauses, forms and options."""

from __future__ import annotations

import pytest

import weir
from language.algebra_kit import EMPTY, ONE, P, X, Y, b, bgp
from weir.language import Dialect
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import R2S, Ask, Construct, Describe, Previous, Select
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser
from weir.rdf.terms import IRI, Variable


def test_the_whole_text_is_a_draft() -> None:
    draft = QueryParser(Tokens(Source("ASK FROM <a> FROM NAMED <b> { ?x ?p ?y }")), None, None).draft()
    assert (draft.default, draft.named, draft.windows) == (("a",), ("b",), ())
    assert (draft.form, draft.pattern) == (Ask(), bgp((X, Variable("p"), Y)))


def test_forms() -> None:
    assert weir.parse("ASK {}").form == Ask()
    assert weir.parse("DESCRIBE <a> ?x <a> { ?x ?p ?y }").form == Describe((IRI("a"), X))
    assert weir.parse("DESCRIBE * { ?x ?p ?y }").form == Describe((X, Variable("p"), Y))
    assert weir.parse("DESCRIBE <a>").pattern == EMPTY
    short = weir.parse("PREFIX : <http://e/> CONSTRUCT WHERE { ?x :p [] }")
    assert short.form == Construct((a.TriplePattern(X, P, Variable(".t0")),))
    assert short.pattern == bgp((X, P, b(0)))


def test_dataset_clauses() -> None:
    query = weir.parse("SELECT * FROM <a> FROM NAMED <b> FROM <c> FROM <a> {}")
    assert (query.dataset.default, query.dataset.named) == (("a", "c"), ("b",))


def test_base_and_prefixes() -> None:
    query = weir.parse("BASE <http://b/d/> PREFIX p: <x#> SELECT * { <../a> p:q\\,r <> }")
    assert query.pattern == a.Project(
        bgp((IRI("http://b/a"), IRI("http://b/d/x#q,r"), IRI("http://b/d/"))), ()
    )


def test_a_stream_of_a_variable_binds_it() -> None:
    query = weir.parse("SELECT * { STREAM ?s [NOW] { ?x ?p ?y } }")
    assert query.form == Select((Variable("s"), X, Variable("p"), Y))
    assert query.streams == (Variable("s"),)


def test_the_timestamp_function_of_csparql() -> None:
    query = weir.parse(
        "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT ?x FROM STREAM <s> [RANGE 5s] "
        "{ ?x ?p ?y FILTER (f:timestamp(?x, ?p, ?y) > 1) }"
    )
    assert isinstance(query.pattern, a.Project) and isinstance(query.pattern.pattern, a.Filter)
    function = IRI("http://larkc.eu/csparql/sparql/jena/ext#timestamp")
    call = e.FunctionCall(function, (X, Variable("p"), Y))
    assert query.pattern.pattern.condition == e.Compare(e.Comparison.GT, call, ONE)


def test_unused_window_is_a_warning() -> None:
    query = weir.parse("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { ?x ?p ?y }")
    assert query.warnings == ("the window <w> is declared but not used",)
    assert not weir.parse("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { WINDOW ?w { ?x ?p ?y } }").warnings
    assert not weir.parse("SELECT * FROM WINDOW <w> ON <s> [NOW] { ?x ?p ?y }").warnings


@pytest.mark.parametrize(
    ("clause", "body", "primary"),
    [
        ("FROM NAMED WINDOW <w> ON <s> [NOW]", "WINDOW <v> {}", "the window <v> is not declared"),
        ("FROM WINDOW <w> ON <s> [NOW]", "WINDOW <w> {}", "part of the default graph"),
        ("FROM WINDOW <w> ON <s> [NOW]", "WINDOW ?w {}", "no named window"),
        ("FROM NAMED WINDOW <w> ON <s> [NOW] FROM WINDOW <w> ON <t> [ALL]", "", "declared twice"),
        (
            "FROM WINDOW <a> ON <s> [NOW TICK TUPLE] FROM WINDOW <b> ON <s> [ALL TICK BATCH]",
            "",
            "different ticks",
        ),
        (
            "FROM WINDOW <a> ON <s> [NOW TICK TIME 1s] FROM WINDOW <b> ON <s> [ALL TICK TIME 2s]",
            "",
            "different ticks",
        ),
    ],
)
def test_windows_that_do_not_fit_the_query(clause: str, body: str, primary: str) -> None:
    with pytest.raises(weir.SyntaxError) as caught:
        weir.parse(f"SELECT * {clause} {{ {body} }}")
    assert primary in caught.value.primary


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
