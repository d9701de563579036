"""Algorithm 1 of CQELS nearly as it is printed: mapping by mapping, for evaluations of a single message.

Array operations pay from some dozens of rows on. Where one message makes one evaluation, its triple starts a
flow, and the partners of a mapping are looked up in hash tables of plain integers. This is a short cut
through the same plan, taken where it applies: a join of patterns over windows that move with every
message (each occurrence counted) and of static parts, what is new since the instant before, and a
window that showed nothing then. The order of the joins is chosen anew every so many evaluations, by the
policy and by what the flow at hand finds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.fast.hash_index import HashIndex, Key, Lists, hash_index, table_of
from weir.kernel.fast.short_cuts import Column, PlainForm
from weir.kernel.operators.inputs.input import Input, StaticInput
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.join import Join, Policy, Router
from weir.kernel.operators.operator import Operator, Project, Scan
from weir.kernel.windows.arrivals import FEW
from weir.kernel.windows.evaluation_times import Evaluations
from weir.kernel.windows.instants import LOWEST
from weir.kernel.windows.live_triples import Keeping, LiveTriples

_NONE = np.empty(0, np.int64)
_AGAIN = 32
"""So many evaluations take the same route."""


class Reader:
    """The rows of a window as plain integers, for windows that ``Window.least`` answers for."""

    def __init__(self, window: WindowInput) -> None:
        self.input = window
        self.name, self.variables = window.name, window.variables
        self.window = window.window
        self._read(window.triples)

    def _read(self, triples: LiveTriples) -> None:
        self._triples = triples
        self._rows = triples.rows
        self._places = tuple(self.input.place_of(name) for name in self.input.variables)
        self._seen = (LOWEST, -1, 0, 0)
        self._indexes: dict[tuple[tuple[str, ...], tuple[str, ...]], HashIndex] = {}

    def numbers_at(self, time: int) -> tuple[int, int]:
        """The range of row numbers visible at one instant."""
        if self._triples is not self.input.triples:
            self._read(self.input.triples)
        seen, rows, by = self._seen, self._rows, self.input.coordinate
        if seen[0] == time and seen[1] == rows.end:
            return seen[2], seen[3]
        low = self.window.least(time)
        assert low is not None
        start = rows.seek(by, low, seen[2])
        end = rows.seek(by, self.window.reach(time), rows.end)
        self._seen = (time, rows.end, start, end)
        return start, end

    def count(self, time: int) -> int:
        """How many rows are visible at one instant."""
        low, high = self.numbers_at(time)
        return max(high - low, 0)

    def fresh(self, time: int) -> list[tuple[int, ...]] | None:
        """The rows visible at ``time``, in the order of the variables, if none was the instant before.

        None if some was, or if more than a few are new: only the newest rows are looked at.
        """
        if self._triples is not self.input.triples:
            self._read(self.input.triples)
        rows, by, window = self._rows, self.input.coordinate, self.window
        before, now, shown = window.reach(time - 1), window.reach(time), window.least(time)
        assert shown is not None
        found: list[tuple[int, ...]] = []
        place = len(rows)
        while place:
            place -= 1
            coordinate = rows.item(by, place)
            if coordinate >= now:
                continue
            if coordinate < before:
                least = window.least(time - 1)
                if least is None or coordinate >= least:
                    return None
                break
            if coordinate < shown:
                # New, and pushed out again by what came with it.
                continue
            if len(found) == FEW:
                return None
            found.append(rows.row(place, self._places))
        found.reverse()
        return found

    def index(self, on: tuple[str, ...], rest: tuple[str, ...]) -> HashIndex:
        """The rows by some variables."""
        found = self._indexes.get((on, rest))
        if found is None:
            places = [tuple(self.input.place_of(name) for name in names) for names in (on, rest)]
            found = self._indexes[on, rest] = hash_index(self._triples, self.window.spec.name, *places)
        return found


class Step:
    """One join of a route: where the key and what is kept stand in the flow, and what is added.

    ``listed`` tells for each variable of the flow whether it has a value for each mapping; what comes from
    the one row that started the flow has one for all. A flow without listed variables may still be several
    equal mappings.
    """

    def __init__(
        self,
        each: StaticInput | Reader,
        before: Sequence[str],
        listed: Sequence[bool],
        later: frozenset[str],
    ) -> None:
        self.each = each
        self.on = tuple(name for name in each.variables if name in before)
        self.rest = tuple(name for name in each.variables if name not in before)
        self.key = tuple(before.index(name) for name in self.on)
        kept = [place for place, name in enumerate(before) if name in later]
        self.once = tuple(place for place in kept if not listed[place])
        self.many = tuple(place for place in kept if listed[place])
        self.after = (*(before[place] for place in (*self.once, *self.many)), *self.rest)
        self.listed = (*(False for _ in self.once), *(True for _ in (*self.many, *self.rest)))
        self.single = self.key[0] if len(self.key) == 1 else None
        self._one_key = not any(listed[place] for place in self.key)
        self._one_row = not any(listed)
        self._listed_keys = tuple(listed[place] for place in self.key)
        self._table: dict[Key, Lists] | None = None
        if isinstance(each, StaticInput) and self.on:
            self._table = table_of(each.view, self.on, self.rest)

    @property
    def possible(self) -> bool:
        """Whether partners can be looked up at all."""
        return bool(self.on) and (isinstance(self.each, Reader) or self._table is not None)

    def run(self, flow: Sequence[Any], count: int, time: int) -> tuple[list[Any], int]:
        """The flow's mappings with their partners at ``time``, and how many there are."""
        if self._one_row and count == 1:
            found = self._find([self._only(flow)], time)[0]
            if found is None:
                return [], 0
            return [*[flow[place] for place in self.once], *found[1:]], len(found[0])
        partners = self._find(self._keys(flow, count), time)
        there = [found for found in partners if found is not None]
        joined = [flow[place] for place in self.once]
        if self.many:
            counts = [0 if found is None else len(found[0]) for found in partners]
            for place in self.many:
                joined.append(array("q", chain.from_iterable(map(repeat, flow[place], counts))))
        for place in range(1, len(self.rest) + 1):
            values = array("q")
            for found in there:
                values += found[place]
            joined.append(values)
        return joined, sum([len(found[0]) for found in there])

    def _only(self, flow: Sequence[Any]) -> Key:
        return flow[self.single] if self.single is not None else tuple([flow[place] for place in self.key])

    def _keys(self, flow: Sequence[Any], count: int) -> Sequence[Key]:
        if self._one_key:
            return [self._only(flow)] * count
        if self.single is not None:
            keys: Sequence[int] = flow[self.single]
            return keys
        columns = [
            flow[place] if listed else repeat(flow[place], count)
            for place, listed in zip(self.key, self._listed_keys, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def _find(self, keys: Sequence[Key], time: int) -> list[Lists | None]:
        if self._table is not None:
            get = self._table.get
            return [get(key) for key in keys]
        assert isinstance(self.each, Reader)
        visible = self.each.numbers_at(time)
        return self.each.index(self.on, self.rest).find(keys, *visible)


@dataclass(slots=True)
class Route:
    """The joins of a flow in order, where the wanted variables then stand, and how often it was taken."""

    steps: Sequence[Step]
    places: Sequence[int]
    shown: str
    used: int = 0


class SingleMessage:
    """The flows of one join, at one time of which a message is the only news; declines more."""

    def __init__(self, inputs: Sequence[StaticInput | Reader], form: PlainForm, router: Router) -> None:
        self.readers = [each for each in inputs if isinstance(each, Reader)]
        self.inputs = tuple(inputs)
        self.form = form
        self.wanted = form.wanted
        self.policy = router.policy
        self.routes = router.routes
        self._steps: dict[tuple[int, tuple[str, ...], tuple[bool, ...], tuple[int, ...]], Step] = {}
        self._routes: dict[int, Route] = {}
        self._silent = Answers(_NONE, dict.fromkeys(form.columns, _NONE), _NONE, 1)

    def answer(self, evaluations: Evaluations) -> Answers | None:
        """The answers at one time, or None for several, or where other rows than the newest tell."""
        times = evaluations.times
        if len(times) > 1:
            return None
        found = self._solutions(times.item(0))
        if found is None:
            return None
        columns, count = found
        if not count:
            return self._silent
        made = self.form.answers(columns, count)
        at = np.empty(len(next(iter(made.values()))), np.int64)
        at.fill(times.item(0))
        return Answers(at, made, _NONE, 1)

    def _solutions(self, time: int) -> tuple[list[Column], int] | None:
        """The solutions at ``time``, none of which was there the instant before: ``wanted`` as columns, and
        their number."""
        for driver in self.readers:
            rows = driver.fresh(time)
            if rows is not None:
                break
        else:
            return None
        if not rows:
            return [], 0
        route = self._routes.get(id(driver))
        if route is None or route.used == _AGAIN:
            route = self._choose(driver, rows[0], time)
            if route is None:
                return None
            self._routes[id(driver)] = route
        route.used += 1
        self.routes[route.shown] += 1
        if len(rows) == 1:
            return _flow(rows[0], route, time)
        parts = [_flow(row, route, time) for row in rows]
        count = sum(size for _, size in parts)
        columns = [
            array("q", chain.from_iterable(_repeated(flow[place], size) for flow, size in parts if size))
            for place in range(len(self.wanted))
        ]
        return [*columns], count

    def _choose(self, driver: Reader, row: Sequence[int], time: int) -> Route | None:
        """``findNextOp`` from the driver on: the order of joins for the flow at hand."""
        flow: list[Any] = [*row]
        count = 1
        before: tuple[str, ...] = driver.variables
        listed: tuple[bool, ...] = (False,) * len(before)
        rest = [number for number, each in enumerate(self.inputs) if each is not driver]
        done: list[Step] = []
        while rest:
            best: tuple[int, int, Step, list[Any], int] | None = None
            for number in rest:
                step = self._step(number, before, listed, rest)
                if not step.possible:
                    continue
                joined, found = step.run(flow, count, time) if count else ([], 0)
                size = found
                if self.policy is Policy.CARDINALITY:
                    size = step.each.count(time) if isinstance(step.each, Reader) else len(step.each)
                if best is None or size < best[0]:
                    best = (size, number, step, joined, found)
            if best is None:
                return None
            _, number, step, flow, count = best
            rest.remove(number)
            done.append(step)
            before, listed = step.after, step.listed
        if not set(self.wanted) <= set(before):
            return None
        shown = " → ".join([driver.name, *(step.each.name for step in done)])
        return Route(done, [before.index(name) for name in self.wanted], shown)

    def _step(
        self, number: int, before: tuple[str, ...], listed: tuple[bool, ...], rest: Sequence[int]
    ) -> Step:
        others = tuple(other for other in rest if other != number)
        place = (number, before, listed, others)
        found = self._steps.get(place)
        if found is None:
            later = frozenset(self.wanted).union(*(self.inputs[other].variables for other in others))
            found = self._steps[place] = Step(self.inputs[number], before, listed, later)
        return found


def _flow(row: Sequence[int], route: Route, time: int) -> tuple[list[Column], int]:
    """The solutions that one row starts."""
    flow: Sequence[Any] = row
    count = 1
    for step in route.steps:
        flow, count = step.run(flow, count, time)
        if not count:
            return [], 0
    return [flow[place] for place in route.places], count


def _repeated(column: Column, count: int) -> Iterable[int]:
    return repeat(column, count) if isinstance(column, int) else column


def single_message(root: Operator, form: PlainForm, router: Router) -> SingleMessage | None:
    """The short cut through a plan: a join of patterns over windows that move with every message, each
    occurrence counted, and of static parts; None where the plan is of another kind."""
    while isinstance(root, Project):
        root = root.inner
    if not isinstance(root, Join) or root.filters or not all(isinstance(p, Scan) for _, p in root.parts):
        return None
    inputs: list[StaticInput | Reader] = []
    for name, part in root.parts:
        each: Input = part.input(name, root.present)
        if isinstance(each, StaticInput):
            if not each.steady or each.view.optional or each.stored:
                return None
            inputs.append(each)
        elif isinstance(each, WindowInput):
            if each.triples.keeping is not Keeping.BAG or each.window.least(0) is None:
                return None
            inputs.append(Reader(each))
        else:
            return None
    if not any(isinstance(each, Reader) for each in inputs):
        return None
    return SingleMessage(inputs, form, router)
