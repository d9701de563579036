"""The paper's sweeps for who is told nothing: rates and phases of change are learned, with the view's own
code.

Beside it, under the same budget: RAND and LRU, which know nothing and learn nothing; the same policy told the
true rates (but no phases); the paper's IBM told the exact phases; and the bounds. Changes come at equal
intervals, as in the paper, or at random times with the same means. A learner needs time to learn: runs have
150 evaluations, of which the first 50 do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.linked.service.budget import rows_ahead
from weir.linked.service.estimate import Audit, Probe
from weir.linked.service.local_view import LocalView
from weir.linked.service.maintenance_graph import MaintenanceGraph
from weir.linked.service.policies import best
from weir.rdf.columns import Ids
from weir_bench.freshness.bound import bound, bound_without_phases
from weir_bench.freshness.data import Setting, Trace, Window, trace
from weir_bench.freshness.simulation import Contender, simulate

LONG: dict[str, Any] = {"evaluations": 150, "warm_up": 1 / 3}
_MS = 1000
_FIRST = 10_000_000
_PROBES = 0.05


@dataclass(frozen=True, slots=True)
class RandomTrace(Trace):
    """A data set whose right nodes change at random times (ms), with the same mean intervals."""

    times: tuple[NDArray[np.float64], ...] = ()

    def version(self, at: int) -> Ids:
        return np.array([np.searchsorted(own, at, side="right") for own in self.times])


def drawn(setting: Setting, seed: int, *, even: bool) -> Trace:
    """A data set of the paper's, with changes at equal intervals or at random times."""
    data = trace(setting, seed)
    if even:
        return data
    chance = np.random.default_rng((seed, 5))
    until = setting.width + (setting.evaluations + 1) * setting.slide
    gaps = [chance.exponential(every, int(2 * until / every) + 60) for every in data.interval]
    own = {each.name: getattr(data, each.name) for each in fields(Trace)}
    return RandomTrace(**own, times=tuple(np.cumsum(each) for each in gaps))


@dataclass(frozen=True, slots=True)
class LearnedRun:
    """Means over the measured evaluations: the share of fresh rows as it was, as it was estimated, and as
    probes found it; the most refreshes at one evaluation."""

    freshness: float
    estimate: float | None
    audited: float | None
    most: int


Worth = Callable[[MaintenanceGraph, int, np.random.Generator], NDArray[np.float64]]


class Learner:
    """The engine's view of the right nodes, and its audit."""

    def __init__(self, data: Trace) -> None:
        self.view = LocalView(("k",), ("k", "v"), None, _FIRST)
        self.audit = Audit()
        self._slide = data.setting.slide
        self.fetch(np.arange(data.setting.right), data.version(data.windows[0].at), data.windows[0].at)

    def fetch(self, chosen: Ids, version: Ids, at: int) -> None:
        keys = {"k": chosen + 1}
        rows = {"k": chosen + 1, "v": version[chosen] + 1}
        self.view.store(keys, len(chosen), rows, np.arange(len(chosen)), at * _MS)

    def worth(self, graph: MaintenanceGraph, at: int, chance: np.random.Generator) -> NDArray[np.float64]:
        return self.view.worth(np.arange(graph.right), at * _MS, self._slide * _MS, rows_ahead(graph))

    def probing(self, chosen: Ids, weight: NDArray[np.float64], budget: int, at: int, draw: float) -> Ids:
        """The refreshes with, now and then, a key drawn by chance among them."""
        self.audit.earn(_PROBES * len(chosen))
        if self.audit.credit < 1.0 or not weight.any():
            return chosen
        node = int(np.searchsorted(np.cumsum(weight) / weight.sum(), draw, side="right"))
        anyway = bool((chosen == node).any())
        thought = 1.0 if anyway else float(self.view.chance(np.array([node]), at * _MS)[0])
        copy = int(self.view.fetched[node]), int(self.view.digest[node])
        self.audit.drawn(Probe(node, self.view.numbering, *copy, thought))
        return chosen if anyway else np.append(chosen[: budget - 1], node)

    def estimate(self, weight: NDArray[np.float64], at: int) -> float:
        chance = self.view.chance(np.arange(len(weight)), at * _MS)
        return float(weight @ chance / max(weight.sum(), 1e-9))


def told_rates(data: Trace, *, even: bool) -> tuple[Worth, Ids]:
    """The worth by the true rates, and when each right node was refreshed, for the caller to keep."""
    updated = np.full(data.setting.right, data.windows[0].at)
    slide, every = data.setting.slide, data.interval

    def true(evaluations: NDArray[Any]) -> NDArray[np.float64]:
        share = evaluations * slide / every
        return np.maximum(1 - share, 0) if even else np.exp(-share)

    def worth(graph: MaintenanceGraph, at: int, chance: np.random.Generator) -> NDArray[np.float64]:
        alive, age = rows_ahead(graph), (at - updated) // slide
        now, found = true(age), np.zeros(graph.right)
        for k in range(int(age.max())):
            rows = alive[:, min(k, alive.shape[1] - 1)]
            found += np.where(k < age, rows * (true(np.full(graph.right, k)) - now), 0.0)
        return found

    return worth, updated


def play(data: Trace, how: str, budget: int, seed: int, *, even: bool) -> LearnedRun:
    """One run: ``how`` is learned, rates, rand or lru."""
    setting, chance = data.setting, np.random.default_rng((seed, 99))
    learner = Learner(data) if how == "learned" else None
    told, updated = told_rates(data, even=even)
    worths: dict[str, Worth] = {
        "rates": told,
        "rand": lambda graph, at, rng: rng.random(graph.right),
        "lru": lambda graph, at, rng: at - updated + rng.random(graph.right),
    }
    worth = learner.worth if learner is not None else worths[how]
    copy = data.version(data.windows[0].at).copy()
    shares, estimates, most = [], [], 0
    for number, window in enumerate(data.windows):
        graph, weight = _graph(data, window)
        version = data.version(window.at)
        score = np.where(weight > 0, worth(graph, window.at, chance), 0.0)
        chosen = best(score, budget, chance)
        if learner is not None:
            chosen = learner.probing(chosen, weight, budget, window.at, chance.random())
            learner.fetch(chosen, version, window.at)
            view = learner.view
            learner.audit.check(view.numbering, view.fetched, view.digest, view.waiting)
            estimates.append(learner.estimate(weight, window.at))
        copy[chosen], updated[chosen] = version[chosen], window.at
        most = max(most, len(chosen))
        if number >= setting.first and weight.any():
            shares.append(float(weight @ (copy == version) / weight.sum()))
    if learner is None:
        return LearnedRun(float(np.mean(shares)), None, None, most)
    estimate = float(np.mean(estimates[setting.first :]))
    return LearnedRun(float(np.mean(shares)), estimate, learner.audit.share, most)


def _graph(data: Trace, window: Window) -> tuple[MaintenanceGraph, NDArray[np.float64]]:
    none = np.zeros(data.setting.right, np.int64)
    edges = (data.edge_left, data.edge_right, window.row_left, window.row_life)
    graph = MaintenanceGraph(data.setting.left, data.setting.right, *edges, none, none)
    needs = window.count[data.edge_left].astype(np.float64)
    counted = np.bincount(data.edge_right, weights=needs, minlength=data.setting.right)
    return graph, counted.astype(np.float64)


HOW = ("rand", "lru", "rates", "learned")


@dataclass(frozen=True, slots=True)
class LearnedCell:
    """One setting, budget and kind of change, over seeds."""

    name: str
    setting: Setting
    budget: int
    even: bool
    runs: Mapping[str, Sequence[LearnedRun]]
    exact: Sequence[float]
    bound: Sequence[float]
    blind: Sequence[float]
    """The bound of those who know the rates but no phases."""

    @property
    def reachable(self) -> float:
        """What no policy can pass that does not know the future: of random changes there are no phases."""
        return float(np.mean(self.bound if self.even else self.blind))

    def mean(self, how: str) -> float:
        return float(np.mean([run.freshness for run in self.runs[how]]))

    @property
    def off(self) -> float:
        """How far the estimate is from the truth, means over the seeds."""
        return abs(float(np.mean([run.estimate for run in self.runs["learned"]])) - self.mean("learned"))

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "setting": {name: getattr(self.setting, name) for name in Setting.__slots__},
            "budget": self.budget,
            "changes": "equal intervals" if self.even else "random times",
            "runs": {how: [asdict(run) for run in runs] for how, runs in self.runs.items()},
            "exact_phases": list(self.exact),
            "bound": list(self.bound),
            "bound_without_phases": list(self.blind),
        }


def sweeps() -> dict[str, tuple[Setting, int]]:
    """The cells of Figure 2, each setting once, and slower changes."""
    found = {f"{n} edges": (Setting(edges=n), 10) for n in (500, 1000, 1500, 2000)}
    found |= {f"Zipf {s}": (Setting(zipf=s), 10) for s in (0.8, 0.5, 0.3)}
    found |= {f"γ = {g}": (Setting(), g) for g in (5, 20, 30)}
    ranges = ((500, 2000), (800, 1200), (2000, 6000), (2000, 30000))
    found |= {f"{low}-{high} ms": (Setting(change=(low, high)), 10) for low, high in ranges}
    return found


def learned_cells(seeds: int, names: Sequence[str] | None = None) -> list[LearnedCell]:
    """Every cell, with changes of both kinds; exact phases are known only of even changes."""
    cells = []
    for name, (printed, budget) in sweeps().items():
        if names is not None and name not in names:
            continue
        setting = replace(printed, **LONG)
        for even in (True, False):
            data = [drawn(setting, seed, even=even) for seed in range(seeds)]
            runs = {h: [play(d, h, budget, s, even=even) for s, d in enumerate(data)] for h in HOW}
            exact = (
                [simulate(d, Contender.IBM, budget, s).freshness for s, d in enumerate(data)] if even else []
            )
            blind = [bound_without_phases(d, budget, even=even) for d in data]
            limits = [bound(d, budget) for d in data]
            cells.append(LearnedCell(name, setting, budget, even, runs, exact, limits, blind))
    return cells
