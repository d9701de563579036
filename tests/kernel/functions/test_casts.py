"""Constructor functions of XSD types."""

from __future__ import annotations

import pytest

from weir.kernel.functions import ExpressionError
from weir.kernel.functions.casts import CASTS
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, XSD + name)


@pytest.mark.parametrize(
    ("target", "term", "expected"),
    [
        ("string", IRI("http://a"), "http://a"),
        ("string", typed("1.0", "decimal"), "1"),
        ("string", typed("1.50E0", "double"), "1.5"),
        ("string", typed("1e9", "double"), "1.0E9"),
        ("string", typed("0", "boolean"), "false"),
        ("boolean", typed("0.0", "decimal"), "false"),
        ("boolean", typed("NaN", "double"), "false"),
        ("boolean", Literal(" true "), "true"),
        ("integer", typed("-1.9", "decimal"), "-1"),
        ("integer", typed("1e3", "double"), "1000"),
        ("integer", typed("true", "boolean"), "1"),
        ("integer", Literal("+07"), "7"),
        ("byte", Literal("127"), "127"),
        ("decimal", typed("0.5", "double"), "0.5"),
        ("decimal", typed("0.1", "double"), "0.1000000000000000055511151231257827021181583404541015625"),
        ("decimal", typed("0.1", "float"), "0.100000001490116119384765625"),
        ("decimal", typed("-0.0", "double"), "0.0"),
        ("integer", typed("1e23", "double"), "99999999999999991611392"),
        ("integer", typed("16777217", "float"), "16777216"),
        ("integer", typed("-0.9", "double"), "0"),
        ("integer", typed("1.7976931348623157e308", "double"), str(int(1.7976931348623157e308))),
        ("string", typed("0.1", "double"), "0.1"),
        ("string", typed("0.1", "float"), "0.1"),
        ("double", Literal("1"), "1.0E0"),
        ("float", typed("0.1", "double"), "1.0E-1"),
        ("dateTime", Literal("2024-01-01T00:00:00Z"), "2024-01-01T00:00:00Z"),
        ("dateTime", typed("2024-01-01Z", "date"), "2024-01-01T00:00:00Z"),
        ("date", typed("2024-01-01T10:00:00+01:00", "dateTime"), "2024-01-01+01:00"),
        ("time", typed("2024-01-01T10:00:00Z", "dateTime"), "10:00:00Z"),
        ("dayTimeDuration", Literal("PT1H"), "PT1H"),
    ],
)
def test_casts(target: str, term: Term, expected: str) -> None:
    assert CASTS[XSD + target](term) == typed(expected, target)


@pytest.mark.parametrize(
    ("target", "term"),
    [
        ("string", BlankNode("a")),
        ("integer", Literal("1.0")),
        ("integer", typed("INF", "double")),
        ("integer", IRI("a")),
        ("byte", typed("128", "integer")),
        ("decimal", typed("NaN", "double")),
        ("boolean", Literal("yes")),
        ("double", Literal.tagged("1", "en")),
        ("dateTime", typed("1", "integer")),
        ("date", Literal("2024")),
        ("time", typed("2024-01-01", "date")),
        ("yearMonthDuration", Literal("PT1H")),
    ],
)
def test_impossible_casts(target: str, term: Term) -> None:
    with pytest.raises(ExpressionError):
        CASTS[XSD + target](term)
