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
from itertools import chain, repeat
from typing import Any, TypeAlias

from weir.kernel.fast.hash_index import Key, Lists, table_of
from weir.kernel.operators.inputs.input import Input
from weir.kernel.operators.inputs.static_views import StaticInput
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.join import Join, Policy, Routes
from weir.kernel.operators.operator import Operator, Project, Scan
from weir.kernel.windows.live_triples import Keeping

_AGAIN = 32
"""So many evaluations take the same route."""


Column: TypeAlias = "int | array[int]"
"""The values of a variable in a flow: one for all mappings, or one for each."""


class Step:
    """One join of a route: where the key and what is kept stand in the flow, and what is added.

    ``listed`` tells for each variable of the flow whether it has a value for each mapping; what comes from
    the one row that started the flow has one for all.
    """

    def __init__(
        self,
        each: StaticInput | WindowInput,
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
        return bool(self.on) and (isinstance(self.each, WindowInput) or self._table is not None)

    def run(self, flow: Sequence[Any], count: int, time: int) -> tuple[list[Any], int]:
        """The flow's mappings with their partners at ``time``, and how many there are."""
        if self._one_row:
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
        each = self.each
        assert isinstance(each, WindowInput)
        return each.lookup(self.on, self.rest).find(keys, *each.numbers_at(time))


class Route:
    """The joins of a flow in order, where the wanted variables then stand, and how often it was taken."""

    __slots__ = ("places", "shown", "steps", "used")

    def __init__(self, steps: Sequence[Step], places: Sequence[int], shown: str) -> None:
        self.steps = tuple(steps)
        self.places = tuple(places)
        self.shown = shown
        self.used = 0


class Walk:
    """The flows of one join; ``wanted`` are the variables of the answers, in their order."""

    def __init__(
        self,
        inputs: Sequence[StaticInput | WindowInput],
        wanted: tuple[str, ...],
        policy: Policy,
        routes: Routes,
    ) -> None:
        self.windows = [each for each in inputs if isinstance(each, WindowInput)]
        self.inputs = tuple(inputs)
        self.wanted = wanted
        self.policy = policy
        self.routes = routes
        self._steps: dict[tuple[int, tuple[str, ...], tuple[bool, ...], tuple[int, ...]], Step] = {}
        self._routes: dict[int, Route] = {}

    def solutions(self, time: int) -> tuple[list[Column], int] | None:
        """The solutions at ``time``, none of which was there the instant before: ``wanted`` as columns, and
        their number. None where the short cut does not apply at this evaluation."""
        for driver in self.windows:
            rows = driver.fresh_rows(time)
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
        self.routes.taken[route.shown] += 1
        if len(rows) == 1:
            return _flow(rows[0], route, time)
        parts = [_flow(row, route, time) for row in rows]
        count = sum(size for _, size in parts)
        columns = [
            array("q", chain.from_iterable(_repeated(flow[place], size) for flow, size in parts if size))
            for place in range(len(self.wanted))
        ]
        return [*columns], count

    def _choose(self, driver: WindowInput, row: Sequence[int], time: int) -> Route | None:
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
                    size = step.each.shows(time) if isinstance(step.each, WindowInput) else len(step.each)
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


def walk_of(root: Operator, wanted: tuple[str, ...], policy: Policy, routes: Routes) -> Walk | None:
    """The walk of a plan; None where its plan is not of the kind."""
    while isinstance(root, Project):
        root = root.inner
    if not isinstance(root, Join) or root.checks or not all(isinstance(p, Scan) for _, p in root.parts):
        return None
    inputs: list[StaticInput | WindowInput] = []
    for name, part in root.parts:
        each: Input = part.input(name, root.present)
        if isinstance(each, StaticInput):
            if not each.steady or each.view.optional:
                return None
        elif isinstance(each, WindowInput):
            if each.track.keeping is not Keeping.BAG or each.window.least(0) is None:
                return None
        else:
            return None
        inputs.append(each)
    if not any(isinstance(each, WindowInput) for each in inputs):
        return None
    return Walk(inputs, wanted, policy, routes)
