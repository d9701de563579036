"""Stream messages as columns: what every format is read into, before frames and batches.

A message is an atomic dataset with one timestamp; its triples are ordered as serialised and its blank
nodes are its own (docs/semantics.md, "Data"). A message without triples is a heartbeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.encoding import encode_texts

NO_GRAPH_TEXT = ""
"""The text in a graph column of a triple outside any named graph; its id is 0."""


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
    def of(codes: Ids, texts: pl.Series, key: bytes) -> Terms:
        """Encode ``texts``; the empty text is *no graph*, 0."""
        ids = encode_texts(texts, key)
        ids[(texts == NO_GRAPH_TEXT).to_numpy()] = 0
        return Terms(codes, texts, ids)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def column(self) -> Ids:
        """The id of each row."""
        return self.ids[self.codes]


@dataclass(frozen=True, slots=True)
class Messages:
    """Consecutive messages of one lane.

    ``position`` grows along the lane and tells messages of equal time apart, however the lane is cut
    into batches; ``triples`` counts a message's triples. The triple columns list, for each triple, its
    ``message`` (an index, ascending) and its ``place`` within it.
    """

    time: Ids
    position: Ids
    triples: Ids
    message: Ids
    place: Ids
    subject: Terms
    predicate: Terms
    object: Terms
    graph: Terms
    rejected: tuple[Rejected, ...] = ()

    @property
    def columns(self) -> tuple[Terms, Terms, Terms, Terms]:
        return self.subject, self.predicate, self.object, self.graph


def assemble(
    time: Ids,
    position: Ids,
    message: Ids,
    columns: Sequence[Terms],
    *,
    scope: str,
    key: bytes,
    rejected: Iterable[Rejected] = (),
) -> Messages:
    """Messages from columns, with blank nodes renamed by (``scope``, position of the message, label).

    ``message`` ascends. The new labels depend on nothing else, so a replay gives the same terms.
    """
    triples = np.bincount(message, minlength=len(time)).astype(np.int64)
    firsts = np.cumsum(triples) - triples
    place = np.arange(len(message)) - firsts[message]
    tag = hashlib.blake2b(scope.encode(), digest_size=6, key=key[:64]).hexdigest()
    subject, predicate, target, graph = (_scoped(each, position[message], tag, key) for each in columns)
    found = tuple(rejected)
    return Messages(time, position, triples, message, place, subject, predicate, target, graph, found)


def _scoped(terms: Terms, positions: Ids, tag: str, key: bytes) -> Terms:
    blank: Mask = terms.texts.str.starts_with("_:").to_numpy()
    if not blank.any():
        return terms
    rows = np.flatnonzero(blank[terms.codes])
    if not len(rows):
        return terms
    pairs, where = np.unique(np.stack([positions[rows], terms.codes[rows]]), axis=1, return_inverse=True)
    labels = terms.texts.gather(pairs[1]).str.slice(2)
    renamed = f"_:{tag}p" + pl.Series(pairs[0]).cast(pl.String) + "x" + labels
    codes = terms.codes.copy()
    codes[rows] = len(terms.texts) + where.reshape(-1)
    return Terms(
        codes,
        pl.concat([terms.texts, renamed.rename(terms.texts.name)]),
        np.concatenate([terms.ids, encode_texts(renamed, key)]),
    )


def renumbered(messages: Messages, offset: int) -> Messages:
    """The same with ``offset`` added to the lines of what was rejected."""
    moved = tuple(replace(item, line=item.line + offset) for item in messages.rejected)
    return replace(messages, rejected=moved)
