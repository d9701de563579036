"""What expressions may depend on besides rows: the time, the query's name, the times of triples."""

from __future__ import annotations

import numpy as np

from weir.kernel.interval.inputs import Input, Present
from weir.kernel.interval.leaves import Leaves
from weir.kernel.operators import Triples
from weir.kernel.operators.evaluate import Surroundings
from weir.kernel.windows.instants import Instants
from weir.rdf.columns import Ids


class Around:
    """Gives the surroundings of the slab at hand; ``query`` seeds RAND and its like."""

    def __init__(self, present: Present, query: str) -> None:
        self.present = present
        self.query = query
        self._timed: list[Input] | None = None
        self._for: Instants | None = None
        self._made: Surroundings | None = None

    def need_timestamps(self, leaves: Leaves) -> None:
        """Keep the times of all triples of all windows, for ``f:timestamp``."""
        if self._timed is None:
            self._timed = leaves.timed()

    def __call__(self) -> Surroundings:
        if self._made is None or self._for is not self.present.at:
            self._for = self.present.at
            self._made = Surroundings(self.present.at.time, self.query, self._triples)
        return self._made

    def _triples(self) -> tuple[Triples, Ids]:
        parts = [each.relation() for each in self._timed or ()]
        if not parts:
            none = np.empty(0, np.int64)
            return Triples(none, none, none, none, none), none

        def column(name: str) -> Ids:
            return np.concatenate([part.columns[name] for part in parts])

        triples = Triples(
            column("subject"),
            column("predicate"),
            column("object"),
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
        )
        return triples, column("time")
