"""The dictionary: texts of hashed ids. Inline ids carry their own text and are never stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from weir.errors import DataError
from weir.rdf.columns import Ids
from weir.rdf.ids.encoding import DEFAULT_KEY, encode_text, encode_texts
from weir.rdf.ids.inline import inline_text
from weir.rdf.terms import Term, parse_term

_FEW = 384
"""Below this many texts, one by one is faster than a column."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """Ids, ascending and distinct, with their texts: columns that may lie in a mapped file."""

    ids: Ids
    texts: pa.LargeStringArray

    def find(self, identifier: int) -> str | None:
        """The text of an id, None where it is not here."""
        place = int(np.searchsorted(self.ids, identifier))
        if place == len(self.ids) or self.ids[place] != identifier:
            return None
        text: str = self.texts[place].as_py()
        return text


class Dictionary:
    """Ids to texts under one key. Grows by ``encode`` and ``add``; ``retain`` is its only way to shrink,
    and counts up ``generation``, so that whoever remembers ids knows when to encode again."""

    def __init__(self, key: bytes = DEFAULT_KEY) -> None:
        self.key = key
        self._texts: dict[int, str] = {}
        self.tables: dict[str, TextTable] = {}
        self.generation = 0

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, identifier: int) -> bool:
        return identifier < 0 or identifier in self._texts or self._stored(identifier) is not None

    def encode(self, term: Term) -> int:
        """The id of one term, whose text is kept."""
        text = str(term)
        identifier = encode_text(text, self.key)
        if identifier > 0 and self._texts.setdefault(identifier, text) != text:
            raise _collision(self._texts[identifier], text)
        return identifier

    def encode_terms(self, terms: Iterable[Term | None]) -> Ids:
        """The ids of terms, whose texts are kept; None is unbound, 0."""
        texts = [None if term is None else str(term) for term in terms]
        out = np.zeros(len(texts), np.int64)
        bound = [place for place, text in enumerate(texts) if text is not None]
        out[bound] = self.encode_texts([texts[place] for place in bound])  # type: ignore[misc]
        return out

    def encode_texts(self, texts: Sequence[str] | pl.Series) -> Ids:
        """The ids of canonical texts, which are kept."""
        if len(texts) <= _FEW:
            few = list(texts)
            ids = np.array([encode_text(text, self.key) for text in few], np.int64)
            self.add(ids, few)
            return ids
        series = texts if isinstance(texts, pl.Series) else pl.Series(texts, dtype=pl.String)
        ids = encode_texts(series, self.key)
        self.add(ids, series.to_list())
        return ids

    def add(self, ids: Ids, texts: Sequence[str]) -> None:
        """Keep texts that came with their ids; a collision of two texts is an error."""
        known = self._texts
        for identifier, text in zip(ids.tolist(), texts, strict=True):
            if identifier > 0 and known.setdefault(identifier, text) != text:
                raise _collision(known[identifier], text)

    def text(self, identifier: int) -> str:
        """The canonical text of an id; ``KeyError`` where it is unknown."""
        if identifier < 0:
            return inline_text(identifier)
        known = self._texts.get(identifier)
        found = self._stored(identifier) if known is None else known
        if found is None:
            raise KeyError(identifier)
        return found

    def having(self, ids: Ids) -> TextTable:
        """Those of the ids, ascending and distinct, whose texts are known."""
        found: list[tuple[Ids, pa.LargeStringArray]] = []
        rest = ids[ids > 0]
        for table in self.tables.values():
            place = np.minimum(table.ids.searchsorted(rest), len(table.ids) - 1)
            here = table.ids[place] == rest
            found.append((rest[here], table.texts.take(pa.array(place[here]))))
            rest = rest[~here]
        own = np.array([each for each in rest.tolist() if each in self._texts], np.int64)
        texts = [self._texts[each] for each in own.tolist()]
        found.append((own, pa.array(texts, pa.large_string())))
        known = np.concatenate([each for each, _ in found])
        order = np.argsort(known)
        every = pa.concat_arrays([texts for _, texts in found])
        return TextTable(known[order], every if len(found) == 1 else every.take(pa.array(order)))

    def attach(self, name: str, table: TextTable) -> None:
        """Look texts up in a table, too; in place of the one of that name."""
        self.tables.pop(name, None)
        if len(table.ids):
            self.tables[name] = table

    def _stored(self, identifier: int) -> str | None:
        for table in self.tables.values():
            found = table.find(identifier)
            if found is not None:
                return found
        return None

    def texts(self, ids: Ids) -> list[str | None]:
        """The texts of a column, None where unbound; each distinct id is looked up once."""
        distinct, where = np.unique(ids, return_inverse=True)
        found = np.array([None if i == 0 else self.text(i) for i in distinct.tolist()], dtype=object)
        return found[where].tolist() if len(distinct) else []

    def decode(self, identifier: int) -> Term:
        """The term of an id."""
        return parse_term(self.text(identifier))

    def retain(self, ids: Ids) -> None:
        """Forget every text but those of ``ids``."""
        self.generation += 1
        keep = set(ids.tolist())
        self._texts = {i: text for i, text in self._texts.items() if i in keep}

    def items(self) -> tuple[Ids, list[str]]:
        """Everything kept, as columns, for a frame or a snapshot."""
        return np.fromiter(self._texts, np.int64, len(self._texts)), list(self._texts.values())


def _collision(one: str, other: str) -> DataError:
    return DataError(
        "two terms have the same id",
        detail=f"{one} and {other}",
        hint="start again with a new checkpoint: it draws a new key",
    )
