"""What no policy can pass: the freshness that full knowledge of the future would reach with the same Γ.

A right node's versions succeed each other at its changes. A request can make one version fresh, from the
evaluation at which it is sent to the version's end; so a version is worth at most the rows (as shares of
their evaluations' answers) that need it while it lasts, and Γ requests at most the Γ best versions. That
bound is reached by whoever knows the stream and may move budget freely. For aggregates, whose rows need
several versions at once, the bound is a linear programme's: f_it ≤ u_v for each version v that row i
needs at t, Σ u ≤ Γ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from weir.rdf.columns import Ids
from weir_bench.freshness.data import Trace


def bound(data: Trace, budget: int) -> float:
    """The bound of the mean freshness over the measured evaluations."""
    return _bound_aggregate(data, budget) if data.setting.aggregate else _bound_rows(data, budget)


def _versions(data: Trace) -> tuple[NDArray[np.int64], Ids]:
    """A number for the version of each (evaluation, right node), and each number's first evaluation."""
    numbers = np.array([data.version(window.at) for window in data.windows])
    new = np.ones(numbers.shape, np.bool_)
    new[1:] = numbers[1:] != numbers[:-1]
    flat = np.cumsum(new.T, axis=None).reshape(new.T.shape).T - 1
    return flat, np.nonzero(new.T)[1]


def _bound_rows(data: Trace, budget: int) -> float:
    setting = data.setting
    flat, began = _versions(data)
    value = np.zeros(len(began))
    for number in range(setting.first, setting.evaluations):
        need = data.windows[number].count[data.edge_left]
        weight = np.bincount(data.edge_right, weights=need, minlength=setting.right)
        if weight.sum() > 0:
            np.add.at(value, flat[number], weight / weight.sum())
        else:
            value[flat[number]] += 1 / setting.right
    measured = setting.evaluations - setting.first
    given = value[began == 0].sum()
    early = np.sort(value[(began > 0) & (began < setting.first)])[::-1]
    before = budget * setting.first
    late = np.sort(np.concatenate((value[began >= max(setting.first, 1)], early[before:])))[::-1]
    total = given + early[:before].sum() + late[: budget * measured].sum()
    return float(min(total / measured, 1.0))


def _bound_aggregate(data: Trace, budget: int) -> float:
    setting = data.setting
    flat, began = _versions(data)
    needs = np.bincount(data.edge_left, minlength=setting.left) > 0
    measured = range(setting.first, setting.evaluations)
    value, row, column = [], [], []
    rows = 0
    for number in measured:
        count = np.where(needs, data.windows[number].count, 0)
        live = np.flatnonzero(count)
        place = np.full(setting.left, -1)
        place[live] = rows + np.arange(len(live))
        used = place[data.edge_left] >= 0
        row.append(place[data.edge_left[used]])
        column.append(flat[number][data.edge_right[used]])
        value.append(count[live] / max(int(count.sum()), 1))
        rows += len(live)
    links = np.concatenate(row), np.concatenate(column)
    edges = np.arange(len(links[0]))
    ones = np.ones(len(edges))
    implied = sparse.csr_array(
        (np.concatenate((ones, -ones)), (np.tile(edges, 2), np.concatenate((links[0], rows + links[1])))),
        shape=(len(edges), rows + len(began)),
    )
    paid = (began > 0).astype(np.float64)
    total = sparse.csr_array(np.concatenate((np.zeros(rows), paid))[None, :])
    solved = linprog(
        -np.concatenate((*value, np.zeros(len(began)))),
        A_ub=sparse.vstack((implied, total), format="csr"),
        b_ub=np.concatenate((np.zeros(len(edges)), [budget * setting.evaluations])),
        bounds=(0, 1),
        method="highs",
    )
    return float(min(-solved.fun / len(measured), 1.0))


def bound_without_phases(data: Trace, budget: int, *, even: bool) -> float:
    """What no policy can pass in the mean that knows the stream to come and the true rates, but not when
    values change: each right node is refreshed when that pays most at a price of a request (a dynamic
    programme), and the price is the one at which the budget is spent (Lagrange's dual, which bounds all
    policies for every price). Requests before the measured evaluations cost nothing.

    Where changes come at random times nothing that a policy sees of them tells when the next will come: then
    it bounds every policy there is.
    """
    setting = data.setting
    needs = [np.bincount(data.edge_right, w.count[data.edge_left], setting.right) for w in data.windows]
    weight = np.array(needs[setting.first :], np.float64)
    weight /= np.maximum(weight.sum(1, keepdims=True), 1e-9)
    times, ages = len(weight), np.arange(len(weight))[:, None] * setting.slide / data.interval
    true = np.maximum(1 - ages, 0) if even else np.exp(-ages)
    gain = np.zeros((times, times + 1, setting.right))
    for first in range(times):
        gain[first, first + 1 :] = np.cumsum(weight[first:] * true[: times - first], 0)
    least, low, high = float("inf"), 0.0, float(weight.max()) * times
    for _ in range(30):
        price = (low + high) / 2
        worth, spent = _best_times(gain, price)
        least = min(least, worth + price * budget * (times - 1))
        low, high = (price, high) if spent > budget * (times - 1) else (low, price)
    return least / times


def _best_times(gain: NDArray[np.float64], price: float) -> tuple[float, int]:
    """The best refreshes at a price, the first of each right node for nothing: what they give less what they
    cost, and how many they are. ``gain[s, t]`` is what a refresh at s gives until t."""
    times, rights = gain.shape[0], np.arange(gain.shape[2])
    worth, spent = np.zeros((times + 1, len(rights))), np.zeros((times + 1, len(rights)), np.int64)
    for first in range(times - 1, -1, -1):
        after = np.arange(first + 1, times + 1) < times
        options = gain[first, first + 1 :] + worth[first + 1 :] - price * after[:, None]
        best = options.argmax(0)
        worth[first] = options[best, rights]
        spent[first] = spent[first + 1 + best, rights] + after[best]
    return float(worth[0].sum()), int(spent[0].sum())
