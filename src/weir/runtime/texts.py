"""A dictionary that takes texts a frame at a time and looks into them only when asked.

Most texts that come with a batch are never written out, so they stay in the arrays they came in, one
chunk a batch; a chunk holds every text that the rows of its batch may need, and goes when they are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary
from weir.rdf.hashing import DEFAULT_KEY

_MANY = 16


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Ids, ascending and distinct, with their texts; needed until event time has passed ``until``."""

    name: str
    ids: Ids
    texts: pa.LargeStringArray
    until: int

    @staticmethod
    def of(name: str, ids: Ids, texts: Sequence[str] | pa.LargeStringArray, until: int) -> TextChunk:
        """Sorted and without repeats."""
        distinct, first = np.unique(ids, return_index=True)
        column = texts if isinstance(texts, pa.LargeStringArray) else pa.array(texts, pa.large_string())
        return TextChunk(name, distinct, column.take(pa.array(first)), until)

    def find(self, identifier: int) -> str | None:
        """The text of an id, None where it is not here."""
        place = int(np.searchsorted(self.ids, identifier))
        if place == len(self.ids) or self.ids[place] != identifier:
            return None
        text: str = self.texts[place].as_py()
        return text


class StreamTexts(Dictionary):
    """Constants, static terms and computed terms as any dictionary; the terms of streams in chunks."""

    def __init__(self, key: bytes = DEFAULT_KEY) -> None:
        super().__init__(key)
        self.chunks: list[TextChunk] = []

    def __contains__(self, identifier: int) -> bool:
        return super().__contains__(identifier) or self._find(identifier) is not None

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
        """Texts of a new batch."""
        if len(chunk.ids):
            self.chunks.append(chunk)

    def expire(self, time: int) -> None:
        """Drop the chunks that nothing can need once event time has reached ``time``."""
        self.chunks = [chunk for chunk in self.chunks if chunk.until >= time]

    def compact(self, name: str) -> None:
        """Merge the chunks where they have become many; equal texts are then kept once."""
        if len(self.chunks) <= _MANY:
            return
        texts = pa.chunked_array([chunk.texts for chunk in self.chunks]).combine_chunks()
        ids = np.concatenate([chunk.ids for chunk in self.chunks])
        until = max(chunk.until for chunk in self.chunks)
        self.chunks = [TextChunk.of(name, ids, texts, until)]

    def _find(self, identifier: int) -> str | None:
        for chunk in reversed(self.chunks):
            found = chunk.find(identifier)
            if found is not None:
                return found
        return None
