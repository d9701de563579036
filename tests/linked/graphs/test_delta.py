"""What updates have changed so far: by number, taken back, and taken over by another process."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs import delta as module
from weir.linked.graphs.delta import Delta
from weir.linked.graphs.history import graphs_of


def one(*numbers: int) -> GraphTable:
    column = np.array(numbers, np.int64)
    return GraphTable(column, column, column)


def rows(delta: Delta) -> dict[str, list[tuple[int, ...]]]:
    return {
        name: list(zip(*(column.tolist() for column in (t.subject, t.start, t.end)), strict=True))
        for name, t in delta.events.items()
        if t.start is not None and t.end is not None
    }


def random_delta(seed: int, count: int) -> Delta:
    dice, made = random.Random(seed), Delta()
    for _ in range(count):
        inserted, deleted = dice.sample(range(9), 2)
        graph = dice.choice(["", "g", "h"])
        named = {graph: one(inserted)} if graph else {}
        made.apply(Background(one(inserted), named), Background(one(deleted)))
    return made


def test_the_latest_update_can_be_taken_back() -> None:
    delta = Delta()
    delta.apply(Background(one(1)), Background())
    delta.apply(Background(one(2), {"g": one(3)}), Background(one(1)))
    delta.undo(2)
    assert (delta.number, list(delta.events), delta.inserting) == (1, [""], {"": [1]})
    assert delta.events[""].subject.tolist() == [1]
    with pytest.raises(ValueError, match="the latest update is 1"):
        delta.undo(2)


@pytest.mark.parametrize("seed", range(5))
def test_an_update_is_found_by_its_number(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROOM", 1)
    delta = random_delta(seed, 40)
    for number in range(1, 41):
        found = graphs_of(delta.since(number, number))
        for name, table in delta.events.items():
            wanted = table.subject[(table.start == number) | (table.end == number)].tolist()
            assert (found[name].subject.tolist() if name in found else []) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_another_delta_takes_in_what_this_one_has(seed: int) -> None:
    delta, other = random_delta(seed, 30), Delta()
    for first, last in ((1, 10), (11, 11), (12, 30)):
        other.take_in(delta.since(first, last), last)
    assert (other.number, other.inserting) == (30, delta.inserting)
    assert {name: sorted(each) for name, each in rows(other).items()} == {
        name: sorted(each) for name, each in rows(delta).items()
    }


def test_to_take_in_an_update_does_not_move_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 updates: room is made as often as their number doubles."""
    made = 0
    real = np.empty

    def counted(*arguments: object, **options: object) -> np.ndarray:
        nonlocal made
        made += isinstance(arguments[0], tuple)
        return real(*arguments, **options)  # type: ignore[call-overload, no-any-return]

    delta = Delta()
    monkeypatch.setattr(module.np, "empty", counted)
    for number in range(20_000):
        delta.apply(Background(one(number)), Background())
    assert made <= 12
    assert delta.of(19_999).scan(("", None, None, None)).subject.tolist() == [19_998]
