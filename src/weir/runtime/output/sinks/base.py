"""What a sink is: it takes the answers of one batch, in order, after all workers are done with it.

Also the names of queries in places that do not take every character: topics and files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Protocol
from urllib.parse import quote

import pyarrow as pa

QUERY = "{query}"
"""Stands for the name of the query in a template."""
MQTT_TOPIC = f"weir/{QUERY}"
KAFKA_TOPIC = f"weir-{QUERY}"
_LONGEST = 200


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


def plain_name(query: str) -> str:
    """Letters, digits, ``.``, ``_`` and ``-`` only; names that differ stay different."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", query.rpartition("/")[2] or query).strip("_")[:_LONGEST]
    if safe == query:
        return safe
    return f"{safe or 'query'}-{hashlib.sha256(query.encode()).hexdigest()[:8]}"


def mqtt_topic(template: str, query: str) -> str:
    """The topic of a query; wildcards, separators and NUL in its name are written as ``%xx``."""
    return template.replace(QUERY, quote(query, safe=":"))


def kafka_topic(template: str, query: str) -> str:
    """The topic of a query."""
    return template.replace(QUERY, plain_name(query))
