"""Facts as columns of a container (``storage``), and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from weir.fragments.protocol.annotation import Fact, TripleText
from weir.storage import numbers


def triple_columns(rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """The first three texts of each row."""
    columns = list(zip(*(row[:3] for row in rows), strict=True)) or [(), (), ()]
    return {name: pa.array(column, pa.string()) for name, column in zip("spo", columns, strict=True)}


def fact_columns(facts: Sequence[Fact]) -> dict[str, Any]:
    """Triples and their validity."""
    times = {"start": [fact.start for fact in facts], "end": [fact.end for fact in facts]}
    return {**triple_columns(facts), **{name: pa.array(each, pa.int64()) for name, each in times.items()}}


def triples_of(table: Mapping[str, Any]) -> list[TripleText]:
    """What ``triple_columns`` was made of."""
    return list(zip(*(table[name].to_pylist() for name in "spo"), strict=True))


def facts_of(table: Mapping[str, Any]) -> list[Fact]:
    """What ``fact_columns`` was made of."""
    times = zip(numbers(table["start"]).tolist(), numbers(table["end"]).tolist(), strict=True)
    return [Fact(*triple, *span) for triple, span in zip(triples_of(table), times, strict=True)]
