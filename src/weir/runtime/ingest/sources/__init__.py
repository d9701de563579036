"""Sources of Weir's own: what they are, and how one is found again from the control log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weir.runtime.ingest.sources.addresses import PUSHED, source_from
from weir.runtime.ingest.sources.base import Feed, Place, Reached, Source
from weir.runtime.ingest.sources.files import FileSource
from weir.runtime.ingest.sources.kafka import KafkaSource
from weir.runtime.ingest.sources.log import LogSource
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.paths import path_source
from weir.runtime.ingest.sources.replay import ReplaySource

__all__ = [
    "KINDS",
    "Feed",
    "FileSource",
    "KafkaSource",
    "LogSource",
    "LogWriter",
    "Place",
    "Reached",
    "ReplaySource",
    "Source",
    "path_source",
    "source_from",
    "source_of",
]

KINDS: Mapping[str, Callable[..., Source]] = {
    FileSource.kind: FileSource,
    KafkaSource.kind: KafkaSource,
    ReplaySource.kind: ReplaySource,
    **{each.kind: each for each in PUSHED},
}
"""Every kind of source by its name."""


def source_of(values: Mapping[str, Any]) -> Source:
    """A source from its JSON values."""
    fields = {name: value for name, value in values.items() if name != "kind"}
    return KINDS[values["kind"]](**fields)
