"""The exact optimum of a maintenance graph, as a yardstick for the policies (an integer programme).

Formulas 1–5 (case 1) and 6–10 (case 2) as they are meant: the f_i of formulas 3 and 8 are made of the
decisions u_j, where the paper prints μ_j. HiGHS solves small graphs in milliseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from weir.linked.service.maintenance_graph import MaintenanceGraph
from weir.rdf.columns import Ids


def optimum_bgp(gain: NDArray[Any], budget: int) -> tuple[float, Ids]:
    """Case 1: the most that ``budget`` right nodes give, ``gain`` each, and which they are."""
    if len(gain) == 0 or budget <= 0:
        return 0.0, np.empty(0, np.int64)
    solved = milp(
        -gain.astype(np.float64),
        integrality=np.ones(len(gain)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(np.ones((1, len(gain))), -np.inf, budget),
    )
    return -float(solved.fun), np.flatnonzero(solved.x > 0.5)


def optimum_agg(graph: MaintenanceGraph, gain: NDArray[Any], budget: int) -> tuple[float, Ids]:
    """Case 2: the most that left nodes give, ``gain`` each, if all right nodes of each are refreshed.

    f_i = Π u_j becomes f_i ≤ u_j on every edge; f need not be declared integral, for at an optimum it
    is the least u_j around it.
    """
    if graph.right == 0 or budget <= 0:
        return 0.0, np.empty(0, np.int64)
    edges = len(graph.edge_left)
    needed = np.bincount(graph.edge_left, minlength=graph.left) > 0
    value = np.concatenate((np.zeros(graph.right), -np.where(needed, gain, 0).astype(np.float64)))
    row = np.arange(edges)
    implied = sparse.csr_array(
        (
            np.concatenate((np.ones(edges), -np.ones(edges))),
            (np.concatenate((row, row)), np.concatenate((graph.right + graph.edge_left, graph.edge_right))),
        ),
        shape=(edges, graph.right + graph.left),
    )
    total = np.concatenate((np.ones(graph.right), np.zeros(graph.left)))[None, :]
    solved = milp(
        value,
        integrality=np.concatenate((np.ones(graph.right), np.zeros(graph.left))),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(implied, -np.inf, 0), LinearConstraint(total, -np.inf, budget)],
    )
    return -float(solved.fun), np.flatnonzero(solved.x[: graph.right] > 0.5)


def fresh_now(graph: MaintenanceGraph, refreshed: Ids, *, aggregate: bool) -> int:
    """The join rows that ``refreshed`` makes fresh at the present evaluation: formula 5 or 10."""
    done = np.zeros(graph.right, np.bool_)
    done[refreshed] = True
    count = graph.compatible()
    if not aggregate:
        return int(count[graph.edge_left[done[graph.edge_right]]].sum())
    missing = np.bincount(graph.edge_left[~done[graph.edge_right]], minlength=graph.left)
    needed = np.bincount(graph.edge_left, minlength=graph.left)
    return int(count[(missing == 0) & (needed > 0)].sum())
