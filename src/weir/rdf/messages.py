"""Stream messages as columns: the one bundle in which they travel from the parsers to the evaluators.

A message is an atomic dataset with one timestamp; its triples are ordered as serialised and its blank
nodes are its own (docs/semantics.md, "Data"). A message without triples is a heartbeat. ``Messages`` has ids
alone: texts travel beside it, in a frame or in the ``Terms`` of what was ``Parsed``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from weir.extras import lazily
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.encoding import encode_texts
from weir.rdf.terms import relabelled_text

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = lazily("pyarrow.compute")

NO_GRAPH_TEXT = ""
"""The text in a graph column of a triple outside any named graph; its id is 0."""

_Rows: TypeAlias = Ids | slice
_NONE = np.empty(0, np.int64)
_MESSAGE_COLUMNS = ("time", "triples")
_TRIPLE_COLUMNS = ("message", "place", "subject", "predicate", "object", "graph")


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of one stream: columns of messages, and columns of those of their triples that are kept.

    ``time`` is in µs, ``triples`` counts *all* triples of a message. For each kept triple, ``message`` is the
    index of its message (ascending) and ``place`` its place among all triples of that message; a graph of 0
    is none. ``marks`` are further columns of messages, such as the ``position`` in a lane, for whoever made
    them.
    """

    time: Ids = field(default_factory=lambda: _NONE)
    triples: Ids = field(default_factory=lambda: _NONE)
    message: Ids = field(default_factory=lambda: _NONE)
    place: Ids = field(default_factory=lambda: _NONE)
    subject: Ids = field(default_factory=lambda: _NONE)
    predicate: Ids = field(default_factory=lambda: _NONE)
    object: Ids = field(default_factory=lambda: _NONE)
    graph: Ids = field(default_factory=lambda: _NONE)
    marks: Mapping[str, Ids] = field(default_factory=dict, kw_only=True)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def quads(self) -> tuple[Ids, Ids, Ids, Ids]:
        """The four columns of ids."""
        return self.subject, self.predicate, self.object, self.graph

    @property
    def columns(self) -> dict[str, Ids]:
        """Every column by its name: those of messages, then those of triples, then the marks."""
        named = {name: getattr(self, name) for name in (*_MESSAGE_COLUMNS, *_TRIPLE_COLUMNS)}
        return {**named, **self.marks}

    @staticmethod
    def of_columns(columns: Mapping[str, Ids]) -> Messages:
        """The inverse of ``columns``."""
        named = {name: columns[name] for name in (*_MESSAGE_COLUMNS, *_TRIPLE_COLUMNS)}
        return Messages(**named, marks={name: each for name, each in columns.items() if name not in named})

    def rows(self, keep: Mask) -> Messages:
        """All messages with only those triples that are marked."""
        return self.at(np.flatnonzero(keep))

    def at(self, rows: Ids) -> Messages:
        """All messages with only those triples, ascending."""
        if len(rows) == len(self.message):
            return self
        return self._taken(slice(None), self.message[rows], rows)

    def slice(self, first: int, last: int) -> Messages:
        """Messages number ``first`` up to ``last``."""
        if first == 0 and last >= len(self.time):
            return self
        begin, end = self.message.searchsorted([first, last]).tolist()
        return self._taken(slice(first, last), self.message[begin:end] - first, slice(begin, end))

    def between(self, low: int, high: int) -> Messages:
        """Messages of time in ``[low, high)``; they must be in the order of time."""
        return self.slice(*np.searchsorted(self.time, [low, high]).tolist())

    def where(self, keep: Mask) -> Messages:
        """The messages that are marked."""
        if keep.all():
            return self
        rows = np.flatnonzero(keep[self.message])
        return self._taken(keep, (np.cumsum(keep) - 1)[self.message[rows]], rows)

    def ordered(self, *ties: Ids) -> Messages:
        """In the order of time, then of the columns ``ties``, then as they stand."""
        if (np.diff(self.time) > 0).all():
            return self
        sequence = np.lexsort((*reversed(ties), self.time))
        if (np.diff(sequence) > 0).all():
            return self
        places = np.empty(len(sequence), np.int64)
        places[sequence] = np.arange(len(sequence))
        moved = places[self.message]
        rows = np.argsort(moved, kind="stable")
        return self._taken(sequence, moved[rows], rows)

    @staticmethod
    def concatenated(parts: Iterable[Messages]) -> Messages:
        """One after the other; all parts that have messages have the same marks."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else Messages()
        columns = [part.columns for part in parts]
        joined = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
        starts = np.cumsum([0, *(len(part) for part in parts)])
        joined["message"] += np.repeat(starts[:-1], [len(part.message) for part in parts])
        return Messages.of_columns(joined)

    def _taken(self, chosen: _Rows | Mask, message: Ids, rows: _Rows) -> Messages:
        """The ``chosen`` messages, and of the triples those at ``rows``, which belong to ``message``."""
        return Messages(
            self.time[chosen],
            self.triples[chosen],
            message,
            self.place[rows],
            self.subject[rows],
            self.predicate[rows],
            self.object[rows],
            self.graph[rows],
            marks={name: column[chosen] for name, column in self.marks.items()},
        )


@dataclass(frozen=True, slots=True)
class Rejected:
    """Input that was set aside: its line (or record) counted from 1, why, and how it begins.

    ``record`` is the place of its payload or file among those that were read together.
    """

    line: int
    reason: str
    text: str
    record: int = 0


@dataclass(frozen=True, slots=True)
class Terms:
    """A column of terms: row i has the text ``texts[codes[i]]`` and the id ``ids[codes[i]]``.

    Texts are canonical and few where terms repeat, so what is done once per text is cheap. A text may
    occur twice.
    """

    codes: Ids
    texts: pl.Series
    ids: Ids

    @staticmethod
    def of(codes: Ids, texts: pl.Series | pa.LargeStringArray, key: bytes) -> Terms:
        """Encode ``texts``; the empty text is *no graph*, 0."""
        ids = encode_texts(texts, key)
        column = pl.Series(texts)
        ids[(column == NO_GRAPH_TEXT).to_numpy()] = 0
        return Terms(codes, column, ids)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def column(self) -> Ids:
        """The id of each row."""
        return self.ids[self.codes]

    def rows(self, rows: Ids) -> Terms:
        """Some rows, with only the texts that they use."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return Terms(codes.reshape(-1), self.texts.gather(used), self.ids[used])


@dataclass(frozen=True, slots=True)
class Parsed:
    """Consecutive messages of one lane as they were read, the texts of their terms, and what was rejected.

    ``terms`` are those of the four columns of ``messages.quads``. The mark ``position`` grows along the lane
    and tells messages of equal time apart, however the lane is cut into batches.
    """

    messages: Messages
    terms: tuple[Terms, ...]
    rejected: tuple[Rejected, ...] = ()

    @property
    def position(self) -> Ids:
        return self.messages.marks["position"]

    def where(self, keep: Mask, rejected: Iterable[Rejected] = ()) -> Parsed:
        """Some of the messages, with only the texts that they use."""
        rows = np.flatnonzero(keep[self.messages.message])
        return Parsed(
            self.messages.where(keep), tuple(each.rows(rows) for each in self.terms), tuple(rejected)
        )


def assemble(
    time: Ids,
    position: Ids,
    message: Ids,
    columns: Sequence[Terms],
    *,
    scope: str,
    key: bytes,
    rejected: Iterable[Rejected] = (),
) -> Parsed:
    """Messages from columns, with blank nodes renamed by (``scope``, position of the message, label).

    ``message`` ascends. The new labels depend on nothing else, so a replay gives the same terms.
    """
    triples = np.bincount(message, minlength=len(time)).astype(np.int64)
    firsts = np.cumsum(triples) - triples
    place = np.arange(len(message)) - firsts[message]
    tag = hashlib.blake2b(scope.encode(), digest_size=6, key=key[:64]).hexdigest()
    terms = tuple(_scoped(each, position[message], tag, key) for each in columns)
    quads = [each.column for each in terms]
    return Parsed(
        Messages(time, triples, message, place, *quads, marks={"position": position}), terms, tuple(rejected)
    )


def _scoped(terms: Terms, positions: Ids, tag: str, key: bytes) -> Terms:
    texts = terms.texts.to_arrow()
    blank: Mask = pc.starts_with(texts, "_:").to_numpy(zero_copy_only=False)
    nested: Mask = pc.starts_with(texts, "<<(").to_numpy(zero_copy_only=False)
    if not blank.any() and not nested.any():
        return terms
    rows = np.flatnonzero((blank | nested)[terms.codes])
    if not len(rows):
        return terms
    pairs, where = np.unique(np.stack([positions[rows], terms.codes[rows]]), axis=1, return_inverse=True)
    labels = terms.texts.gather(pairs[1]).str.slice(2)
    renamed = f"_:{tag}p" + pl.Series(pairs[0]).cast(pl.String) + "x" + labels
    for place in np.flatnonzero(nested[pairs[1]]).tolist():
        prefix = f"{tag}p{pairs[0, place]}x"
        text = terms.texts[int(pairs[1, place])]
        renamed[place] = relabelled_text(text, prefix.__add__)
    codes = terms.codes.copy()
    codes[rows] = len(terms.texts) + where.reshape(-1)
    return Terms(
        codes,
        pl.concat([terms.texts, renamed.rename(terms.texts.name)]),
        np.concatenate([terms.ids, encode_texts(renamed, key)]),
    )
