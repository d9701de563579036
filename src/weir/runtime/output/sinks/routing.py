"""Results of each query to where they belong: a router, one file per query, publishers of fragments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from weir.errors import UsageError
from weir.runtime.output.sinks.base import Results, Sink, plain_name
from weir.runtime.output.sinks.result_files import ExactFile, joined


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


class FilePerQuery:
    """Result lines in ``folder/NAME.jsonl``, a file for each query, made with its first result."""

    form = "jsonl"
    promise = "exactly once"

    def __init__(self, folder: Path, logs: Path) -> None:
        self.folder = folder
        self.logs = logs / "per-query"
        self._files: dict[str, ExactFile] = {}

    def path(self, query: str) -> Path:
        """Where the results of a query go."""
        return self.folder / f"{plain_name(query)}.jsonl"

    def open(self) -> None:
        """Cut every file to what is known to be done, also those of queries that write no more."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        for log in sorted(self.logs.glob("*.log")):
            self._file(log.stem)

    def write(self, batch: int, results: Sequence[Results]) -> None:
        for result in results:
            if len(result):
                self._file(plain_name(result.name)).append(batch, joined([result]))

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def _file(self, name: str) -> ExactFile:
        if name not in self._files:
            file = ExactFile(self.folder / f"{name}.jsonl", self.logs / f"{name}.log")
            file.open()
            self._files[name] = file
        return self._files[name]


class Publisher(Protocol):
    """Makes facts of a query's results (``weir.fragments.server``)."""

    def write(self, lines: Iterable[Mapping[str, Any]]) -> object: ...


class FragmentsSink:
    """Publishers by the names of their queries; the results of other queries are left alone."""

    form = "jsonl"
    promise = "exactly once: facts that are published again change nothing"

    def __init__(self, publishers: Mapping[str, Publisher]) -> None:
        self.publishers = dict(publishers)

    def open(self) -> None:
        """Nothing to prepare: data sets are there before results are."""

    def write(self, batch: int, results: Sequence[Results]) -> None:
        """Publish the answers of one batch, evaluation by evaluation."""
        for answers in results:
            publisher = self.publishers.get(answers.name)
            if publisher is not None and len(answers):
                publisher.write(json.loads(line) for line in answers.table.column("line").to_pylist())

    def close(self) -> None:
        """What was published stays until it expires."""


def _weakness(promise: str) -> int:
    """How little a promise says."""
    return next(
        (n for n, start in enumerate(("exactly", "at least", "at most")) if promise.startswith(start)), 3
    )
