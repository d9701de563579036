"""Frames as streams: where the parts of a triple come from, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weir
from weir.errors import UsageError
from weir.notebook.frame_streams import ColumnLiteral, FrameStream, is_frame, literal
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.terms import XSD

PREDICATE = "http://e/t"


def lines(**columns: object) -> list[str]:
    parts = {"time", "subject", "predicate", "object", "graph"} & columns.keys()
    how = {name: columns.pop(name) for name in [*parts] if isinstance(columns[name], (str, ColumnLiteral))}
    frame = pl.DataFrame(columns)
    made = FrameStream(frame, **{"predicate": PREDICATE, **how}).lines()  # type: ignore[arg-type]
    found = parse_lines(made, scope="", key=b"", base=0)
    assert not found.rejected
    return [line.partition("\t")[2] for line in made.decode().splitlines()]


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_every_kind_of_frame(kind: type) -> None:
    frame = kind({"time": [2, 1], "subject": ["http://e/b", "http://e/a"], "object": ["_:x", '"y"@en']})
    assert is_frame(frame)
    assert FrameStream(frame, predicate=PREDICATE).lines().decode().splitlines() == [
        f'1970-01-01T00:00:00.001000Z\t<http://e/a> <{PREDICATE}> "y"@en .',
        f"1970-01-01T00:00:00.002000Z\t<http://e/b> <{PREDICATE}> _:x .",
    ]


def test_values_become_literals_of_their_type_or_of_a_given_one() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    values = {"integer": 1, "double": 0.5, "decimal": Decimal("1.50"), "boolean": True}
    for name, value in values.items():
        shown = str(value).lower()
        (found,) = lines(time=[at], subject=["http://e/a"], v=[value], object=literal("v"))
        assert found == f'<http://e/a> <{PREDICATE}> "{shown}"^^<{XSD}{name}> .'
    (found,) = lines(time=[at], subject=["http://e/a"], v=[21.5], object=literal("v", "xsd:decimal"))
    assert found.endswith(f'"21.5"^^<{XSD}decimal> .')
    (found,) = lines(time=[at], subject=["http://e/a"], v=['a"\\\n'], object=literal("v", language="en"))
    assert found.endswith('"a\\"\\\\\\n"@en .')


def test_templates_are_written_as_iris_need_it_and_nulls_leave_rows_out() -> None:
    with pytest.warns(weir.WeirWarning, match="2 of 3 rows are left out: there are nulls in 'room'") as told:
        found = lines(
            time=["2026-01-01T00:00:00Z"] * 3,
            room=["a b/c", None, "d"],
            subject="http://e/{room}",
            object=["http://e/x", "http://e/x", None],
        )
    assert found == [f"<http://e/a%20b%2Fc> <{PREDICATE}> <http://e/x> ."]
    assert told[0].filename == __file__  # Where Weir was called.


def test_a_column_of_graphs_is_taken() -> None:
    (found,) = lines(time=[0], subject=["http://e/a"], object=["http://e/b"], graph=["http://e/g"])
    assert found == f"<http://e/a> <{PREDICATE}> <http://e/b> <http://e/g> ."


def test_times_of_a_zone_are_those_of_utc() -> None:
    at = pd.Timestamp("2026-01-01T01:00:00", tz="Europe/Berlin")
    frame = pd.DataFrame({"time": [at], "subject": ["http://e/a"], "object": ["http://e/b"]})
    assert FrameStream(frame, predicate=PREDICATE).lines().startswith(b"2026-01-01T00:00:00.000000Z\t")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"subject": "sensor"}, "no column 'sensor'"),
        ({"subject": "http://e/{sensor}"}, "no column 'sensor'"),
        ({"object": "words"}, "neither an IRI nor a term"),
        ({"time": "words"}, "no xsd:dateTime"),
        ({"time": "share"}, "which is no time"),
    ],
)
def test_what_makes_no_stream_is_refused(how: dict[str, str], said: str) -> None:
    columns = {"time": [0], "subject": ["http://e/a"], "object": ["http://e/b"]}
    frame = pl.DataFrame({**columns, "words": ["not an IRI"], "share": [0.5]})
    with pytest.raises(UsageError, match=said):
        FrameStream(frame, **{"predicate": PREDICATE, **how}).lines()


def test_what_is_no_frame_or_datatype_is_refused() -> None:
    with pytest.raises(UsageError, match="a dict is no frame"):
        FrameStream({}).lines()
    with pytest.raises(UsageError, match="not the IRI of a datatype"):
        literal("v", "decimal")
    with pytest.raises(UsageError, match="a datatype or a language"):
        literal("v", "xsd:string", language="en")
