"""The data sets of Planning Ahead, section 6: a remote graph that changes, a stream that joins with it.

Times are milliseconds. Where the paper is silent: its Zipf parameter s gives rank k the weight
k^−(1−s), the reading under which 1 is uniform and 0.3 highly skewed; every value changes with a phase of
its own; of μ^SN and μ^SR each pair is connected once at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weir.linked.service.maintenance_graph import remaining_life
from weir.rdf.columns import Ids


@dataclass(frozen=True, slots=True)
class Setting:
    """The defaults are those printed in section 6."""

    left: int = 50
    right: int = 50
    edges: int = 1000
    zipf: float = 1.0
    change: tuple[int, int] = (100, 3000)
    beta: tuple[float, float] | None = None
    correlation: float = 0.0
    arrival: tuple[int, int] = (1000, 2000)
    alternating: bool = False
    width: int = 4000
    slide: int = 1000
    evaluations: int = 50
    warm_up: float = 0.1
    aggregate: bool = False

    @property
    def first(self) -> int:
        """The number of warm-up evaluations, which are not measured."""
        return int(self.evaluations * self.warm_up)


@dataclass(frozen=True, slots=True)
class Window:
    """One evaluation: the window's rows as (left node, life), and how many rows each left node has."""

    at: int
    row_left: Ids
    row_life: Ids
    count: Ids


@dataclass(frozen=True, slots=True)
class Trace:
    """A data set with its stream played out. Right node j changes at ``phase[j] + n · interval[j]``."""

    setting: Setting
    edge_left: Ids
    edge_right: Ids
    interval: Ids
    phase: Ids
    windows: tuple[Window, ...]

    def version(self, at: int) -> Ids:
        """The number of each right node's version at a time."""
        return (at - self.phase) // self.interval

    def next_change(self, at: int) -> Ids:
        """When each right node changes next after ``at``."""
        return self.phase + (self.version(at) + 1) * self.interval


def trace(setting: Setting, seed: int) -> Trace:
    """Draw a data set and a stream."""
    chance = np.random.default_rng(seed)
    edge_left, edge_right = _edges(setting, chance)
    interval = _intervals(setting, np.bincount(edge_right, minlength=setting.right), chance)
    phase = (chance.random(setting.right) * interval).astype(np.int64)
    time, left = _arrivals(setting, chance)
    windows = []
    for number in range(setting.evaluations):
        at = setting.width + number * setting.slide
        first, last = np.searchsorted(time, (at - setting.width, at), side="right")
        row_left = left[first:last]
        life = remaining_life(time[first:last], setting.width, at, setting.slide)
        windows.append(Window(at, row_left, life, np.bincount(row_left, minlength=setting.left)))
    return Trace(setting, edge_left, edge_right, interval, phase, tuple(windows))


def _edges(setting: Setting, chance: np.random.Generator) -> tuple[Ids, Ids]:
    """Distinct pairs, drawn without replacement with the right node's weight."""
    weight = chance.permutation(np.arange(1, setting.right + 1) ** -(1.0 - setting.zipf))
    urgency = chance.exponential(size=(setting.left, setting.right)) / weight
    pairs = np.sort(np.argsort(urgency, axis=None)[: setting.edges])
    return pairs // setting.right, pairs % setting.right


def _intervals(setting: Setting, degree: Ids, chance: np.random.Generator) -> Ids:
    """Change intervals whose ranks correlate with the degrees as declared (a Gaussian copula).

    A negative correlation: what is joined with more often changes more often.
    """
    low, high = setting.change
    if setting.beta is None:
        drawn = chance.integers(low, high + 1, setting.right)
    else:
        share = chance.beta(*setting.beta, setting.right)
        share = (share - share.min()) / (share.max() - share.min())
        drawn = (low + share * (high - low)).astype(np.int64)
    rho = setting.correlation
    rank = np.argsort(np.argsort(degree + chance.random(setting.right)))
    normal = np.sort(chance.standard_normal(setting.right))[rank]
    mixed = rho * normal + np.sqrt(1 - rho * rho) * chance.standard_normal(setting.right)
    ordered: Ids = np.sort(drawn)[np.argsort(np.argsort(mixed))]
    return ordered


def _arrivals(setting: Setting, chance: np.random.Generator) -> tuple[Ids, Ids]:
    """Each left node arrives as a Poisson process with an expected interval of its own.

    ``alternating`` is the non-homogeneous rate printed for H3: the expected interval is λ0 in even slides
    and 0.95 λ0 in odd ones.
    """
    until = setting.width + setting.evaluations * setting.slide
    expected = chance.uniform(*setting.arrival, setting.left)
    draws = int(until / setting.arrival[0] * 2) + 40
    gaps = chance.exponential(size=(setting.left, draws))
    times = np.zeros((setting.left, draws))
    now = np.zeros(setting.left)
    for step in range(draws):
        mean = expected
        if setting.alternating:
            odd = (now // setting.slide).astype(np.int64) % 2
            mean = np.where(odd == 1, 0.95 * expected, expected)
        now = now + gaps[:, step] * mean
        times[:, step] = now
    left = np.repeat(np.arange(setting.left), draws)
    flat = times.ravel().astype(np.int64)
    inside = flat <= until
    order = np.argsort(flat[inside], kind="stable")
    return flat[inside][order], left[inside][order]
