"""Pools of patterns: one automaton for all queries on a stream, and who wants what it matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.automaton import Matcher
from weir.plan.analysis.shares import share
from weir.rdf.columns import Ids
from weir.runtime.ingest.dealing import BITS


class Entry(NamedTuple):
    """Patterns of a registration: their machines, the texts that each needs, and which slots want what they
    match: the one in ``slots``, all of them, or, by the term at the place ``share``, one of them."""

    pool: tuple[str, bool]
    slots: tuple[int, ...]
    share: int | None
    machines: Ids
    texts: NDArray[np.int64]


class Table(NamedTuple):
    """Who wants what the machines of a pool match: of machine m the lines ``begins[m]`` to ``begins[m + 1]``.
    A line is a slot, or, behind those, one of the ``splits`` (place, number of slots); and texts as bits."""

    begins: Ids
    target: Ids
    bits: NDArray[np.uint8]
    splits: tuple[tuple[int, int], ...]
    slots: int

    @staticmethod
    def of(entries: Sequence[Entry], bound: int, slots: int, like: Mapping[int, int]) -> Table:
        """Slots that want the same are one, by ``like``."""
        splits = tuple(dict.fromkeys((e.share, len(e.slots)) for e in entries if e.share is not None))
        machine, target, bits = [], [], []
        for entry in entries:
            if entry.share is None:
                ends = list(dict.fromkeys(like.get(slot, slot) for slot in entry.slots))
            else:
                ends = [slots + splits.index((entry.share, len(entry.slots)))]
            needed = ((entry.texts > 0) @ BITS).astype(np.uint8)
            for end in ends:
                machine.append(entry.machines)
                target.append(np.full(len(entry.machines), end, np.int64))
                bits.append(needed)
        machines = np.concatenate(machine) if machine else np.empty(0, np.int64)
        targets = np.concatenate(target) if target else np.empty(0, np.int64)
        texts = np.concatenate(bits) if bits else np.empty(0, np.uint8)
        order = np.lexsort((targets, machines))
        machines, targets, texts = machines[order], targets[order], texts[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (machines[1:] != machines[:-1]) | (targets[1:] != targets[:-1])
        starts = np.flatnonzero(first)
        if len(starts):
            machines, targets = machines[starts], targets[starts]
            texts = np.bitwise_or.reduceat(texts, starts)
        return Table(machines.searchsorted(np.arange(bound + 1)), targets, texts, splits, slots)

    def dealt(self, rows: Ids, machines: Ids, quads: Sequence[Ids]) -> tuple[Ids, Ids, NDArray[np.uint8]]:
        """(slot, row, texts) of every row that a machine matches, for each slot that wants it."""
        lines, counts = self.begins[machines], self.begins[machines + 1] - self.begins[machines]
        if len(counts) and (counts != 1).any():
            rows = np.repeat(rows, counts)
            within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            lines = np.repeat(lines, counts) + within
        slot = self.target[lines]
        for number, (place, count) in enumerate(self.splits, self.slots):
            if len(self.target) == 1:
                slot = share(quads, place, count, rows)
                break
            mine = np.flatnonzero(slot == number)
            slot[mine] = share(quads, place, count, rows[mine])
        return slot, rows, self.bits[lines]


class Pool:
    """Patterns of one kind on one stream: the automaton of all, and who wants what they match."""

    def __init__(self) -> None:
        self.matcher = Matcher()
        self.table: Table | None = None
