"""Rows dealt to slots: what each slot gets of a part, cut out of its columns in one pass for all of them.

A slot that has to know of every message of a stream gets all of them with the triples it wants. Any other
gets the messages that have such a triple, and a watermark in place of the rest. Each message has one *home*,
the slot that counts it for all; one that nobody wants goes to its home without its triples.

The cost is that of the rows and of one small frame for each slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit
from weir.rdf.messages import Messages, Terms
from weir.runtime.ingest.frames import Plain, counted
from weir.runtime.output.text_columns import arrow_texts

BITS = np.array([1, 2, 4, 8], np.uint8)
"""Of the places of a quad: which of them have to be there as texts."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """Rows of a part by the slot that wants them, ascending, each once, with the texts they need as bits."""

    slot: Ids
    row: Ids
    bits: NDArray[np.uint8]

    @staticmethod
    def of(slot: Ids, row: Ids, bits: NDArray[np.uint8]) -> Dealt:
        """Of rows that may come several times for a slot."""
        if len(slot) and (int(slot[0]) != int(slot[-1]) or (slot != slot[0]).any()):
            order = np.argsort(slot.astype(np.uint16), kind="stable")
            slot, row, bits = slot[order], row[order], bits[order]
        if not len(slot):
            return Dealt(slot, row, bits)
        first = np.ones(len(slot), np.bool_)
        first[1:] = (slot[1:] != slot[:-1]) | (row[1:] != row[:-1])
        if first.all():
            return Dealt(slot, row, bits)
        starts = np.flatnonzero(first)
        return Dealt(slot[starts], row[starts], np.bitwise_or.reduceat(bits, starts))

    def bounds(self, slots: Sequence[int]) -> Mapping[int, slice]:
        """Where the rows of each slot are."""
        begins = self.slot.searchsorted(slots).tolist()
        ends = self.slot.searchsorted(slots, side="right").tolist()
        return {slot: slice(begin, end) for slot, begin, end in zip(slots, begins, ends, strict=True)}


class Texts:
    """The texts that each slot needs of the rows dealt to it; inline ids carry their own. ``told`` marks the
    rows, and in them the places, whose texts these are."""

    def __init__(self, dealt: Dealt, columns: Sequence[Terms]) -> None:
        slots, ids, codes, texts = [], [], [], []
        self.told = np.zeros(len(dealt.row), np.uint8)
        known = 0
        for bit, terms in zip(BITS, columns, strict=True):
            chosen = np.flatnonzero(dealt.bits & bit)
            if not len(chosen):
                continue
            code, slot = terms.codes[dealt.row[chosen]], dealt.slot[chosen]
            new = np.flatnonzero(_firsts(slot, code, np.full(len(terms.texts), -1, np.int64), terms.ids))
            self.told[chosen[new]] |= bit
            code = code[new]
            slots.append(slot[new])
            ids.append(terms.ids[code])
            codes.append(known + code)
            texts.append(terms.texts.rename("text"))
            known += len(terms.texts)
        self.slot = self._ids = self.code = np.empty(0, np.int64)
        self._texts = texts
        if slots:
            self.slot, self._ids, self.code = map(np.concatenate, (slots, ids, codes))
        if len(slots) > 1:
            order = np.argsort(self.slot.astype(np.uint16), kind="stable")
            self.slot, self._ids, self.code = self.slot[order], self._ids[order], self.code[order]

    @cached_property
    def known(self) -> pa.LargeStringArray:
        """The texts by their codes."""
        return arrow_texts(pl.concat(self._texts)) if self._texts else pa.array([], pa.large_string())

    def of(self, slot: int) -> tuple[Ids, pa.LargeStringArray]:
        """Ids and texts; what stands at several places of rows may be there for each."""
        first, last = self.slot.searchsorted([slot, slot + 1]).tolist()
        return self._ids[first:last], self.known.take(pa.array(self.code[first:last]))


@njit(over=("code",), cache=True)
def _firsts(slot: Ids, code: Ids, seen: Ids, ids: Ids) -> Mask:
    """Where a code whose id is not inline comes for the first time in its slot; ``slot`` ascends, and
    ``seen`` has room for it."""
    new = np.empty(len(code), np.bool_)
    for place in range(len(code)):
        new[place] = seen[code[place]] != slot[place] and ids[code[place]] > 0
        seen[code[place]] = slot[place]
    return new


class Cut:
    """The messages of some slots, each with those that have a row for it and those whose home it is.

    Of slot number i in ``slots`` the messages are those from ``messages[0][i]`` up to ``messages[1][i]``, the
    rows are by ``rows`` among those of ``mine``.
    """

    def __init__(self, messages: Messages, dealt: Dealt, home: Ids, slots: Sequence[int]) -> None:
        bound = 1 + max(*slots, int(dealt.slot.max(initial=0)), int(home.max(initial=0)))
        cut = np.zeros(bound + 1, np.bool_)
        cut[list(slots)] = True
        self.mine = mine = slice(None) if len(slots) == bound else cut[dealt.slot]
        slot, row = dealt.slot[mine], dealt.row[mine]
        message = messages.message[row]
        begins = np.ones(len(slot), np.bool_)
        begins[1:] = (slot[1:] != slot[:-1]) | (message[1:] != message[:-1])
        starts = np.flatnonzero(begins)
        which, of = slot[starts], message[starts]
        place = np.cumsum(begins) - 1
        there = cut[home]
        there[of[home[of] == which]] = False
        lonely = np.flatnonzero(there)
        if len(lonely):
            which, of = np.concatenate([which, home[lonely]]), np.concatenate([of, lonely])
            order = np.lexsort((of, which))
            moved = np.empty(len(order), np.int64)
            moved[order] = np.arange(len(order))
            which, of, place = which[order], of[order], moved[place]
        self.slots = np.array(slots)
        self._number = {slot: number for number, slot in enumerate(slots)}
        self.messages = which.searchsorted(slots), which.searchsorted(slots, side="right")
        self.rows = slot.searchsorted(slots), slot.searchsorted(slots, side="right")
        self._time, self._triples, self._index = messages.time[of], messages.triples[of], of
        self._home = home[of] == which
        self._message = place - np.repeat(self.messages[0], self.rows[1] - self.rows[0])
        self._columns = [messages.place[row], *(column[row] for column in messages.quads)]
        self.plain = self._plain(alone=not len(lonely) and len(of) == len(row))

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Those of all slots, one after the other: of messages, then of triples."""
        names = ("place", "subject", "predicate", "object", "graph")
        return {
            "time": self._time,
            "triples": self._triples,
            "index": self._index,
            "home": self._home.view(np.int8),
            "message": self._message,
            **dict(zip(names, self._columns, strict=True)),
        }

    def _plain(self, alone: bool) -> Plain:
        """What is true of the columns of every slot; ``alone`` says that each message has one row."""
        names = ("triples", "home", "place", "subject", "predicate", "object", "graph")
        columns = (self._triples, self._home.view(np.int8), *self._columns)
        found = {
            name: told
            for name, column in zip(names, columns, strict=True)
            if (told := counted(column)) is not None and (told[1] == 0 or not len(column))
        }
        return {**found, "message": (0, 1)} if alone else found

    def of(self, slot: int) -> tuple[Messages, Ids, Mask]:
        """A slot's messages, their places among all, and which have their home there."""
        number = self._number[slot]
        mine, rows = (
            slice(int(first[number]), int(last[number])) for first, last in (self.messages, self.rows)
        )
        messages = Messages(
            self._time[mine], self._triples[mine], self._message[rows], *(c[rows] for c in self._columns)
        )
        return messages, self._index[mine], self._home[mine]


def homes(messages: Messages, dealt: Dealt, slots: Sequence[int]) -> Ids:
    """The slot that counts each message: one that has a row of it, and of the rest each an equal part.
    Heartbeats have none."""
    home = np.full(len(messages), -1, np.int64)
    home[messages.message[dealt.row[::-1]]] = dealt.slot[::-1]
    lonely = np.flatnonzero((home < 0) & (messages.triples > 0))
    home[lonely] = np.array(slots)[np.arange(len(lonely)) * len(slots) // max(1, len(lonely))]
    return home
