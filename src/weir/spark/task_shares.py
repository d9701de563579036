"""What planning hands to a task that reads, and the columns of the rows that it gives.

Spark plans in processes of its own, which are started with a job: they import this, and not what reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.runtime.ingest.parts import Part

FRAME_SCHEMA = "slot bigint, frame binary, control bigint"
"""``control`` is the position in the control log up to which its reader had it."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one task reads: parts, and how much of the control log it must see to read them."""

    parts: Sequence[Part]
    position: int
