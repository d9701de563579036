"""Leaves of a plan as inputs: patterns over windows, over static graphs, or over both merged.

Patterns that differ only in the names of variables share one track of live triples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from weir.kernel.interval.arrivals import Arrivals
from weir.kernel.interval.inputs import Input, Present, RelationInput, UnionInput
from weir.kernel.interval.instants import LOWEST
from weir.kernel.interval.kept import Counts
from weir.kernel.interval.keys import combine
from weir.kernel.interval.relation import Relation
from weir.kernel.interval.sorting import spread
from weir.kernel.interval.tables import StaticGraphs, StaticTable
from weir.kernel.interval.track import Keeping, Track
from weir.kernel.interval.turns import InTurnInput
from weir.kernel.interval.views import StaticInput
from weir.kernel.interval.window import Window
from weir.kernel.interval.windowed import WindowInput
from weir.kernel.operators import Slot, distinct, union
from weir.language.algebra.patterns import Node, TriplePattern
from weir.plan import nodes as p
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Variable

Leaf = Callable[[], Input]
"""Gives the input of a leaf in the slab at hand."""

EVERYTHING = TriplePattern(Variable("subject"), Variable("predicate"), Variable("object"))


class Streams:
    """Everything that is kept of the streams: arrivals, windows, tracks, and the inputs on them."""

    def __init__(self) -> None:
        self.arrivals: dict[str, Arrivals] = {}
        self.windows: dict[str, Window] = {}
        self.default: list[str] = []
        self.tracks: dict[tuple[object, ...], Track] = {}
        self.readers: dict[int, dict[str, Window]] = {}
        self.inputs: dict[str, list[WindowInput | InTurnInput]] = {}
        self.counts = Counts()
        self.tracks_of: dict[str, list[Track]] = {}

    def seal(self) -> None:
        """Once everything is declared and compiled."""
        self.tracks_of = {
            name: [track for key, track in self.tracks.items() if key[0] == name] for name in self.arrivals
        }

    def windows_of(self, stream: str) -> list[Window]:
        """The windows over one stream."""
        return [window for window in self.windows.values() if window.spec.stream == stream]

    def input(
        self, name: str, track: Track, window: Window, names: dict[str, str], present: Present
    ) -> WindowInput | InTurnInput:
        """The triples of a track in a window, prepared in every slab."""
        found: WindowInput | InTurnInput = WindowInput(name, track, window, names, self.counts)
        if window.spec.back_and_forth:
            assert isinstance(found, WindowInput)
            found = InTurnInput(name, present, found, WindowInput(name, track, window, names, self.counts))
        self.inputs.setdefault(window.spec.name, []).append(found)
        return found

    def forget_inputs(self) -> None:
        """Before the plan is compiled anew; tracks stay."""
        self.inputs.clear()
        for track in self.tracks.values():
            track.derived.clear()

    def release(self, bounds: Mapping[str, tuple[Ids, Ids]], time: int) -> None:
        """Drop what no instant after the last of ``bounds`` (at ``time``) can show."""
        for track in self.tracks.values():
            windows = self.readers[id(track)]
            for each in (track, *track.derived):
                each.drop(min(_expired(each, window, bounds) for window in windows.values()))
        for name, arrivals in self.arrivals.items():
            times = arrivals.times
            count = int(times.searchsorted(time))
            for window in self.windows_of(name):
                spec = window.spec
                if spec.unit is not None:
                    # A report waits for the next tick.
                    count = min(count, int(times.searchsorted(time - spec.unit)))
                if spec.width is not None:
                    low = int(bounds[spec.name][0][-1])
                    kept = times.searchsorted(low) if spec.rows_by == "time" else low - arrivals.log.first
                    count = min(count, int(kept))
            arrivals.log.drop(count)

    def track(
        self, window: Window, slots: Sequence[Slot | None], extra: Sequence[str], *, once: bool
    ) -> Track:
        """The track of a pattern whose variables are named by their slots."""
        spec = window.spec
        if spec.bag and not once:
            keeping = Keeping.BAG
        elif spec.width is None and spec.count is None and not extra:
            keeping = Keeping.FIRST
        else:
            keeping = Keeping.LATEST
        floor = window.floor if keeping is Keeping.FIRST else LOWEST
        needed = {each.spec.rows_by for each in self.windows_of(spec.stream)}
        coordinates = tuple(sorted(needed.union(extra)))
        key = (spec.stream, tuple(slots), keeping, floor, coordinates)
        found = self.tracks.get(key)
        if found is None:
            found = self.tracks[key] = Track(slots, coordinates, keeping, floor)
        self.readers.setdefault(id(found), {})[spec.name] = window
        return found

    def ids(self) -> list[Ids]:
        """The terms of live rows and of waiting messages."""
        found: list[Ids] = []
        for track in self.tracks.values():
            found += [track.rows.column(place) for place in range(len(track.columns))]
        for arrivals in self.arrivals.values():
            waiting = arrivals.pending
            found += [waiting.subject, waiting.predicate, waiting.object, waiting.graph]
        return found


class Leaves:
    """``present`` is the slab in which the inputs are asked."""

    def __init__(
        self, present: Present, graphs: StaticGraphs, streams: Streams, dictionary: Dictionary
    ) -> None:
        self.present = present
        self.graphs = graphs
        self.streams = streams
        self.dictionary = dictionary

    def match(self, source: p.Source, pattern: TriplePattern) -> Leaf:
        """The input of one triple pattern."""
        nodes: tuple[Node | None, ...] = (pattern.subject, pattern.predicate, pattern.object, source.graph)
        slots = tuple(self.slot(node) for node in nodes)
        name = shown(source, pattern)
        if source.window is not None:
            return _always(self._windowed(name, self.streams.windows[source.window], slots))
        if source.graph is None and self.streams.default:
            return self._merged(name, slots)
        return _always(self._static(name, slots))

    def slot(self, node: Node | None) -> Slot | None:
        """A variable's name or a constant's id."""
        if node is None:
            return None
        return node.name if isinstance(node, Variable) else self.dictionary.encode(node)

    def table(self, slots: Sequence[Slot | None]) -> StaticTable:
        """The static table that a pattern with this graph slot looks at."""
        graph = slots[3]
        if graph is None:
            return self.graphs.default
        return self.graphs.quads() if isinstance(graph, str) else self.graphs.graph(graph)

    def _static(self, name: str, slots: tuple[Slot | None, ...]) -> StaticInput:
        table = self.table(slots)
        if isinstance(slots[3], int):
            slots = (*slots[:3], None)
        return StaticInput(name, self.present, *table.match(slots))

    def _windowed(
        self, name: str, window: Window, slots: tuple[Slot | None, ...], *, once: bool = False
    ) -> WindowInput | InTurnInput:
        names: dict[str, str] = {}
        general: list[Slot | None] = []
        for place, slot in zip(("s", "p", "o", "g"), slots, strict=True):
            general.append(names.setdefault(slot, place) if isinstance(slot, str) else slot)
        track = self.streams.track(window, general, (), once=once)
        return self.streams.input(name, track, window, names, self.present)

    def timed(self) -> list[Input]:
        """Every triple of every window with its time, for ``f:timestamp``."""
        names = {"subject": "s", "predicate": "p", "object": "o", "time": "time"}
        found: list[Input] = []
        for window in self.streams.windows.values():
            track = self.streams.track(window, ("s", "p", "o", None), ("time",), once=False)
            found.append(self.streams.input("timestamps", track, window, names, self.present))
        return found

    def names(self, source: p.Source) -> Leaf:
        """The input of a graph's name: one row, or one for each name, while the graph is there."""
        slot = self.slot(source.graph)
        shown = f"names of graphs in {source.window or 'the dataset'}"
        if source.window is not None:
            window = self.streams.windows[source.window]
            return _always(self._windowed(shown, window, (None, None, None, slot), once=True))
        assert slot is not None
        return _always(StaticInput(shown, self.present, *self.graphs.names(slot)))

    def _merged(self, name: str, slots: tuple[Slot | None, ...]) -> Leaf:
        """The default graph where windows are part of it: one graph of the static triples and of all
        windows of content GRAPH, and every occurrence in windows of content BAG (33)."""
        static = self._static(name, slots)
        windows = [self.streams.windows[each] for each in self.streams.default]
        bags: list[Input] = [
            self._windowed(f"{name} in {w.spec.name}", w, slots) for w in windows if w.spec.bag
        ]
        sets = [self._windowed(f"{name} in {w.spec.name}", w, slots) for w in windows if not w.spec.bag]
        parts: list[Input] = [*sets, *bags]
        if not sets:
            parts.append(static)
        if not sets or (len(sets) == 1 and not len(static)):
            return _always(parts[0] if len(parts) == 1 else UnionInput(name, parts))
        variables = static.variables

        def streamed() -> Relation:
            rows = distinct(union(*(each.relation() for each in sets)))
            return rows if static.varies else _absent(rows, static)

        def varying() -> Relation:
            return distinct(union(static.relation(), *(each.relation() for each in sets)))

        def merged() -> Input:
            count = len(self.present)
            if static.varies:
                graph: list[Input] = [RelationInput(name, variables, varying, count)]
            else:
                graph = [static, RelationInput(name, variables, streamed, count)]
            return UnionInput(name, [*graph, *bags])

        return merged


def _expired(track: Track, window: Window, bounds: Mapping[str, tuple[Ids, Ids]]) -> int:
    """How many of a track's oldest rows the window no longer shows."""
    low = bounds[window.spec.name][0][-1]
    return int(track.coordinate(window.spec.rows_by).searchsorted(low))


def _absent(rows: Relation, static: StaticInput) -> Relation:
    """The rows that are not in a static view of the same variables anyway."""
    if not len(rows) or not len(static):
        return rows
    if not static.variables:
        return rows.take(np.empty(0, np.int64))
    index = static.index(static.variables)
    probing = [rows.columns[name] for name in static.variables]
    probe, place = spread(*index.ranges(combine(probing)))
    found = index.order[place]
    same = np.ones(len(probe), np.bool_)
    for name, column in zip(static.variables, probing, strict=True):
        same &= column[probe] == static.view.columns[name][found]
    absent = np.ones(len(rows), np.bool_)
    absent[probe[same]] = False
    return rows.take(np.flatnonzero(absent))


def _always(found: Input) -> Leaf:
    return lambda: found


def shown(source: p.Source, pattern: TriplePattern) -> str:
    """A leaf's name in routes and statistics."""
    where = source.window if source.window is not None else "graph"
    parts = (pattern.subject, pattern.predicate, pattern.object)
    return f"{where}{{{' '.join(_short(part) for part in parts)}}}"


def _short(node: Node) -> str:
    text = str(node)
    if text.startswith("<") and len(text) > 24:
        cut = max(text.rfind("/"), text.rfind("#"))
        return f"…{text[cut + 1 : -1]}" if cut > 0 else text
    return text
