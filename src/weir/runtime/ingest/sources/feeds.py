"""What a source is: a description that the control log can hold, and the feed that plans batches from it.

All sources of Weir's own share one source of Spark (``spark.datasource``), whose offset is a map from
streams to the offsets of their feeds. So a stream is added to a running job by a line of the control log,
without a restart, and a batch has the fixed cost of one source however many streams there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from weir.errors import CheckpointError
from weir.runtime.ingest.parts import Part

Reached: TypeAlias = Mapping[str, Any]
"""A feed's offset as plain JSON values; ``{}`` is the beginning. A key ``end`` that is true says that the
source has ended."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a feed keeps what it has to remember, and how many parts a batch should have.

    ``own`` is Weir's part of the checkpoint; ``log_name`` is a file name for the stream, unique in it.
    """

    stream: str
    own: Path
    log_name: str
    parallelism: int = 1


class Feed(ABC):
    """Plans batches in the driver. Given the same offsets it gives the same parts, also after a restart."""

    @abstractmethod
    def latest(self, start: Reached, finishing: bool) -> Reached:
        """How far the next batch goes; equal to ``start`` where there is nothing new. ``finishing``: what is
        there now is all there will be."""

    @abstractmethod
    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """What lies between two offsets, about as many parts as there are cores."""

    def committed(self, reached: Reached) -> None:
        """Everything before ``reached`` has been read for good. Most sources keep what they have."""
        return

    def refuse_more(self, reached: Reached) -> None:
        """Raise ``CheckpointError`` where the source has grown after its end was reported."""
        more = self.beyond(reached) if reached.get("end") else None
        if more is not None:
            raise CheckpointError(
                f"the input of this checkpoint has ended, but there is more: {more}",
                hint="the end of the input ends its checkpoint: start again with a new one",
            )

    @abstractmethod
    def beyond(self, reached: Reached) -> object | None:
        """What there is behind the end of the input, None where there is nothing."""


class Source(ABC):
    """A description of where messages come from: a frozen dataclass of plain values.

    ``kind`` finds the class again (``sources.source_of``). ``endless`` sources go on until they are told to
    finish; lanes of theirs that are silent for longer than IDLE are not waited for. Every kind has a field
    ``times_distinct``: the promise that the times of each lane strictly increase.
    """

    __slots__ = ()
    kind: ClassVar[str]

    @property
    def endless(self) -> bool:
        return True

    @property
    def address(self) -> str:
        """Where messages come from, as people write it; options are left out."""
        return self.kind

    @abstractmethod
    def check(self) -> None:
        """Raise ``UsageError`` where nothing can be read."""

    def check_place(self, own: Path) -> None:
        """Raise ``UsageError`` where the checkpoint whose folder is ``own`` cannot keep what it has to."""
        return

    def as_json(self) -> dict[str, Any]:
        """The fields, and ``kind``."""
        fields: Any = self
        return {"kind": self.kind, **asdict(fields)}

    @abstractmethod
    def feed(self, place: Place) -> Feed: ...
