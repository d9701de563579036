"""Frames of pandas, Polars and Arrow as streams: a triple for each row, its parts taken from columns."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import Any
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from weir.errors import UsageError, kind_of, warn
from weir.rdf.terms import XSD, is_absolute_iri

_ESCAPED = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
_TERM = r'^(<[^<>"{}|^`\\\x00-\x20]*>|_:\S+|"(?:[^"\\\n\r]|\\.)*"(?:@\S+|\^\^<[^>]*>)?|<<\(.*\)>>)$'


@dataclass(frozen=True, slots=True)
class ColumnLiteral:
    """Literals of a column's values."""

    column: str
    datatype: str | None = None
    language: str | None = None

    def __str__(self) -> str:
        kind = self.language or (self.datatype or "").replace(XSD, "xsd:")
        return f"literal({self.column!r}{', ' * bool(kind)}{kind})"


def literal(column: str, datatype: str | None = None, *, language: str | None = None) -> ColumnLiteral:
    """Take a term from a column of values: ``literal("celsius", "xsd:decimal")``.

    Without a datatype it follows from the type of the column: whole numbers are ``xsd:integer``, decimals
    ``xsd:decimal``, floating numbers ``xsd:double``; booleans, dates and times have theirs; all else is text.
    """
    if datatype is not None and language is not None:
        raise UsageError("a literal has a datatype or a language")
    full = XSD + datatype[4:] if datatype is not None and datatype.startswith("xsd:") else datatype
    if full is not None and not is_absolute_iri(full):
        raise UsageError(f"not the IRI of a datatype: {datatype!r}", hint='such as "xsd:decimal"')
    return ColumnLiteral(column, full, language)


Part = str | ColumnLiteral


def is_frame(source: object) -> bool:
    """Whether this is a frame or table that gives its columns to Arrow; one of Spark's, unless it streams."""
    return hasattr(source, "__arrow_c_stream__") or (
        hasattr(source, "toArrow") and not getattr(source, "isStreaming", False)
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FrameStream:
    """The rows of a ``frame`` as messages: rows of one time are one.

    ``time`` names a column of timestamps, of integer milliseconds or of xsd:dateTime texts. ``subject``,
    ``predicate``, ``object`` and ``graph`` say where each part of the triple comes from: a column of IRIs or
    of terms as in N-Triples; ``literal(column, datatype)``; an IRI, which is the same in all rows; or one
    with columns in braces, ``http://example.org/sensor/{id}``, whose values are written as IRIs need it. A
    row in which one of them is null is left out, with a ``WeirWarning`` that counts them.
    """

    frame: Any
    time: str = "time"
    subject: Part = "subject"
    predicate: Part = "predicate"
    object: Part = "object"
    graph: Part | None = None

    def __repr__(self) -> str:
        parts = f"{self.subject} {self.predicate} {self.object}"
        return f"<weir.FrameStream of {kind_of(self.frame)}: {parts}>"

    def lines(self) -> bytes:
        """The stream lines, in the order of their times."""
        if not is_frame(self.frame):
            raise UsageError(
                f"{kind_of(self.frame)} is no frame",
                hint="give one of pandas, Polars, Arrow or Spark",
            )
        given = self.frame if hasattr(self.frame, "__arrow_c_stream__") else self.frame.toArrow()
        found = pl.from_arrow(pa.table(given))
        assert isinstance(found, pl.DataFrame)
        graph = self.graph if self.graph is not None else "graph" if "graph" in found.columns else None
        parts = [self.subject, self.predicate, self.object, *([graph] if graph is not None else [])]
        texts = [_texts(found, part).alias(f"part {place}") for place, part in enumerate(parts)]
        rows = pl.DataFrame([_times(found, self.time), *texts])
        whole = rows.drop_nulls()
        if len(whole) < len(rows):
            empty = [name for name in found.columns if found[name].null_count()]
            warn(
                f"{len(rows) - len(whole):,} of {len(rows):,} rows are left out: "
                f"there are nulls in {', '.join(map(repr, empty))}",
            )
        rows = whole.sort("time", maintain_order=True)
        line = pl.concat_str(pl.all().exclude("time"), separator=" ")
        written = rows.select(pl.concat_str("time", pl.lit("\t"), line, pl.lit(" .\n"))).to_series()
        return "".join(written.to_list()).encode()


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    if name not in frame.columns:
        raise UsageError(
            f"the frame has no column {name!r}",
            detail=f"it has {', '.join(map(repr, frame.columns))}",
            hint='say which columns to take: weir.FrameStream(frame, time="…", subject="…", …)',
        )
    return frame[name]


def _times(frame: pl.DataFrame, name: str) -> pl.Series:
    """Times as stream lines write them, which sort as they are where they are texts of dateTime in UTC."""
    column = _column(frame, name)
    if column.dtype.is_integer():
        column = column.cast(pl.Datetime("ms"))
    elif column.dtype == pl.String:
        read = column.str.to_datetime(time_unit="us", time_zone="UTC", strict=False)
        if read.null_count() > column.null_count():
            raise UsageError(f"the column {name!r} has texts that are no xsd:dateTime")
        column = read
    elif column.dtype != pl.Datetime:
        raise UsageError(
            f"the column {name!r} is of type {column.dtype}, which is no time",
            hint="timestamps, integer milliseconds, or xsd:dateTime texts",
        )
    if getattr(column.dtype, "time_zone", None) not in (None, "UTC"):
        column = column.dt.convert_time_zone("UTC")
    return column.dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").alias("time")


def _texts(frame: pl.DataFrame, part: Part) -> pl.Series:
    """The terms of a part, as N-Triples texts."""
    if isinstance(part, ColumnLiteral):
        return _literals(_column(frame, part.column), part)
    if part in frame.columns:
        return _terms(frame[part], part)
    fields = [field for _, field, _, _ in Formatter().parse(part) if field is not None]
    if not fields and not is_absolute_iri(part):
        _column(frame, part)
    pieces: list[pl.Expr] = []
    for text, field, _, _ in Formatter().parse(part):
        if text:
            pieces.append(pl.lit(text))
        if field is not None:
            values = _column(frame, field).cast(pl.String)
            known = {each: quote(each, safe="~") for each in values.unique().drop_nulls().to_list()}
            pieces.append(pl.lit(values.replace_strict(known, default=None, return_dtype=pl.String)))
    made = frame.select(pl.concat_str(pl.lit("<"), *pieces, pl.lit(">"))).to_series()
    return made if fields else pl.Series([made[0]] * len(frame) if len(made) else [], dtype=pl.String)


def _terms(column: pl.Series, name: str) -> pl.Series:
    """A column of IRIs, or of terms as they are; of values where it is not of texts."""
    if column.dtype != pl.String:
        return _literals(column, ColumnLiteral(name))
    made = pl.select(
        pl.when(column.str.contains(_TERM)).then(column).otherwise("<" + column + ">")
    ).to_series()
    wrong = column.filter(~made.str.contains(_TERM).fill_null(True))
    if len(wrong):
        raise UsageError(
            f"the column {name!r} has {wrong[0]!r}, which is neither an IRI nor a term as in N-Triples",
            hint=f'for values use weir.literal("{name}")',
        )
    return made


def _literals(column: pl.Series, part: ColumnLiteral) -> pl.Series:
    """A literal for each value."""
    kind = column.dtype
    texts = column.cast(pl.String)
    if kind == pl.Datetime:
        texts = column.dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
        texts = texts + "Z" if getattr(kind, "time_zone", None) else texts
    elif kind.is_float():
        special = {"inf": "INF", "-inf": "-INF"}
        texts = texts.replace(special)
    for plain, written in _ESCAPED:
        texts = texts.str.replace_all(plain, written, literal=True)
    if part.language is not None:
        return '"' + texts + f'"@{part.language}'
    datatype = part.datatype or _datatype(kind)
    return '"' + texts + ('"' if datatype is None else f'"^^<{datatype}>')


def _datatype(kind: pl.DataType) -> str | None:
    if kind.is_integer():
        return XSD + "integer"
    if kind.is_float():
        return XSD + "double"
    named = {pl.Decimal: "decimal", pl.Boolean: "boolean", pl.Datetime: "dateTime", pl.Date: "date"}
    found = next((name for each, name in named.items() if kind == each), None)
    return None if found is None else XSD + found
