"""What ``interval`` lacks: ``auto`` falls back to the reference evaluator and says so."""

from __future__ import annotations

from enum import Enum

from weir.errors import EvaluationError


class Lack(Enum):
    """Everything that a query may need and does not get here, in words."""

    DRAWS_IN_EXISTS = "RAND, UUID, STRUUID or BNODE inside EXISTS"
    DRAWS_IN_GRAPH = "RAND, UUID, STRUUID or BNODE inside GRAPH ?g"
    DRAWS_BESIDE_EXISTS = "EXISTS on a variable bound beside RAND, UUID, STRUUID or BNODE"
    DRAWS_WITH_EXISTS = "RAND, UUID, STRUUID or BNODE and EXISTS in one aggregate or key of ORDER BY"
    NESTED_SERVICE = "SERVICE inside GRAPH ?g, or inside an EXISTS that reads outer variables"
    NO_ENDPOINTS = "SERVICE without endpoints to call"


class NotCovered(EvaluationError):
    """The query needs what ``interval`` lacks."""

    def __init__(self, lack: Lack | str) -> None:
        super().__init__(lack.value if isinstance(lack, Lack) else lack)
