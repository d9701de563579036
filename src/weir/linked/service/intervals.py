"""How often remote rows change, learned from what refreshes find.

A refresh after a time δ says only *whether* a value changed in it. With changes at rate λ that has the
chance 1 − e^(−λδ), and a changed value stands for λδ / (1 − e^(−λδ)) changes in the mean: so each key
keeps the changes it stands for and the time it was watched, and its rate is their quotient (one step of
expectation maximisation an observation; cf. Cho and Garcia-Molina, Estimating Frequency of Change).
A prior of a quarter of a change in as much of the prior interval keeps young keys sane; old
observations fade.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask

Floats = NDArray[np.float64]

FADE = 0.95
"""What an observation's weight is multiplied by at each later one of the same key."""

PRIOR = 0.25
"""How many changes the prior stands for."""

LONGEST = 1 << 50


def learned_interval(changes: Floats, watched: Floats, prior: int) -> Ids:
    """The mean time between changes of each key, in microseconds."""
    interval = (watched + PRIOR * prior) / (changes + PRIOR)
    clipped: Ids = np.clip(interval, 1, LONGEST).astype(np.int64)
    return clipped


def observe(
    changes: Floats, watched: Floats, elapsed: Ids, changed: Mask, prior: int
) -> tuple[Floats, Floats]:
    """The statistics of keys after one more observation each: ``changed`` or not in ``elapsed``."""
    expected = elapsed / learned_interval(changes, watched, prior)
    stands_for = np.where(changed, expected / -np.expm1(-np.maximum(expected, 1e-9)), 0.0)
    return changes * FADE + stands_for, watched * FADE + elapsed


def pooled_interval(changes: Floats, watched: Floats, prior: int) -> int:
    """One interval from all keys together: what to expect of a key never watched."""
    return int(learned_interval(np.array([changes.sum()]), np.array([watched.sum()]), prior)[0])
