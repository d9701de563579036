"""The results of a query that has run to its end: rows, an Arrow table, frames."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from weir.extras import lazily
from weir.language import Query
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.typed_columns import typed

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
else:
    pd, pl = lazily("pandas"), lazily("polars")

_SHOWN = 20
"""Rows that a notebook shows."""


class Results:
    """All results of one query, in the order of their times.

    A row has its evaluation time ``at``, ``op`` (``R``, ``I`` or ``D``) and a value for each variable of
    SELECT, ``subject``, ``predicate`` and ``object`` for CONSTRUCT, or ``boolean`` for ASK; a variable that
    has one of the first two names is called ``?at`` or ``?op``. Values are as ``to_arrow`` has them: numbers,
    booleans, times, and strings without marks where a column is of one kind. ``texts`` has every term as in
    N-Triples, ``metrics`` what the run counted.
    """

    def __init__(self, query: Query, texts: pa.Table, metrics: Metrics) -> None:
        self.query, self.texts, self.metrics = query, texts, metrics
        self._table: pa.Table | None = None

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.texts.column_names)

    def __len__(self) -> int:
        return int(self.texts.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.to_arrow().to_batches():
            yield from batch.to_pylist()

    def to_arrow(self) -> pa.Table:
        """An Arrow table with typed columns."""
        if self._table is None:
            made = {name: self.texts[name] for name in ("at", "op")}
            for name in self.columns[2:]:
                column = self.texts[name]
                asked = name == "boolean" and column.type == pa.bool_()
                made[name] = column if asked else typed(column)
            self._table = pa.table(made)
        return self._table

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame whose columns are Arrow's, so that numbers with gaps stay numbers."""
        found: pd.DataFrame = self.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
        return found

    def to_polars(self) -> pl.DataFrame:
        """A Polars DataFrame."""
        found = pl.from_arrow(self.to_arrow())
        assert isinstance(found, pl.DataFrame)
        return found

    def __repr__(self) -> str:
        return f"<weir.Results: {len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """The first rows as a table."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = self.to_arrow().slice(0, _SHOWN).to_pylist()
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows
        )
        rest = len(self) - len(rows)
        more = f"<p>… and {rest:,} more rows</p>" if rest else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    text = "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)
    return escape(text if len(text) <= 200 else text[:199] + "…")
