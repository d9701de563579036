"""The maintenance graph G^C = (Ω^SN, Ω^SR, E) of an evaluation (Planning Ahead, section 4, Figure 1).

Left are the mappings that join with the window (Ω^SN), right the units that a request refreshes (Ω^SR);
an edge is a view row that needs both. Only view rows compatible with the current window take part.
All is arrays: nodes are numbered, edges and window rows are columns of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.rdf.columns import Ids


@dataclass(frozen=True, slots=True)
class MaintenanceGraph:
    """``edge_left[e]``–``edge_right[e]`` are the edges; ``row_left[w]`` is the left node that window
    row w is compatible with, and ``row_life[w]`` its remaining life L.

    ``fresh_for`` is B of each right node if it were refreshed now, ``updated`` when it last was.
    An edge occurs once; a left node without edges needs nothing.
    """

    left: int
    right: int
    edge_left: Ids
    edge_right: Ids
    row_left: Ids
    row_life: Ids
    fresh_for: Ids
    updated: Ids

    def compatible(self) -> Ids:
        """c_i (formulas 4 and 9): the number of window rows compatible with each left node."""
        return np.bincount(self.row_left, minlength=self.left)

    def restrict(self, stale: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[MaintenanceGraph, Ids]:
        """The graph on the right nodes marked ``stale`` alone, and their numbers in this one."""
        kept = np.flatnonzero(stale)
        number = np.cumsum(stale) - 1
        edges = stale[self.edge_right]
        return (
            MaintenanceGraph(
                left=self.left,
                right=len(kept),
                edge_left=self.edge_left[edges],
                edge_right=number[self.edge_right[edges]],
                row_left=self.row_left,
                row_life=self.row_life,
                fresh_for=self.fresh_for[kept],
                updated=self.updated[kept],
            ),
            kept,
        )
