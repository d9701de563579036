"""The match step: which triples of a stream queries want, what each slot gets, and which texts go with them.

A graph's name travels as a triple of that graph: the first of each message, its *witness*. So names need no
columns of their own, and are in a window exactly as long as their messages are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.kernel.contract import NO_GRAPH
from weir.kernel.matching.automaton import Matcher
from weir.plan.analysis.demand import Wanted, demands
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages, Parsed, Terms
from weir.runtime.control.catalog import SHARED, Catalog, Registration
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.output.text_columns import arrow_texts

_BITS = np.array([1, 2, 4, 8], np.uint8)


def share(ids: np.ndarray, slots: int) -> np.ndarray:
    """The slot that each id belongs to, where queries are split over ``slots``."""
    mixed = ids.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(33)) % np.uint64(slots)).astype(np.int64)


def needs_every_text(choice: str) -> bool:
    """Whether the evaluator works on terms, and so has to have the text of each."""
    return choice not in ("interval", SHARED)


def witnesses(message: Ids, graph: Ids) -> Ids:
    """The first row of each named graph in each message, ascending; rows are in the order of messages."""
    named = np.flatnonzero(graph != NO_GRAPH)
    names, code = np.unique(graph[named], return_inverse=True)
    _, first = np.unique(message[named] * len(names) + code, return_index=True)
    return np.sort(named[first])


class Selection:
    """The triples that one query wants of one stream.

    Law: a query answers the same whether it is given all triples or those that its selection keeps.
    """

    def __init__(self, wanted: Iterable[Wanted], dictionary: Dictionary) -> None:
        self._triples, self._names = Matcher(), Matcher()
        for each in wanted:
            places = (each.subject, each.predicate, each.object, each.graph)
            matcher = self._names if each.names else self._triples
            matcher.add(np.atleast_2d(dictionary.encode_terms(places)))

    def of(self, messages: Messages) -> Messages:
        """All messages, without the triples that are not wanted."""
        keep = self._triples.mask(*messages.quads)
        if len(self._names):
            rows = witnesses(messages.message, messages.graph)
            keep[rows] |= self._names.mask(*(column[rows] for column in messages.quads))
        return messages.rows(keep)


class _Pool:
    """Patterns of one kind: the automaton of all, and how many need the text of each place."""

    def __init__(self) -> None:
        self.matcher = Matcher()
        self._needs = np.zeros((0, 4), np.int64)
        self._bits: NDArray[np.uint8] | None = None

    def add(self, patterns: NDArray[np.int64], texts: NDArray[np.int64]) -> Ids:
        """The machines of patterns, one after the other; only their own states are touched."""
        self._bits = None
        machines = self.matcher.add(patterns)
        if self.matcher.bound > len(self._needs):
            wider = np.zeros((2 * self.matcher.bound, 4), np.int64)
            wider[: len(self._needs)] = self._needs
            self._needs = wider
        np.add.at(self._needs, machines, texts)
        return machines

    def drop(self, machines: Ids, texts: NDArray[np.int64]) -> None:
        """Give back what ``add`` gave."""
        self._bits = None
        np.subtract.at(self._needs, machines, texts)
        self.matcher.drop(machines)

    def wanted(self, rows: Ids, machines: Ids) -> tuple[Ids, NDArray[np.uint8]]:
        """The rows that match, each once, and which of their places have to be there as texts, as bits."""
        if self._bits is None:
            self._bits = ((self._needs > 0) @ _BITS).astype(np.uint8)
        if not len(rows):
            return rows, np.empty(0, np.uint8)
        first = np.ones(len(rows), np.bool_)
        first[1:] = rows[1:] != rows[:-1]
        starts = np.flatnonzero(first)
        return rows[starts], np.bitwise_or.reduceat(self._bits[machines], starts)


class _Kind(NamedTuple):
    """What the patterns of a pool have in common: the place that splits them (None: not split), and whether
    they ask for the names of graphs alone."""

    share: int | None = None
    names: bool = False


class _Part(NamedTuple):
    """A registration's patterns in one pool, by its machines and the texts that each needs."""

    slot: int
    stream: str
    kind: _Kind
    machines: Ids
    texts: NDArray[np.int64]


class MatchPlan:
    """For each slot and stream, the pools of patterns by their kind.

    ``follow`` brings it up to another catalog: queries that are in both are not touched.
    """

    def __init__(self, catalog: Catalog, slots: int, key: bytes) -> None:
        self.slots = slots
        self.own: set[int] = set()
        self.active: list[int] = []
        self._key = key
        self._streams: tuple[str, ...] = tuple(catalog.streams)
        self._pools: dict[tuple[int, str], dict[_Kind, _Pool]] = {}
        self._known: dict[str, Registration] = {}
        self._parts: dict[str, list[_Part]] = {}
        self._keep_late: set[str] = set()
        self._alike: dict[int, tuple[str, ...]] = {}
        self.follow(catalog)

    def follow(self, catalog: Catalog) -> None:
        """What comes joins the pools, what went leaves them."""
        self._keep_late = {iri for iri, entry in catalog.streams.items() if entry.keep_late}
        if tuple(catalog.streams) != self._streams:
            self._streams = tuple(catalog.streams)
            self._pools, self._known, self._parts = {}, {}, {}
        gone = [name for name, known in self._known.items() if catalog.queries.get(name) != known]
        for name in gone:
            del self._known[name]
            for part in self._parts.pop(name):
                self._pools[part.slot, part.stream][part.kind].drop(part.machines, part.texts)
        new = [each for name, each in catalog.queries.items() if name not in self._known]
        self._join(new)
        self.own = {slot for each in catalog.queries.values() for slot in each.slots}
        self._alike = {
            slot: tuple(name for name, each in catalog.queries.items() if slot in each.slots)
            for slot in self.own
            if all(each.share is None for each in catalog.queries.values() if slot in each.slots)
        }
        self.serve(())

    def _join(self, registrations: Sequence[Registration]) -> None:
        """All at once: thousands of patterns are encoded as one column, and each pool is told once."""
        owners: dict[tuple[int, str, _Kind], list[tuple[str, int]]] = {}
        wanted: dict[tuple[int, str, _Kind], list[Wanted]] = {}
        for each in registrations:
            self._known[each.name], self._parts[each.name] = each, []
            every, over = needs_every_text(each.evaluator), each.over(self._streams)
            for stream, patterns in demands(each.query, over, every_text=every).items():
                for kind, asked in _by_kind(patterns, each.share).items():
                    for slot in each.slots:
                        owners.setdefault((slot, stream, kind), []).append((each.name, len(asked)))
                        wanted.setdefault((slot, stream, kind), []).extend(asked)
        for place, found in wanted.items():
            slot, stream, kind = place
            terms = [term for p in found for term in (p.subject, p.predicate, p.object, p.graph)]
            texts = np.array([each.texts for each in found], np.int64).reshape(-1, 4)
            pool = self._pools.setdefault((slot, stream), {}).setdefault(kind, _Pool())
            machines = pool.add(Dictionary(self._key).encode_terms(terms).reshape(-1, 4), texts)
            first = 0
            for name, count in owners[place]:
                rows = slice(first, first + count)
                self._parts[name].append(_Part(slot, stream, kind, machines[rows], texts[rows]))
                first += count

    def frames(self, stream: str, given: LaneInput) -> Iterator[tuple[int, Frame]]:
        """What each slot gets of messages of a lane, whatever they came from: the one maker of frames.

        Slots that have the same queries whole get the same frame. What was counted and set aside goes with
        the first, where there are such in one without messages.
        """
        side: dict[str, Any] = {"triples": len(given.parsed.messages.message), "bytes": given.size}
        if given.dead:
            side["rejected"] = given.dead
        if len(set(self._alike.values())) < len(self._alike):
            yield self.active[0], Frame(stream, given.lane, _first(given), side=side)
            side = {}
        made: dict[tuple[str, ...], Frame] = {}
        for slot in self.active:
            like = self._alike.get(slot)
            frame = made.get(like) if like is not None else None
            if frame is None:
                frame = self.frame(slot, stream, given, side)
                if like is not None:
                    made[like] = frame
            yield slot, frame
            side = {}

    def serve(self, leaving: Iterable[int]) -> None:
        """Frames go to slots with queries and to those that have to be told that they have none."""
        self.active = sorted(self.own.union(leaving))

    def frame(self, slot: int, stream: str, given: LaneInput, side: Mapping[str, Any] | None = None) -> Frame:
        """What ``slot`` gets of these messages."""
        parsed = given.parsed
        messages = parsed.messages
        keep = np.zeros(len(messages.message), np.bool_)
        needed = [np.zeros(len(terms.texts), np.bool_) for terms in parsed.terms]
        for kind, pool in self._pools.get((slot, stream), {}).items():
            if kind.names:
                first = witnesses(messages.message, messages.graph)
                rows, machines = pool.matcher.match(*(column[first] for column in messages.quads))
                rows = first[rows]
            else:
                rows, machines = pool.matcher.match(*messages.quads)
            if kind.share is not None:
                mine = share(messages.quads[kind.share][rows], self.slots) == slot
                rows, machines = rows[mine], machines[mine]
            rows, bits = pool.wanted(rows, machines)
            keep[rows] = True
            for which, terms in enumerate(parsed.terms):
                needed[which][terms.codes[rows[(bits & _BITS[which]) != 0]]] = True
        if stream in self._keep_late:
            side = {**(side or {}), "messages": statements(parsed)}
        ids, texts = _texts(parsed.terms, needed)
        return Frame(
            stream,
            given.lane,
            _first(given),
            given.high,
            given.ended,
            messages.rows(keep),
            text_ids=ids,
            texts=texts,
            side=side or {},
        )


def _by_kind(wanted: Iterable[Wanted], share: int | None) -> dict[_Kind, list[Wanted]]:
    """Names are never split: whoever asks for them gets them all."""
    found: dict[_Kind, list[Wanted]] = {_Kind(share): []}
    for each in wanted:
        found.setdefault(_Kind(names=True) if each.names else _Kind(share), []).append(each)
    return found


def _first(given: LaneInput) -> int:
    """The position of the first message, or that of the lane."""
    return int(given.parsed.position[0]) if len(given.parsed.messages) else given.position


def statements(parsed: Parsed) -> list[list[str]]:
    """Each message as N-Quads statements: what a side output shows of it if it is late."""
    texts = [terms.texts.gather(terms.codes) for terms in parsed.terms]
    lines = pl.select(pl.concat_str([*texts[:3], texts[3], pl.lit(".")], separator=" ")).to_series()
    found = lines.str.replace("  .", " .", literal=True).to_list()
    counts = parsed.messages.triples
    ends = np.cumsum(counts).tolist()
    return [found[end - count : end] for end, count in zip(ends, counts.tolist(), strict=True)]


def _texts(columns: Iterable[Terms], needed: Iterable[Mask]) -> tuple[Ids, pa.LargeStringArray]:
    """The hashed terms marked in ``needed``, each once; inline ids carry their own text."""
    ids, texts = [], []
    for terms, marked in zip(columns, needed, strict=True):
        chosen = np.flatnonzero(marked & (terms.ids > 0))
        ids.append(terms.ids[chosen])
        texts.append(terms.texts.gather(chosen))
    every, first = np.unique(np.concatenate(ids), return_index=True)
    return every, arrow_texts(pl.concat([t.rename("text") for t in texts]).gather(first))
