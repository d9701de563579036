"""What a sink is: it takes the answers of one batch, in order, after all workers are done with it.

Also a router, which gives each query's results to where they belong, publishers of fragments, and the topics
of queries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import pyarrow as pa

from weir.errors import UsageError
from weir.storage.places import file_name

QUERY = "{query}"
"""Stands for the name of the query in a template."""
MQTT_TOPIC = f"weir/{QUERY}"
KAFKA_TOPIC = f"weir-{QUERY}"


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

    @property
    def parts(self) -> Sequence[tuple[pa.Table, Path | None]]:
        """What each slot answered, in its order, and in which file that is, if it is one."""
        return [(self.table, None)]

    def __len__(self) -> int:
        return int(self.table.num_rows)


class Sink(Protocol):
    """``form`` is what it takes: ``jsonl`` (columns at, line) or ``columns`` (at, op, texts).

    A batch may be offered again after a failure; ``promise`` says what comes of that.
    """

    form: str
    promise: str

    def open(self) -> None:
        return

    def write(self, batch: int, results: Sequence[Results]) -> None: ...

    def close(self) -> None:
        return


class Router:
    """Rules (pattern, sink): a sink gets the results of queries whose names match (``*``, ``?``, ``[…]``).

    All rules that match count. Its promise is the weakest of its sinks'; they take one form.
    """

    def __init__(self, rules: Sequence[tuple[str, Sink]]) -> None:
        if not rules:
            raise UsageError("a router needs a rule")
        forms = {sink.form for _, sink in rules}
        if len(forms) > 1:
            raise UsageError(f"the sinks of a router take different forms: {', '.join(sorted(forms))}")
        self.rules = list(rules)
        self.form = forms.pop()
        self.promise = max((sink.promise for _, sink in rules), key=_weakness)

    def open(self) -> None:
        for sink in self._sinks():
            sink.open()

    def write(self, batch: int, results: Sequence[Results]) -> None:
        """Every sink is told of every batch, also where nothing in it is for it."""
        for sink in self._sinks():
            patterns = [pattern for pattern, target in self.rules if target is sink]
            chosen = [r for r in results if any(fnmatchcase(r.name, pattern) for pattern in patterns)]
            sink.write(batch, chosen)

    def close(self) -> None:
        for sink in self._sinks():
            sink.close()

    def _sinks(self) -> list[Sink]:
        """Each once, whatever the number of its rules."""
        return list({id(sink): sink for _, sink in self.rules}.values())


class Publisher(Protocol):
    """Makes facts of a query's results (``weir.fragments.server``)."""

    def write(self, lines: Iterable[Mapping[str, Any]]) -> object: ...

    def predicate(self, variable: str) -> str: ...


class FragmentsSink(Sink):
    """Publishers by the names of their queries; the results of other queries are left alone."""

    form = "jsonl"
    promise = "exactly once: facts that are published again change nothing"

    def __init__(self, publishers: Mapping[str, Publisher]) -> None:
        self.publishers = dict(publishers)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        """Publish the answers of one batch, evaluation by evaluation."""
        for answers in results:
            publisher = self.publishers.get(answers.name)
            if publisher is not None and len(answers):
                publisher.write(json.loads(line) for line in answers.table.column("line").to_pylist())


def _weakness(promise: str) -> int:
    """How little a promise says."""
    return next(
        (n for n, start in enumerate(("exactly", "at least", "at most")) if promise.startswith(start)), 3
    )


def mqtt_topic(template: str, query: str) -> str:
    """The topic of a query; wildcards, separators and NUL in its name are written as ``%xx``."""
    return template.replace(QUERY, quote(query, safe=":"))


def kafka_topic(template: str, query: str) -> str:
    """The topic of a query."""
    return template.replace(QUERY, file_name(query))
