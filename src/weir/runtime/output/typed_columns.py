"""Columns of terms as columns of values.

A column whose terms are all of one kind gets the type of that kind: whole numbers ``int64``, decimals
``decimal128``, floating numbers ``double``, and ``bool``, ``timestamp``, ``string``. Whole numbers among
decimals are decimals, and any among floating ones are floating. IRIs and blank nodes are one kind, plain
strings and strings with a language another: both are strings without their marks. A column of several kinds
keeps the N-Triples texts, so nothing is guessed and nothing lost; so does one with a term whose text is no
value of its type.

Where the type has to be known before the terms are, ``values_as`` gives every column the type it is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from weir.rdf.formats.times import read_times
from weir.rdf.terms import IRI, XSD, Literal, Term, parse_term

_LITERAL = r'(?s)^"(.*)"(?:\^\^<([^>]*)>|(@.+))?$'
_DECIMAL_TEXT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_UNIT, _ROOMY = Decimal("1e-18"), Context(prec=10_000, rounding=ROUND_HALF_EVEN)
_WHOLE = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("nonPositiveInteger", "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort"),
        "unsignedByte",
    )
)
_DECIMAL, _BOOLEAN, _DATETIME = XSD + "decimal", XSD + "boolean", XSD + "dateTime"
_FLOATING = frozenset({XSD + "double", XSD + "float"})
_NODE, _TEXT, _OTHER = "node", "text", "other"
_DIGITS = 38
"""Digits that an Arrow decimal has room for."""

VALUE_TYPES: Mapping[str, pa.DataType] = {
    "long": pa.int64(),
    "decimal": pa.decimal128(_DIGITS, 18),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "string": pa.string(),
    "ntriples": pa.string(),
}
"""The types of values that can be asked for; ``ntriples`` are the terms themselves."""


def typed(texts: pa.ChunkedArray) -> pa.Array:
    """The values of a column of canonical N-Triples texts; what is unbound is null."""
    return _each_once(texts, _values, pa.string())


def values_as(texts: pa.ChunkedArray, kind: str) -> tuple[pa.Array, int]:
    """The values of such a column as one of ``VALUE_TYPES``, and how many terms have none of that type, which
    are null."""
    wanted = VALUE_TYPES[kind]
    found = _each_once(texts, lambda known: _as_kind(known, kind).cast(wanted), wanted)
    return found, found.null_count - texts.null_count


def _each_once(
    texts: pa.ChunkedArray, values: Callable[[pl.Series], pa.Array], empty: pa.DataType
) -> pa.Array:
    """A column of what ``values`` gives for its distinct texts; of the type ``empty`` where it has none."""
    column = pl.Series(pl.from_arrow(texts.cast(pa.large_string())))
    known = column.unique(maintain_order=True).drop_nulls()
    if known.is_empty():
        return pa.nulls(len(column), empty)
    places = known.to_frame("text").with_row_index("place")
    found = column.to_frame("text").join(places, on="text", how="left", maintain_order="left")["place"]
    return values(known).take(pa.array(found.to_arrow(), pa.uint32()))


def _as_kind(known: pl.Series, kind: str) -> pa.Array:
    """The values of distinct texts; null where one has none of that kind."""
    if kind == "ntriples":
        return known.to_arrow().cast(pa.string())
    if kind == "string":
        terms = map(parse_term, known.to_list())
        return pa.array([_plain(term) for term in terms], pa.string())
    lexical, datatype, _ = known.str.extract_groups(_LITERAL).struct.unnest().get_columns()

    def of(types: Iterable[str]) -> pl.Series:
        return pl.select(pl.when(datatype.is_in(list(types))).then(lexical)).to_series()

    match kind:
        case "long":
            return of(_WHOLE).str.strip_prefix("+").cast(pl.Int64, strict=False).to_arrow()
        case "decimal":
            return pa.array(map(_bounded, of(_WHOLE | {_DECIMAL}).to_list()), VALUE_TYPES[kind])
        case "double":
            return _floats(of(_WHOLE | {_DECIMAL} | _FLOATING)).to_arrow()
        case "boolean":
            return _truths(of((_BOOLEAN,))).to_arrow()
    texts = of((_DATETIME,))
    times, good = read_times(texts.fill_null(""))
    found = pa.array(times).cast(VALUE_TYPES["timestamp"])
    return pc.if_else(pa.array(good), found, pa.scalar(None, found.type))


def _plain(term: Term) -> str:
    match term:
        case IRI(value):
            return value
        case Literal():
            return term.lexical
    return str(term)


def _bounded(lexical: str | None) -> Decimal | None:
    """A decimal with at most 18 digits behind the point; None where it has too many before it."""
    if lexical is None or not _DECIMAL_TEXT.fullmatch(lexical):
        return None
    value = Decimal(lexical).quantize(_UNIT, context=_ROOMY)
    return value if value.adjusted() < _DIGITS - 18 else None


def _values(known: pl.Series) -> pa.Array:
    """The values of distinct texts."""
    parts = known.str.extract_groups(_LITERAL).struct.unnest()
    lexical, datatype, tag = parts.get_columns()
    plain = lexical.is_not_null() & datatype.is_null()
    node = known.str.starts_with("_:") | (known.str.starts_with("<") & ~known.str.starts_with("<<("))
    kinds = set(
        pl.select(
            pl.when(datatype.is_not_null())
            .then(datatype)
            .when(plain | tag.is_not_null())
            .then(pl.lit(_TEXT))
            .when(node)
            .then(pl.lit(_NODE))
            .otherwise(pl.lit(_OTHER))
        )
        .to_series()
        .to_list()
    )
    made: pa.Array | None = None
    if kinds == {_NODE}:
        made = known.str.strip_prefix("<").str.strip_suffix(">").to_arrow()
    elif kinds == {_TEXT}:
        made = _unescaped(known, lexical).to_arrow()
    elif kinds <= _WHOLE:
        made = _whole(lexical)
    elif kinds <= _WHOLE | {_DECIMAL}:
        made = _decimals(lexical)
    elif kinds <= _WHOLE | {_DECIMAL} | _FLOATING:
        made = _strict(_floats(lexical))
    elif kinds == {_BOOLEAN}:
        made = _strict(_truths(lexical))
    elif kinds == {_DATETIME}:
        times, good = read_times(lexical)
        made = pa.array(times).cast(pa.timestamp("us", tz="UTC")) if good.all() else None
    if made is None:
        made = known.to_arrow()
    return made.cast(pa.string()) if pa.types.is_large_string(made.type) or _is_view(made) else made


def _is_view(values: pa.Array) -> bool:
    return bool(pa.types.is_string_view(values.type))


def _unescaped(known: pl.Series, lexical: pl.Series) -> pl.Series:
    """Texts without quotes; those with escapes one by one."""
    if not known.str.contains("\\", literal=True).any():
        return lexical
    terms = (parse_term(text) for text in known.to_list())
    return pl.Series([term.lexical for term in terms if isinstance(term, Literal)], dtype=pl.String)


def _floats(lexical: pl.Series) -> pl.Series:
    return lexical.str.replace("^([+-]?)INF$", "${1}inf").cast(pl.Float64, strict=False)


def _truths(lexical: pl.Series) -> pl.Series:
    told = {"true": True, "1": True, "false": False, "0": False}
    return lexical.replace_strict(told, default=None, return_dtype=pl.Boolean)


def _strict(values: pl.Series) -> pa.Array | None:
    """The values, where each text has one."""
    return None if values.null_count() else values.to_arrow()


def _whole(lexical: pl.Series) -> pa.Array | None:
    found = _strict(lexical.str.strip_prefix("+").cast(pl.Int64, strict=False))
    return _decimals(lexical) if found is None else found


def _decimals(lexical: pl.Series) -> pa.Array | None:
    """Decimals with as many digits behind the point as the longest has; floating where that is too many."""
    if not lexical.str.contains(f"^{_DECIMAL_TEXT.pattern}$").all():
        return None
    values = [Decimal(text) for text in lexical.to_list()]
    scale = max(0, *(-int(value.as_tuple().exponent) for value in values))
    before = max(value.adjusted() + 1 for value in values)
    if max(before, 1) + scale > _DIGITS:
        return pa.array([float(value) for value in values], pa.float64())
    return pa.array(values, pa.decimal128(_DIGITS, scale))
