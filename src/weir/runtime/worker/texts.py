"""A dictionary that takes texts a frame at a time and looks into them only when asked.

Most texts that come with a batch are never written out, so they stay in the arrays they came in. A chunk
holds every text that the rows of its batches may need, and goes when they are gone. Chunks of similar size
are merged, equal texts once, so there are few of them however long a stream runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary, TextTable
from weir.rdf.ids.encoding import DEFAULT_KEY

MOST_MERGED = 1 << 20
_ROOM_FOR_COMPUTED = 100_000


@dataclass(frozen=True, slots=True)
class TextChunk(TextTable):
    """The texts of some batches; needed until event time has passed ``until``."""

    name: str
    until: int

    @staticmethod
    def of(name: str, ids: Ids, texts: Sequence[str] | pa.LargeStringArray, until: int) -> TextChunk:
        """Sorted and without repeats."""
        distinct, first = np.unique(ids, return_index=True)
        column = texts if isinstance(texts, pa.LargeStringArray) else pa.array(texts, pa.large_string())
        return TextChunk(distinct, column.take(pa.array(first)), name, until)

    def __len__(self) -> int:
        return len(self.ids)

    def only(self, name: str, ids: Ids) -> TextChunk:
        """The texts of ``ids`` among these."""
        rows = np.flatnonzero(np.isin(self.ids, ids, assume_unique=True))
        return TextChunk(self.ids[rows], self.texts.take(pa.array(rows)), name, self.until)


class StreamTexts(Dictionary):
    """Constants, static terms and computed terms as any dictionary; the terms of streams in chunks.

    ``settle`` marks what a dictionary of this kind must never forget; computed terms beyond that are kept
    only while there are few.
    """

    def __init__(self, key: bytes = DEFAULT_KEY) -> None:
        super().__init__(key)
        self.chunks: list[TextChunk] = []
        self._lasting: Ids = np.empty(0, np.int64)

    def __contains__(self, identifier: int) -> bool:
        return super().__contains__(identifier) or self._find(identifier) is not None

    @property
    def held(self) -> int:
        """The number of texts in chunks."""
        return sum(len(chunk) for chunk in self.chunks)

    def text(self, identifier: int) -> str:
        """The canonical text of an id; ``KeyError`` where it is unknown."""
        try:
            return super().text(identifier)
        except KeyError:
            found = self._find(identifier)
            if found is None:
                raise
            return found

    def add_chunk(self, chunk: TextChunk) -> None:
        """Texts of a new batch, merged with its smaller neighbours."""
        if not len(chunk):
            return
        while self.chunks:
            last = self.chunks[-1]
            if len(last) > 2 * len(chunk) or len(last) + len(chunk) > MOST_MERGED:
                break
            self.chunks.pop()
            ids = np.concatenate([last.ids, chunk.ids])
            texts = pa.concat_arrays([last.texts, chunk.texts])
            chunk = TextChunk.of(chunk.name, ids, texts, max(last.until, chunk.until))
        self.chunks.append(chunk)

    def expire(self, time: int) -> None:
        """Drop the chunks that nothing can need once event time has reached ``time``."""
        self.chunks = [chunk for chunk in self.chunks if chunk.until >= time]

    def keep_only(self, ids: Ids, name: str) -> None:
        """Drop the texts in chunks of all but ``ids``."""
        kept = [chunk.only(f"{name}.{place}", ids) for place, chunk in enumerate(self.chunks)]
        self.chunks = [chunk for chunk in kept if len(chunk)]

    def settle(self) -> None:
        """What is known now, outside chunks, is known for good."""
        self._lasting = self.items()[0]

    def forget_computed(self) -> None:
        """Drop computed terms where they have become many; rows that hold one have its text in a chunk."""
        if len(self) > 2 * len(self._lasting) + _ROOM_FOR_COMPUTED:
            self.retain(self._lasting)

    def _find(self, identifier: int) -> str | None:
        for chunk in reversed(self.chunks):
            found = chunk.find(identifier)
            if found is not None:
                return found
        return None
