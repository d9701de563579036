"""What a sink is: it takes the answers of one batch, in order, after all workers are done with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa


class Results:
    """The answers of one query in one batch, merged over the slots that made them.

    In columns, a row whose ``op`` is null stands for an evaluation without results (EMPTY).
    """

    def __init__(self, name: str, table: pa.Table) -> None:
        self.name = name
        self._table = table

    @property
    def table(self) -> pa.Table:
        """All of them."""
        return self._table

    def blocks(self) -> Iterator[pa.Table]:
        """The same, a bounded number of rows at a time where they have yet to be put together."""
        yield self.table

    def __len__(self) -> int:
        return int(self.table.num_rows)


class Sink(Protocol):
    """``form`` is what it takes: ``jsonl`` (columns at, line) or ``columns`` (at, op, texts).

    A batch may be offered again after a failure; ``promise`` says what comes of that.
    """

    form: str
    promise: str

    def open(self) -> None: ...

    def write(self, batch: int, results: Sequence[Results]) -> None: ...

    def close(self) -> None: ...
