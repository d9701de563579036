"""A tree of steps as arrays: what ``resolve`` and ``compiled`` walk."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.steps import PLACES, link
from weir.rdf.columns import Ids

ROOT = -1

WIDE = 8
"""From this many children of one node that are looked up alike, they are found by value, not one by one."""


class Layout(NamedTuple):
    """Nodes are numbered; children of a node, roots and lanes of a machine are runs of one array.

    By node: its ``links``, how many queries end there, and how it is reached: by looking up its ``lane``
    with the values of the places that it is linked to. ``from_step`` and ``from_place`` have a row per
    place of the new triple, −1 where the place is not looked up. ``rest`` are links still to check then:
    a hash of several values may deceive, and a pattern may use a variable twice. A lane is a machine and
    the set of places (as bits) whose values make the key.

    Children of a node that are looked up alike stand together, by machine. Where there are ``WIDE`` or
    more, ``wide_end`` at the first of them is where they end (0 elsewhere) and ``wide_lane`` the lane
    that holds the matches of *all* machines by those places.
    """

    links: Ids
    ends: Ids
    lane: Ids
    from_step: NDArray[np.int64]
    from_place: NDArray[np.int64]
    rest: Ids
    children: Ids
    child_offsets: Ids
    child_machine: Ids
    wide_end: Ids
    wide_lane: Ids
    roots: Ids
    root_offsets: Ids
    lanes: Ids
    lane_offsets: Ids
    lane_places: Ids
    wide_lanes: Ids
    wide_offsets: Ids


def lay_out(live: Ids, bound: int, parent: Ids, machine: Ids, links: Ids, depth: Ids, ends: Ids) -> Layout:
    """The arrays of a tree: ``live`` are its nodes, all below ``bound``; the rest is by node."""
    every_links, every_ends = links[:bound].copy(), ends[:bound].copy()
    parent, machine, links, depth = parent[live], machine[live], links[live], depth[live]
    from_step = np.full((PLACES, bound), -1, np.int64)
    from_place = np.zeros((PLACES, bound), np.int64)
    places, own = np.zeros(len(live), np.int64), np.zeros(len(live), np.bool_)
    for place in range(PLACES):
        step, origin = link(links, place)
        known = (step >= 0) & (step < depth)
        own |= step == depth
        from_step[place, live[known]] = step[known]
        from_place[place, live[known]] = origin[known]
        places |= np.where(known, 1 << place, 0)
    several = (places & (places - 1)) != 0

    inner = np.flatnonzero(parent != ROOT)
    codes, lanes = np.unique(machine[inner] * 8 + places[inner], return_inverse=True)
    machines = int(machine.max(initial=-1)) + 1
    by_machine, lane_offsets = runs(np.arange(len(codes)), codes >> 3, machines)

    order = inner[np.lexsort((machine[inner], links[inner], parent[inner]))]
    wide_end, wide_lane = _wide(parent[order], links[order], places[order], len(codes))
    covered = _covered(wide_end)
    pairs = np.unique(machine[order][covered] * 8 + places[order][covered])
    wide_lanes, wide_offsets = runs(len(codes) + (pairs & 7), pairs >> 3, machines)
    outer = np.flatnonzero(parent == ROOT)
    roots, root_offsets = runs(live[outer], machine[outer], machines)
    return Layout(
        links=every_links,
        ends=every_ends,
        lane=_spread(live[inner], lanes, bound),
        from_step=from_step,
        from_place=from_place,
        rest=_spread(live, np.where(own | several, links, 0), bound),
        children=live[order],
        child_offsets=offsets_of(parent[order], bound),
        child_machine=machine[order],
        wide_end=wide_end,
        wide_lane=wide_lane,
        roots=roots,
        root_offsets=root_offsets,
        lanes=by_machine,
        lane_offsets=lane_offsets,
        lane_places=np.concatenate([codes & 7, np.arange(8)]),
        wide_lanes=wide_lanes,
        wide_offsets=wide_offsets,
    )


def _wide(parent: Ids, links: Ids, places: Ids, lanes: int) -> tuple[Ids, Ids]:
    """Where runs of children with equal parent and links begin that are wide: their end and lane."""
    count = len(parent)
    end, lane = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if count:
        head = np.ones(count, np.bool_)
        head[1:] = (parent[1:] != parent[:-1]) | (links[1:] != links[:-1])
        first = np.flatnonzero(head)
        after = np.append(first[1:], count)
        many = (after - first >= WIDE) & (places[first] != 0)
        end[first[many]] = after[many]
        lane[first[many]] = lanes + places[first[many]]
    return end, lane


def _covered(wide_end: Ids) -> NDArray[np.bool_]:
    """Which children stand in a wide run."""
    change = np.zeros(len(wide_end) + 1, np.int64)
    first = np.flatnonzero(wide_end)
    change[first] += 1
    np.subtract.at(change, wide_end[first], 1)
    return np.cumsum(change)[:-1] > 0


def runs(items: Ids, owners: Ids, bound: int) -> tuple[Ids, Ids]:
    """The items of each owner, as runs of one array, and where the runs begin."""
    order = np.argsort(owners, kind="stable")
    return items[order], offsets_of(owners, bound)


def offsets_of(owners: Ids, bound: int) -> Ids:
    offsets = np.zeros(bound + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=bound), out=offsets[1:])
    return offsets


def _spread(nodes: Ids, values: Ids, bound: int) -> Ids:
    out = np.zeros(bound, np.int64)
    out[nodes] = values
    return out
