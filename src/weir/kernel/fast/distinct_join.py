"""The last join of a flow and the distinct combinations of what is wanted of it, in one go.

CONSTRUCT sends a set of triples at each evaluation. Where a flow has one instant a row, the triples are
combinations of what the flow gives and what a window gives: both are numbered, and a compiled loop that
slides over the window with the flow finds each pair of numbers once. No pair becomes a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.relations import loops as compiled
from weir.kernel.relations.gathered import groups_of
from weir.kernel.relations.keys import codes
from weir.kernel.relations.relation import Relation
from weir.rdf.columns import Ids

_FEWEST = 1 << 8


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
    group, instant, mine = groups_of(flow.columns, flow.start, ours)
    values = [window.column(name)[first:end] for name in theirs]
    number, rows = compiled.numbered(values[0]) if len(values) == 1 else codes(values, end - first)
    order = _order(instant)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    owner = rank[group]
    owners, numbers = compiled.sliding_pairs(
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
