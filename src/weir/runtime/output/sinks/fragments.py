"""A sink of the job that publishes what queries answer as fragment data sets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from weir.fragments.server import Publisher
from weir.runtime.output.sinks.base import Results


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
