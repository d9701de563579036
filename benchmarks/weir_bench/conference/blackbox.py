"""The black-box way: windows as graphs of a triple store, the whole query again at every evaluation time.

The store is pyoxigraph's, in memory. A window is a set there, so how often a triple occurs in it is counted
beside; quads are made beforehand and not timed. What is timed is what such an engine has to do at each
sighting: remove what expired, add what came, evaluate, and send out what was not there before.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from typing import Any, TypeAlias

import pyoxigraph as ox

from weir_bench.conference.queries import Template
from weir_bench.data.conference import FLOORPLAN, LV, Conference, Sightings, room_text
from weir_bench.data.library import author_text

Solutions: TypeAlias = set[tuple[str | None, ...]]
"""Distinct rows of terms as N-Triples has them, None for what is unbound."""

LATEST, RANGED = ox.NamedNode("w:latest"), ox.NamedNode("w:ranged")


def store_of(world: Conference) -> ox.Store:
    """A store with the library as default graph and the floor plan."""
    store = ox.Store()
    store.bulk_load(_lines(world.library.all()), ox.RdfFormat.N_TRIPLES)
    store.bulk_load(_lines(world.floorplan), ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(FLOORPLAN))
    store.optimize()
    return store


def _lines(triples: object) -> bytes:
    columns = [triples[name].to_list() for name in ("s", "p", "o")]  # type: ignore[index]
    return "".join(f"{s} {p} {o} .\n" for s, p, o in zip(*columns, strict=True)).encode()


class BlackBox:
    """One query over the windows of one stream."""

    def __init__(self, store: ox.Store, sightings: Sightings) -> None:
        self.store = store
        self.sightings = sightings
        predicate = ox.NamedNode(LV + "detectedAt")
        people = {a: ox.NamedNode(author_text(a)[1:-1]) for a in set(sightings.author.tolist())}
        rooms = {r: ox.NamedNode(room_text(r)[1:-1]) for r in set(sightings.room.tolist())}
        pairs = list(zip(sightings.author.tolist(), sightings.room.tolist(), strict=True))
        self._latest = [ox.Quad(people[a], predicate, rooms[r], LATEST) for a, r in pairs]
        self._ranged = [ox.Quad(people[a], predicate, rooms[r], RANGED) for a, r in pairs]
        self._times = sightings.time.tolist()

    def run(self, template: Template, text: str, start: int, end: int) -> tuple[float, list[Solutions]]:
        """Seconds per evaluation for sightings ``start`` to ``end``, and the solutions of each.

        The windows are filled beforehand with what they hold at ``start``.
        """
        store, width = self.store, template.seconds * 1_000_000
        held: deque[int] = deque()
        counts: Counter[ox.Quad] = Counter()
        if width:
            for number in range(start):
                if self._times[number] > self._times[start] - width:
                    self._enter(number, held, counts)
        latest: ox.Quad | None = None
        constructs = text.count("CONSTRUCT") > 0
        before: set[Any] = set()
        sent = 0
        results: list[Solutions] = []
        spent = 0.0
        for number in range(start, end):
            begin = time.thread_time()
            if latest is not None:
                store.remove(latest)
            latest = self._latest[number]
            store.add(latest)
            if width:
                low = self._times[number] - width
                while held and self._times[held[0]] <= low:
                    self._leave(held.popleft(), counts)
                self._enter(number, held, counts)
            found: Any = store.query(text)
            rows = set(found) if constructs else set(map(tuple, found))
            sent += len(rows - before)
            before = rows
            spent += time.thread_time() - begin
            results.append({tuple(None if term is None else str(term) for term in row) for row in rows})
        store.remove_graph(LATEST)
        store.remove_graph(RANGED)
        return spent / (end - start), results

    def _enter(self, number: int, held: deque[int], counts: Counter[ox.Quad]) -> None:
        quad = self._ranged[number]
        held.append(number)
        counts[quad] += 1
        if counts[quad] == 1:
            self.store.add(quad)

    def _leave(self, number: int, counts: Counter[ox.Quad]) -> None:
        quad = self._ranged[number]
        counts[quad] -= 1
        if not counts[quad]:
            del counts[quad]
            self.store.remove(quad)
