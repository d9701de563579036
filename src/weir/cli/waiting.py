"""What a run says on standard error about the streams that it waits for: a line whenever that changes."""

from __future__ import annotations

import typer

from weir.runtime.ingest.sources import source_of
from weir.runtime.running import RunningJob


class Waiting:
    """Called with the job again and again. Nothing is said of streams that end by themselves."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def __call__(self, job: RunningJob) -> None:
        connections = job.receivers.state()
        for stream in job.streams():
            if not stream.endless or stream.source is None:
                continue
            address = source_of(stream.source).address
            found = connections.get(stream.iri, {})
            if found.get("connected", True):
                text = f"{_VERBS.get(stream.source['kind'], 'connected to')} {address}, waiting for messages"
            elif found["problem"]:
                text = f"{address}: {found['problem']}; trying again"
            else:
                text = f"connecting to {address}"
            if self._said.get(stream.iri) != text:
                self._said[stream.iri] = text
                typer.echo(f"weir: <{stream.iri}>: {text}", err=True)


_VERBS = {"files": "watching", "replay": "playing", "kafka": "reading", "log": "taking"}
"""How streams without a connection of their own are waited for."""
