"""Sources: descriptions of where messages come from, and the feeds that plan batches from them.

``source_at`` reads what a user writes, ``source_of`` what the control log keeps. What is
pushed over a network goes through a durable log (``log_writer``), whose receivers have a room of their own.
"""

from weir.runtime.ingest.sources.feeds import Feed, Place, Reached, Source
from weir.runtime.ingest.sources.file_source import FileSource
from weir.runtime.ingest.sources.source_addresses import path_source, source_at, source_of

__all__ = [
    "Feed",
    "FileSource",
    "Place",
    "Reached",
    "Source",
    "log_source",
    "log_writer",
    "path_source",
    "push_sources",
    "source_addresses",
    "source_at",
    "source_of",
]
