"""PatternInputs of a plan as inputs: patterns over windows, over static graphs, or over both merged.

Patterns that differ only in the names of variables share their live triples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.operators.inputs.input import Input, Present, RelationInput, UnionInput
from weir.kernel.operators.inputs.static_views import StaticGraphs, StaticInput
from weir.kernel.operators.inputs.window_input import AlternatingInput, WindowInput
from weir.kernel.relations.relation import Relation, Slot, distinct, union
from weir.kernel.windows.instants import Instants
from weir.kernel.windows.live_triples import LiveTriples
from weir.kernel.windows.stream_state import Streams
from weir.kernel.windows.window import Window
from weir.kernel.windows.window_index import IndexCounts
from weir.language.algebra.patterns import Node, TriplePattern
from weir.plan import nodes as p
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Variable

Slots = tuple[Slot, Slot, Slot, Slot | None]
Given = Callable[[], Input]
"""Gives the input of a leaf in the slab at hand."""


EVERYTHING = TriplePattern(Variable("subject"), Variable("predicate"), Variable("object"))


class PatternInputs:
    """``present`` is the slab in which the inputs are asked."""

    def __init__(
        self, present: Present, graphs: StaticGraphs, streams: Streams, dictionary: Dictionary
    ) -> None:
        self.present = present
        self.graphs = graphs
        self.streams = streams
        self.dictionary = dictionary
        self.inputs: dict[str, list[WindowInput | AlternatingInput]] = {}
        self.counts = IndexCounts()

    def prepare(self, at: Instants) -> None:
        """Begin a slab of these instants, once."""
        if self.present.at is at:
            return
        self.present.at = at
        for name, inputs in self.inputs.items():
            low, high = self.streams.windows[name].hull(at)
            for each in inputs:
                each.prepare(low, high)

    def match(self, source: p.Source, pattern: TriplePattern) -> Given:
        """The input of one triple pattern."""
        triple = (self.slot(pattern.subject), self.slot(pattern.predicate), self.slot(pattern.object))
        slots = (*triple, None if source.graph is None else self.slot(source.graph))
        name = shown(source, pattern)
        if source.window is not None:
            return _always(self._windowed(name, self.streams.windows[source.window], slots))
        if source.graph is None and self.streams.default:
            return self._merged(name, slots)
        return _always(StaticInput(name, self.present, self.graphs.match(*slots)))

    def slot(self, node: Node) -> Slot:
        """A variable's name or a constant's id."""
        return node.name if isinstance(node, Variable) else self.dictionary.encode(node)

    def _windowed(
        self, name: str, window: Window, slots: tuple[Slot | None, ...], *, once: bool = False
    ) -> WindowInput | AlternatingInput:
        names: dict[str, str] = {}
        general: list[Slot | None] = []
        for place, slot in zip(("s", "p", "o", "g"), slots, strict=True):
            general.append(names.setdefault(slot, place) if isinstance(slot, str) else slot)
        triples = self.streams.triples_for(window, general, (), once=once)
        return self._input(name, triples, window, names)

    def _input(
        self, name: str, triples: LiveTriples, window: Window, names: dict[str, str]
    ) -> WindowInput | AlternatingInput:
        """The triples of a pattern in a window, prepared in every slab."""
        first = WindowInput(name, triples, window, names, self.counts)
        found: WindowInput | AlternatingInput = first
        if window.spec.back_and_forth:
            opened = WindowInput(name, triples, window, names, self.counts)
            found = AlternatingInput(name, self.present, first, opened)
        self.inputs.setdefault(window.spec.name, []).append(found)
        return found

    def timed(self) -> list[Input]:
        """Every triple of every window with its time, for ``f:timestamp``."""
        names = {"subject": "s", "predicate": "p", "object": "o", "time": "time"}
        found: list[Input] = []
        for window in self.streams.windows.values():
            triples = self.streams.triples_for(window, ("s", "p", "o", None), ("time",), once=False)
            found.append(self._input("timestamps", triples, window, names))
        return found

    def names(self, source: p.Source) -> Given:
        """The input of a graph's name: one row, or one for each name, while the graph is there."""
        assert source.graph is not None
        slot = self.slot(source.graph)
        shown = f"names of graphs in {source.window or 'the dataset'}"
        if source.window is not None:
            window = self.streams.windows[source.window]
            return _always(self._windowed(shown, window, (None, None, None, slot), once=True))
        return _always(StaticInput(shown, self.present, self.graphs.names(slot)))

    def _merged(self, name: str, slots: Slots) -> Given:
        """The default graph where windows are part of it: one graph of the static triples and of all
        windows of content GRAPH, and every occurrence in windows of content BAG (33)."""
        static = StaticInput(name, self.present, self.graphs.match(*slots))
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
            return _absent(distinct(union(*(each.relation() for each in sets))), static)

        def varying() -> Relation:
            return distinct(union(static.relation(), *(each.relation() for each in sets)))

        def merged() -> Input:
            count = len(self.present)
            graph: list[Input] = [RelationInput(name, variables, varying, count)]
            if static.steady:
                graph = [static, RelationInput(name, variables, streamed, count)]
            return UnionInput(name, [*graph, *bags])

        return merged


def _absent(rows: Relation, static: StaticInput) -> Relation:
    """The rows that are not in a static view of the same variables anyway."""
    absent = np.ones(len(rows), np.bool_)
    absent[static.partners(rows, static.variables)[0]] = False
    return rows.take(np.flatnonzero(absent))


def _always(found: Input) -> Given:
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
