"""Combinations of triples grown down the tree of steps: the loops of ``resolve``, which numba compiles.

Matches are grouped by (probe, value) in a hash table, each group in the order of arrival. Every match that
may begin a combination then descends the tree depth first, combination by combination; nothing is made
that is not part of a longer one or a result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.trie import Layout
from weir.kernel.relations.keys import first_from
from weir.plan.analysis.conjunctions import MAX_PATTERNS
from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit

Rows = NDArray[np.int32]

_PROBE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_FOLD = np.int64(-4658895280553007687)
_FEW = 8


class Groups(NamedTuple):
    """Matches by (probe, value): an open-addressing table of groups, and their matches as runs.

    ``about`` has probe, value, first and end of the run of each group, side by side in memory.
    """

    buckets: Rows
    about: NDArray[np.int64]
    rows: Rows
    machines: Rows


class Kept(NamedTuple):
    """Which combinations to make: see ``Wanted`` in ``resolve``, ``Duplicates`` for the last four. ``fresh``
    is the first row that is not visible at index 0."""

    only_new: bool
    fresh: int
    shown: Mask
    whole: Mask
    any_marked: bool
    marked: Mask
    chain: Ids
    as_set: bool


@njit(cache=True, inline="always")
def _bucket(probe: Any, value: Any, mask: Any) -> Any:
    mixed = np.uint64(value) ^ (np.uint64(probe) * _PROBE)
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    return np.int64(mixed >> np.uint64(32)) & mask


@njit(cache=True, inline="always")
def _fold(value: Any, more: Any) -> Any:
    mixed = np.int64(value * _FOLD)
    mixed ^= mixed >> 29
    return np.int64(mixed + more)


@njit(cache=True)
def group(
    terms: NDArray[np.int64], rows: Ids, machines: Ids, first: int, stop: int, layout: Layout
) -> Groups:
    """The matches ``first`` to ``stop`` of machines that have probes, by (probe, value); ``rows`` ascend."""
    offsets, probes, probe_places = layout.probe_offsets, layout.probes, layout.probe_places
    known = len(offsets) - 1
    entries = 0
    for match in range(first, stop):
        machine = machines[match]
        if machine < known:
            entries += offsets[machine + 1] - offsets[machine]
    capacity = 64
    while capacity < 2 * entries:
        capacity *= 2
    mask = capacity - 1
    buckets = np.full(capacity, -1, np.int32)
    about = np.empty((entries, 4), np.int64)
    member = np.empty(entries, np.int32)
    entry, groups = 0, 0
    for match in range(first, stop):
        machine = machines[match]
        if machine >= known:
            continue
        for number in range(offsets[machine], offsets[machine + 1]):
            probe = probes[number]
            value = 0
            for place in range(3):
                if probe_places[probe] & (1 << place):
                    value = _fold(value, terms[place, rows[match]])
            bucket = _bucket(probe, value, mask)
            at = buckets[bucket]
            while at >= 0 and not (about[at, 1] == value and about[at, 0] == probe):
                bucket = (bucket + 1) & mask
                at = buckets[bucket]
            if at < 0:
                at = buckets[bucket] = groups
                about[at, 0], about[at, 1], about[at, 3] = probe, value, 0
                groups += 1
            member[entry] = at
            about[at, 3] += 1
            entry += 1
    total = 0
    for at in range(groups):
        size = about[at, 3]
        about[at, 2] = about[at, 3] = total
        total += size
    out_rows, out_machines = np.empty(entries, np.int32), np.empty(entries, np.int32)
    entry = 0
    for match in range(first, stop):
        machine = machines[match]
        if machine >= known:
            continue
        for _ in range(offsets[machine], offsets[machine + 1]):
            at = member[entry]
            out_rows[about[at, 3]] = rows[match]
            out_machines[about[at, 3]] = machine
            about[at, 3] += 1
            entry += 1
    return Groups(buckets, about[:groups], out_rows, out_machines)


@njit(cache=True, inline="always")
def _linked(links: Any, terms: Any, chosen: Any, row: Any) -> bool:
    for place in range(3):
        code = (links >> (8 * place)) & 0xFF
        if code and terms[place, row] != terms[(code - 1) & 3, chosen[(code - 1) >> 2]]:
            return False
    return True


@njit(cache=True)
def _contested(
    chosen: Any,
    depth: Any,
    begins: Any,
    ends: Any,
    start: Any,
    end: Any,
    low: Any,
    high: Any,
    marked: Any,
    chain: Any,
    as_set: Any,
) -> bool:
    """Whether a combination, visible in ``[begins, ends)``, is contested (``resolve``): in a set where a
    triple takes over from an equal one, or is taken over; in a bag where it starts when an equal triple goes,
    or ends when one comes. Where many triples of a bag come and go at once, that is not looked into."""
    gone, gone_end = (low[begins - 1], low[begins]) if begins > 0 else (low[0], low[0])
    come, come_end = (high[ends], high[ends + 1]) if ends + 1 < len(high) else (high[0], high[0])
    if not as_set and (gone_end - gone > _FEW or come_end - come > _FEW):
        return True
    for step in range(depth + 1):
        row = chosen[step]
        if not marked[row]:
            continue
        if as_set:
            if start[row] == begins or end[row] == ends:
                return True
            continue
        for other in range(gone, gone_end):
            if chain[other] == chain[row]:
                return True
        for other in range(come, come_end):
            if chain[other] == chain[row]:
                return True
    return False


@njit(cache=True)
def _packed(heads: Rows, found: Rows, count: int, back: int) -> Any:
    """The combinations in front, then those at the back."""
    others = heads.shape[1] - back
    for place in range(others):
        heads[:, count + place] = heads[:, back + place]
        found[count + place] = found[back + place]
    return count, heads[:, : count + others], found[: count + others]


@njit(cache=True)
def grow(
    layout: Layout,
    groups: Groups,
    kept: Kept,
    terms: NDArray[np.int64],
    start: Rows,
    end: Rows,
    low: Rows,
    high: Rows,
    rows: Ids,
    machines: Ids,
    begin: int,
    stop: int,
    room: int,
    width: int,
) -> tuple[int, int, Rows, Rows]:
    """Combinations that begin with the matches ``begin`` to ``stop``, at most ``room`` of them.

    Returns the match to go on with (the same one where there was no room for all of its own); how many
    combinations are plain, neither contested nor of a node that is whole: they come first; then columns:
    the node, start and end of each combination; and its rows, −1 behind the last.
    """
    # Arrays are taken out of their tuples first: inside loops each access would count references.
    root_offsets, roots, links, rest = layout.root_offsets, layout.roots, layout.links, layout.rest
    child_offsets, children, child_machine = layout.child_offsets, layout.children, layout.child_machine
    wide_end, wide_probe = layout.wide_end, layout.wide_probe
    node_ends, node_probe = layout.ends, layout.probe
    from_step, from_place = layout.from_step, layout.from_place
    buckets, about, members, member_machines = groups
    only_new, fresh, shown, whole, any_marked, marked, chain, as_set = kept
    known = len(root_offsets) - 1
    mask = len(buckets) - 1
    heads, found = np.empty((3, room), np.int32), np.empty((room, width), np.int32)
    # Plain combinations grow from the front, the others from the back.
    count, back = 0, room
    # By depth: the triple, the interval, whether any triple is marked, the children still to try, and
    # the run of partners at hand with the child (or, of a wide run, the children) that it is for.
    chosen = np.empty(MAX_PATTERNS + 1, np.int64)
    first = np.empty(MAX_PATTERNS + 1, np.int64)
    last = np.empty(MAX_PATTERNS + 1, np.int64)
    special = np.zeros(MAX_PATTERNS + 1, np.bool_)
    child = np.empty(MAX_PATTERNS + 1, np.int64)
    child_end = np.empty(MAX_PATTERNS + 1, np.int64)
    single = np.empty(MAX_PATTERNS + 1, np.int64)
    run = np.empty(MAX_PATTERNS + 1, np.int64)
    run_end = np.empty(MAX_PATTERNS + 1, np.int64)
    run_node = np.empty(MAX_PATTERNS + 1, np.int64)
    run_first = np.empty(MAX_PATTERNS + 1, np.int64)
    # What each probe was last asked for, and the group found (−1 none, −2 not asked yet): patterns that
    # share a subject, and the triples of one message, ask the same again and again.
    known_value = np.zeros(len(layout.probe_places), np.int64)
    known_owner = np.full(len(layout.probe_places), -2, np.int32)
    match = begin
    while match < stop:
        whole_match, whole_count, whole_back = match, count, back
        row, machine = rows[match], machines[match]
        match += 1
        if machine >= known or start[row] >= end[row]:
            continue
        for root in range(root_offsets[machine], root_offsets[machine + 1]):
            node = roots[root]
            chosen[0] = row
            if links[node] and not _linked(links[node], terms, chosen, row):
                continue
            depth = -1
            begins, ends = np.int64(start[row]), np.int64(end[row])
            while True:
                # A combination has come to ``node`` with chosen[depth + 1].
                depth += 1
                if any_marked:
                    special[depth] = marked[chosen[depth]] or (depth > 0 and special[depth - 1])
                apart = whole[node]
                if node_ends[node] > 0 and (apart or not only_new or (begins > 0 and shown[begins])):
                    if special[depth] and not apart:
                        apart = _contested(
                            chosen, depth, begins, ends, start, end, low, high, marked, chain, as_set
                        )
                    if count == back:
                        return whole_match, *_packed(heads, found, whole_count, whole_back)
                    if apart:
                        back -= 1
                    place = back if apart else count
                    heads[0, place], heads[1, place], heads[2, place] = node, begins, ends
                    for step in range(width):
                        found[place, step] = chosen[step] if step <= depth else -1
                    if not apart:
                        count += 1
                if child_offsets[node] < child_offsets[node + 1]:
                    first[depth], last[depth] = begins, ends
                    child[depth], child_end[depth] = child_offsets[node], child_offsets[node + 1]
                    single[depth] = 0
                    run[depth] = run_end[depth] = 0
                else:
                    depth -= 1
                moved = False
                while depth >= 0 and not moved:
                    if run[depth] < run_end[depth]:
                        place = run[depth]
                        other = np.int64(members[place])
                        run[depth] += 1
                        begins = max(first[depth], np.int64(start[other]))
                        ends = min(last[depth], np.int64(end[other]))
                        if begins >= ends:
                            continue
                        node = run_node[depth]
                        if node < 0:
                            wanted = member_machines[place]
                            at = first_from(child_machine, run_first[depth], child[depth], wanted)
                            if at == child[depth] or child_machine[at] != wanted:
                                continue
                            node = children[at]
                        chosen[depth + 1] = other
                        if rest[node] and not _linked(rest[node], terms, chosen, other):
                            continue
                        moved = True
                    elif child[depth] < child_end[depth]:
                        at = child[depth]
                        node = children[at]
                        value = 0
                        for place in range(3):
                            step = from_step[place, node]
                            if step >= 0:
                                value = _fold(value, terms[from_place[place, node], chosen[step]])
                        together = wide_end[at] > 0 and at >= single[depth]
                        probe = wide_probe[at] if together else node_probe[node]
                        owner = known_owner[probe]
                        if owner == -2 or known_value[probe] != value:
                            bucket = _bucket(probe, value, mask)
                            owner = buckets[bucket]
                            while owner >= 0 and not (about[owner, 1] == value and about[owner, 0] == probe):
                                bucket = (bucket + 1) & mask
                                owner = buckets[bucket]
                            known_value[probe], known_owner[probe] = value, owner
                        if owner < 0:
                            child[depth] = wide_end[at] if together else at + 1
                            continue
                        least: Any = np.int64(low[first[depth]])
                        if (
                            only_new
                            and first[depth] == 0
                            and not together
                            and not whole[node]
                            and child_offsets[node] == child_offsets[node + 1]
                        ):
                            # What is old so far and ends here needs a new triple.
                            least = max(least, fresh)
                        begin_run = first_from(members, about[owner, 2], about[owner, 3], least)
                        end_run = first_from(members, begin_run, about[owner, 3], np.int64(high[last[depth]]))
                        if together:
                            if end_run - begin_run > wide_end[at] - at:
                                # Fewer children than partners: go through them one by one after all.
                                single[depth] = wide_end[at]
                                continue
                            child[depth] = wide_end[at]
                            run_node[depth] = -1
                            run_first[depth] = at
                        else:
                            child[depth] = at + 1
                            run_node[depth] = node
                        run[depth], run_end[depth] = begin_run, end_run
                    else:
                        depth -= 1
                if depth < 0:
                    break
    return match, *_packed(heads, found, count, back)
