"""Functions on terms, numerics, dates and hashes."""

from __future__ import annotations

import pytest

from weir.kernel.functions import ExpressionError
from weir.kernel.functions.builtins import BUILTINS, iri
from weir.language.algebra.expressions import Builtin
from weir.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term, TripleTerm
from weir.rdf.xsd.values import boolean


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, XSD + name)


TAGGED = Literal.tagged("x", "en-gb")
TRIPLE = TripleTerm(IRI("s"), IRI("p"), TAGGED)


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (Builtin.STR, (IRI("http://a"),), Literal("http://a")),
        (Builtin.STR, (typed("01", "integer"),), Literal("01")),
        (Builtin.LANG, (TAGGED,), Literal("en-gb")),
        (Builtin.LANG, (typed("1", "integer"),), Literal("")),
        (Builtin.DATATYPE, (TAGGED,), IRI(RDF + "langString")),
        (Builtin.DATATYPE, (Literal("a"),), IRI(XSD + "string")),
        (Builtin.STRDT, (Literal("1"), IRI("urn:t")), Literal("1", "urn:t")),
        (Builtin.STRLANG, (Literal("a"), Literal("EN")), Literal.tagged("a", "en")),
        (Builtin.STRLANGDIR, (Literal("a"), Literal("AR"), Literal("rtl")), Literal.tagged("a", "ar", "rtl")),
        (Builtin.LANGDIR, (Literal.tagged("a", "ar", "rtl"),), Literal("rtl")),
        (Builtin.LANGDIR, (TAGGED,), Literal("")),
        (Builtin.HASLANG, (TAGGED,), boolean(True)),
        (Builtin.HASLANGDIR, (TAGGED,), boolean(False)),
        (Builtin.TRIPLE, (IRI("s"), IRI("p"), TAGGED), TRIPLE),
        (Builtin.SUBJECT, (TRIPLE,), IRI("s")),
        (Builtin.PREDICATE, (TRIPLE,), IRI("p")),
        (Builtin.OBJECT, (TRIPLE,), TAGGED),
        (Builtin.ISTRIPLE, (TRIPLE,), boolean(True)),
        (Builtin.ISTRIPLE, (IRI("a"),), boolean(False)),
        (Builtin.SAMETERM, (typed("1", "integer"), typed("01", "integer")), boolean(False)),
        (Builtin.ISIRI, (IRI("a"),), boolean(True)),
        (Builtin.ISBLANK, (BlankNode("a"),), boolean(True)),
        (Builtin.ISLITERAL, (IRI("a"),), boolean(False)),
        (Builtin.ISNUMERIC, (typed("x", "integer"),), boolean(False)),
        (Builtin.ISNUMERIC, (typed("1", "byte"),), boolean(True)),
        (Builtin.MD5, (Literal("abc"),), Literal("900150983cd24fb0d6963f7d28e17f72")),
        (Builtin.SHA1, (Literal("abc"),), Literal("a9993e364706816aba3e25717850c26c9cd0d89d")),
        (Builtin.YEAR, (typed("2011-01-10T14:45:13.815-05:00", "dateTime"),), typed("2011", "integer")),
        (Builtin.HOURS, (typed("2011-01-10T14:45:13.815-05:00", "dateTime"),), typed("14", "integer")),
        (Builtin.SECONDS, (typed("2011-01-10T14:45:13.815-05:00", "dateTime"),), typed("13.815", "decimal")),
        (
            Builtin.TIMEZONE,
            (typed("2011-01-10T14:45:13.815-05:00", "dateTime"),),
            typed("-PT5H", "dayTimeDuration"),
        ),
        (Builtin.TIMEZONE, (typed("2011-01-10T14:45:13Z", "dateTime"),), typed("PT0S", "dayTimeDuration")),
        (Builtin.TZ, (typed("2011-01-10T14:45:13.815-05:00", "dateTime"),), Literal("-05:00")),
        (Builtin.TZ, (typed("2011-01-10T14:45:13Z", "dateTime"),), Literal("Z")),
        (Builtin.TZ, (typed("2011-01-10T14:45:13+00:00", "dateTime"),), Literal("+00:00")),
        (Builtin.TZ, (typed("2011-01-10T14:45:13", "dateTime"),), Literal("")),
        (Builtin.ABS, (typed("-1", "byte"),), typed("1", "integer")),
        (Builtin.CEIL, (typed("1.1", "decimal"),), typed("2.0", "decimal")),
        (Builtin.ROUND, (typed("-1.5", "double"),), typed("-1.0E0", "double")),
    ],
)
def test_functions(function: Builtin, arguments: tuple[Term, ...], expected: Term) -> None:
    assert BUILTINS[function](*arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (Builtin.STR, (BlankNode("a"),)),
        (Builtin.LANG, (IRI("a"),)),
        (Builtin.DATATYPE, (IRI("a"),)),
        (Builtin.STRDT, (TAGGED, IRI("urn:t"))),
        (Builtin.STRDT, (Literal("a"), Literal("urn:t"))),
        (Builtin.STRDT, (Literal("a"), IRI(RDF + "langString"))),
        (Builtin.STRLANG, (Literal("a"), Literal(""))),
        (Builtin.STRLANG, (Literal("a"), Literal("a b"))),
        (Builtin.STRLANG, (Literal("a"), Literal("1a"))),
        (Builtin.STRLANG, (Literal("a"), Literal("en-"))),
        (Builtin.STRLANG, (Literal("a"), Literal("en_GB"))),
        (Builtin.MD5, (typed("1", "integer"),)),
        (Builtin.YEAR, (Literal("2011"),)),
        (Builtin.HOURS, (typed("2011-01-10", "date"),)),
        (Builtin.TIMEZONE, (typed("2011-01-10T14:45:13", "dateTime"),)),
        (Builtin.ABS, (Literal("1"),)),
    ],
)
def test_type_errors(function: Builtin, arguments: tuple[Term, ...]) -> None:
    with pytest.raises(ExpressionError):
        BUILTINS[function](*arguments)


def test_iri_resolves_against_the_base() -> None:
    assert iri(Literal("b"), IRI("http://example/a")) == IRI("http://example/b")
    assert iri(Literal("urn:x"), IRI("http://example/a")) == IRI("urn:x")
    assert iri(Literal("b")) == IRI("b")
    with pytest.raises(ExpressionError):
        iri(typed("1", "integer"))


@pytest.mark.parametrize("base", [None, IRI("http://example/a")])
@pytest.mark.parametrize("char", [*' <>"{}|^`\\', "\0", "\n", "\x1f", "\ud800"])
def test_iri_makes_no_malformed_iri(char: str, base: IRI | None) -> None:
    for text in (char, f"http://example/{char}b", f"b{char}"):
        with pytest.raises(ExpressionError):
            iri(Literal(text), base)


def test_iri_takes_what_only_looks_broken() -> None:
    assert iri(Literal("http://[")) == IRI("http://[")
    assert iri(Literal("../é"), IRI("foo://a/b/c")) == IRI("foo://a/é")
    assert iri(Literal("")) == IRI("")
