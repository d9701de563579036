"""The last join of a flow and the distinct combinations of what is wanted of it, in one go.

CONSTRUCT sends a set of triples at each evaluation. Where a flow has one instant a row, the triples are
combinations of what the flow gives and what a window gives: both are numbered, and a compiled loop that
slides over the window with the flow finds each pair of numbers once. No pair becomes a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.fast.short_cuts import PlainForm
from weir.kernel.operators.inputs.pattern_inputs import PatternInputs
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.join import Join
from weir.kernel.relations.keys import codes, hash_table, slot_of
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.evaluation_times import Evaluations
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit

_FEWEST = 1 << 8
_NONE = np.empty(0, np.int64)


class DistinctJoin:
    """CONSTRUCT of one triple over a join that has one flow, all of whose last rows are new.

    Declines where the plan has several flows, or conditions; gives rows where the last input is no window, or
    too little comes to it.
    """

    def __init__(self, root: Join, form: PlainForm, inputs: PatternInputs) -> None:
        self.root = root
        self.form = form
        self.inputs = inputs

    def answer(self, evaluations: Evaluations) -> Answers | Relation | None:
        """The distinct triples at each time, or the join's rows."""
        at = evaluations.at
        self.inputs.prepare(at)
        pending = self.root.until_last()
        if pending is None:
            return None
        flow, last = pending
        if not len(flow):
            return Relation.empty()
        if isinstance(last, WindowInput):
            padded = np.append(at.emitted, False)
            new = bool(padded[flow.start].all()) and not padded[flow.end].any() and flow.start.min() > 0
            found = distinct_join(flow, last, self.form.wanted, at.time) if new else None
            if found is not None:
                times, values = found
                return Answers(times, self.form.triples(values, len(times)), _NONE, len(evaluations.times))
        return last.join(flow)


def distinct_join(
    flow: Relation, window: WindowInput, names: Sequence[str], times: Ids
) -> tuple[Ids, dict[str, Ids]] | None:
    """The distinct combinations of time and ``names`` in ``flow ⋈ window``, in the order of time.

    The flow's rows have one instant each, whose times are ``times``. None where it does not apply or would
    not pay.
    """
    on = [name for name in window.variables if name in flow.columns]
    if len(on) != 1 or len(flow) < _FEWEST or not window.takes_ranges(flow) or not _rises(flow.start):
        return None
    ours = [name for name in names if name in flow.columns]
    theirs = [name for name in names if name not in flow.columns]
    low, high, first, end = window.ranges(flow)
    group, instant, mine = _groups_of(flow.columns, flow.start, ours)
    values = [window.column(name)[first:end] for name in theirs]
    number, rows = numbered(values[0]) if len(values) == 1 else codes(values, end - first)
    order = _order(instant)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    owner = rank[group]
    owners, numbers = sliding_pairs(
        _order(owner),
        flow.columns[on[0]],
        low - first,
        high - first,
        owner,
        window.column(on[0])[first:end],
        number,
        len(rows),
    )
    if not len(owners):
        return None
    chosen = order[owners]
    columns = {name: mine[name][chosen] for name in ours}
    picked = rows[numbers]
    columns |= {name: column[picked] for name, column in zip(theirs, values, strict=True)}
    return times[instant[chosen]], columns


def _order(values: Ids) -> Ids:
    """As ``argsort``, which takes its time also where everything is in order."""
    return np.arange(len(values)) if _rises(values) else np.argsort(values, kind="stable")


def _rises(instant: Ids) -> bool:
    return bool((instant[1:] >= instant[:-1]).all())


def _groups_of(
    columns: Mapping[str, Ids], start: Ids, names: Sequence[str]
) -> tuple[Ids, Ids, dict[str, Ids]]:
    """Numbers of the distinct combinations of instant and ``names``; the instant and values of each."""
    values = {name: columns[name] for name in names}
    new = start[1:] != start[:-1]
    if all(bool(((column[1:] == column[:-1]) | new).all()) for column in values.values()):
        # Rows of one instant, which follow one another, have the same values.
        new = np.append(True, new)
        numbers, rows = np.cumsum(new) - 1, np.flatnonzero(new)
    else:
        numbers, rows = codes([start, *values.values()], len(start))
    return numbers, start[rows], {name: column[rows] for name, column in values.items()}


@njit(cache=True)
def sliding_pairs(
    rows: Ids, probes: Ids, low: Ids, high: Ids, owner: Ids, keys: Ids, number: Ids, codes: int
) -> tuple[Ids, Ids]:
    """The distinct (owner, number) of the pairs of each row with the positions of its key in ``[low, high)``.

    ``rows`` are in the order of their owners, along which ``low`` and ``high`` never fall: positions come
    into a table once and are linked to those of the same key before them, so that a probe walks over what it
    sees and nothing else. ``keys`` and ``number`` are by position; numbers lie below ``codes``.
    """
    known, latest = hash_table(len(keys))
    before, seen = np.empty(len(keys), np.int64), np.full(codes, -1)
    most = max(min((high - low).max(), codes), 0) if len(rows) else 0
    owners = np.empty(2 * len(rows) + most, np.int64)
    numbers = np.empty_like(owners)
    reached, found = max(low[rows[0]], 0) if len(rows) else 0, 0
    for row in rows:
        if found + most > len(owners):
            owners = np.concatenate((owners, np.empty_like(owners)))
            numbers = np.concatenate((numbers, np.empty_like(numbers)))
        while reached < high[row]:
            slot = slot_of(keys[reached], known, latest)
            known[slot] = keys[reached]
            before[reached] = latest[slot]
            latest[slot] = reached
            reached += 1
        place = latest[slot_of(probes[row], known, latest)]
        mine, least = owner[row], max(low[row], 0)
        while place >= least:
            code = number[place]
            if seen[code] != mine:
                seen[code] = mine
                owners[found] = mine
                numbers[found] = code
                found += 1
            place = before[place]
    return owners[:found], numbers[:found]


@njit(over=("column",), cache=True)
def numbered(column: Ids) -> tuple[Ids, Ids]:
    """Numbers 0, 1, … of the distinct values in the order in which they come, and where each comes first."""
    numbers = np.empty(len(column), np.int64)
    firsts = np.empty(len(column), np.int64)
    known, number = hash_table(len(column))
    count = 0
    for place in range(len(column)):
        slot = slot_of(column[place], known, number)
        if number[slot] < 0:
            known[slot] = column[place]
            number[slot] = count
            firsts[count] = place
            count += 1
        numbers[place] = number[slot]
    return numbers, firsts[:count]
