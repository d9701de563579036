"""What columns of terms become: one type where all terms are of one kind, texts where they are not."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from weir.rdf.terms import XSD, Literal
from weir.runtime.output.typed_columns import VALUE_TYPES, typed, values_as


def column(*texts: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(texts, pa.large_string())])


def of(datatype: str, *lexical: str) -> pa.ChunkedArray:
    return column(*(str(Literal(each, XSD + datatype)) for each in lexical))


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        (of("integer", "1", "-2", "007", "+4"), pa.int64(), [1, -2, 7, 4]),
        (of("unsignedByte", "255"), pa.int64(), [255]),
        (of("integer", "1", str(10**20)), pa.decimal128(38, 0), [Decimal(1), Decimal(10**20)]),
        (of("decimal", "1.50", "-2", ".5"), pa.decimal128(38, 2), [Decimal("1.50"), -2, Decimal("0.5")]),
        (of("decimal", "1." + "1" * 40), pa.float64(), [1.1111111111111112]),
        (of("double", "1.5E0", "-INF", "INF"), pa.float64(), [1.5, float("-inf"), float("inf")]),
        (of("boolean", "true", "0"), pa.bool_(), [True, False]),
        (column('"a\\"b\\nc"', '"x"@en'), pa.string(), ['a"b\nc', "x"]),
        (column("<http://e/a>", "_:b", None), pa.string(), ["http://e/a", "_:b", None]),
        (column(None, None), pa.string(), [None, None]),
    ],
)
def test_terms_of_one_kind_get_its_type(given: pa.ChunkedArray, kind: pa.DataType, values: list[Any]) -> None:
    found = typed(given)
    assert found.type == kind
    assert found.to_pylist() == values


def test_times_are_in_utc() -> None:
    found = typed(of("dateTime", "2026-11-18T12:00:00+01:00", "2026-11-18T11:00:00Z"))
    assert found.to_pylist() == [datetime(2026, 11, 18, 11, tzinfo=UTC)] * 2


def test_numbers_of_several_types_are_numbers() -> None:
    whole, exact, floating = (str(Literal("1", XSD + name)) for name in ("integer", "decimal", "double"))
    assert typed(column(whole, exact)).type == pa.decimal128(38, 0)
    assert typed(column(whole, exact, floating, None)).to_pylist() == [1.0, 1.0, 1.0, None]


@pytest.mark.parametrize(
    "texts",
    [
        ("<http://e/a>", '"a"'),
        ('"1"', f'"1"^^<{XSD}integer>'),
        (f'"x"^^<{XSD}integer>',),
        (f'"maybe"^^<{XSD}boolean>',),
        (f'"never"^^<{XSD}dateTime>',),
        ('"1"^^<http://e/metre>',),
        ("<<( <http://e/a> <http://e/b> <http://e/c> )>>",),
    ],
)
def test_what_has_no_one_kind_keeps_its_texts(texts: tuple[str, ...]) -> None:
    assert typed(column(*texts)).to_pylist() == list(texts)


MIXED = [
    *(str(Literal(text, XSD + "integer")) for text in ("7", str(2**63))),
    *(str(Literal(text, XSD + "decimal")) for text in ("0.5", "1." + "1" * 40)),
    *(str(Literal(text, XSD + "double")) for text in ("1E1", "-INF")),
    str(Literal("1", XSD + "boolean")),
    str(Literal("2026-11-18T12:00:00+01:00", XSD + "dateTime")),
    *('"a\\nb"@en', "<http://e/a>", None),
]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("long", {0: 7}),
        ("decimal", {0: Decimal(7), 1: Decimal(2**63), 2: Decimal("0.5"), 3: Decimal("1." + "1" * 18)}),
        ("double", {0: 7.0, 1: 2.0**63, 2: 0.5, 3: 1.1111111111111112, 4: 10.0, 5: float("-inf")}),
        ("boolean", {6: True}),
        ("timestamp", {7: datetime(2026, 11, 18, 11, tzinfo=UTC)}),
        (
            "string",
            dict(
                enumerate(
                    [
                        *("7", str(2**63), "0.5", "1." + "1" * 40, "1E1", "-INF", "1"),
                        *("2026-11-18T12:00:00+01:00", "a\nb", "http://e/a"),
                    ]
                )
            ),
        ),
        ("ntriples", dict(enumerate(MIXED))),
    ],
)
def test_a_column_gets_the_type_it_is_told(kind: str, values: dict[int, Any]) -> None:
    found, left_out = values_as(column(*MIXED), kind)
    assert found.type == VALUE_TYPES[kind]
    assert found.to_pylist() == [values.get(place) for place in range(len(MIXED))]
    assert left_out == len(MIXED) - 1 - sum(value is not None for value in values.values())
    assert values_as(column(None), kind)[0].to_pylist() == [None]
