"""The match step: which triples of a stream queries want, what each slot gets, and which texts go with them.

All queries on a stream are in one automaton, whatever slot they live in, so a part is matched once; what is
found is dealt to the slots (``dealing``). A graph's name travels as a triple of that graph: the first of each
message, its *witness*. So names need no columns of their own, and are in a window exactly as long as their
messages are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from weir.kernel.contract import NO_GRAPH
from weir.kernel.matching.automaton import Matcher
from weir.plan.analysis.demand import Wanted, demands, readings
from weir.plan.analysis.own_messages import needs_every_message
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages, Parsed
from weir.rdf.terms import IRI
from weir.runtime.control.catalog import SHARED, Catalog, Registration
from weir.runtime.ingest.dealing import Cut, Dealt, Texts, homes
from weir.runtime.ingest.frames import Frame, Watermark
from weir.runtime.ingest.packing import packed_frames
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.ingest.pools import Entry, Pool, Table

_NONE = np.empty(0, np.int64)
MOST_LEAD = 1 << 12
"""The most times in a watermark: a part whose earliest message comes later than that goes to all slots."""


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


class MatchPlan:
    """For each stream the pools of patterns, those that ask for the names of graphs apart, and its readers.

    ``follow`` brings it up to another catalog: queries that are in both are not touched.
    """

    def __init__(self, catalog: Catalog, slots: int, key: bytes) -> None:
        self.slots = slots
        self.own: set[int] = set()
        self.active: list[int] = []
        self._key = key
        self._streams: tuple[str, ...] = tuple(catalog.streams)
        self._pools: dict[tuple[str, bool], Pool] = {}
        self._known: dict[str, Registration] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._keep_late: set[str] = set()
        self._like: dict[int, int] = {}
        self._every: dict[str, dict[int, bool]] = {}
        self._ahead: dict[str, int] = {}
        self.follow(catalog)

    def follow(self, catalog: Catalog) -> None:
        """What comes joins the pools, what went leaves them."""
        self._keep_late = {iri for iri, entry in catalog.streams.items() if entry.keep_late}
        if tuple(catalog.streams) != self._streams:
            self._streams = tuple(catalog.streams)
            self._pools, self._known, self._entries = {}, {}, {}
        gone = [name for name, known in self._known.items() if catalog.queries.get(name) != known]
        for name in gone:
            del self._known[name]
            for entry in self._entries.pop(name):
                self._pools[entry.pool].matcher.drop(entry.machines)
        self._join([each for name, each in catalog.queries.items() if name not in self._known])
        self.own = {slot for each in catalog.queries.values() for slot in each.slots}
        self._like = _alike(catalog.queries.values())
        self._read(catalog)
        for pool in self._pools.values():
            pool.table = None
        self.serve(())

    def _join(self, registrations: Sequence[Registration]) -> None:
        """All at once: thousands of patterns are encoded as one column, and each pool is told once."""
        owners: dict[tuple[str, bool], list[tuple[Registration, int]]] = {}
        wanted: dict[tuple[str, bool], list[Wanted]] = {}
        for each in registrations:
            self._known[each.name], self._entries[each.name] = each, []
            every, over = needs_every_text(each.evaluator), each.over(self._streams)
            for stream, patterns in demands(each.evaluated, over, every_text=every).items():
                for names in (False, True):
                    asked = [pattern for pattern in patterns if pattern.names is names]
                    if asked:
                        owners.setdefault((stream, names), []).append((each, len(asked)))
                        wanted.setdefault((stream, names), []).extend(asked)
        for place, found in wanted.items():
            terms = [term for p in found for term in (p.subject, p.predicate, p.object, p.graph)]
            texts = np.array([each.texts for each in found], np.int64).reshape(-1, 4)
            pool = self._pools.setdefault(place, Pool())
            machines = pool.matcher.add(Dictionary(self._key).encode_terms(terms).reshape(-1, 4))
            first = 0
            for each, count in owners[place]:
                asked = found[first : first + count]
                # Names are never split: whoever asks for them gets them all.
                by = [None if place[1] else _split_by(each, pattern) for pattern in asked]
                for own in dict.fromkeys(by):
                    rows = first + np.flatnonzero([known == own for known in by])
                    entry = Entry(place, each.slots, own, machines[rows], texts[rows])
                    self._entries[each.name].append(entry)
                first += count

    def _read(self, catalog: Catalog) -> None:
        """Which slots read each stream, which of them have to know of every message, and the least AHEAD."""
        self._every, self._ahead = {}, {}
        for each in catalog.queries.values():
            named = any(entry.pool[1] for entry in self._entries[each.name])
            whole = each.share is None or named or needs_every_message(each.evaluated) is not None
            for reading in readings(each.query, each.over(self._streams)):
                entry = catalog.streams.get(reading.stream)
                distinct = reading.distinct or (entry is not None and entry.times_distinct)
                slots = self._every.setdefault(reading.stream, {})
                for slot in each.slots:
                    slots[slot] = slots.get(slot, False) or whole or distinct
                known = self._ahead.get(reading.stream, reading.ahead)
                self._ahead[reading.stream] = min(known, reading.ahead)

    def serve(self, leaving: Iterable[int]) -> None:
        """Frames go to slots with queries and to those that have to be told that they have none."""
        self.active = sorted(self.own.union(leaving))

    def frames(self, stream: str, given: LaneInput) -> Iterator[tuple[int, Frame]]:
        """What each slot gets of messages of a lane, whatever they came from: the one maker of frames.

        Slots that have the same queries whole get the same frame, and so do those that get no message. What
        was counted and set aside goes with the first.
        """
        part = _Part(self, stream, given)
        for slot in self.active:
            frame = part.frame(slot)
            yield slot, frame if slot != self.active[0] else _with_counts(frame, given)

    def packed(self, stream: str, given: LaneInput) -> Iterator[tuple[int, bytes | memoryview]]:
        """The same frames as bytes; slots with the same frame get the same object."""
        part = _Part(self, stream, given)
        for slot in self.active:
            if slot == self.active[0]:
                yield slot, _with_counts(part.frame(slot), given).to_bytes()
            else:
                yield slot, part.packed(slot)

    def dealt(self, stream: str, messages: Messages) -> Dealt:
        """The triples that each slot wants of a stream's messages."""
        found = []
        for names in (False, True):
            pool = self._pools.get((stream, names))
            if pool is None or not len(pool.matcher):
                continue
            if pool.table is None:
                entries = [e for each in self._entries.values() for e in each if e.pool == (stream, names)]
                pool.table = Table.of(entries, pool.matcher.bound, self.slots, self._like)
            quads: Sequence[Ids] = messages.quads
            if names:
                first = witnesses(messages.message, messages.graph)
                quads = [column[first] for column in quads]
            rows, machines = pool.matcher.match(*quads)
            slot, rows, bits = pool.table.dealt(rows, machines, quads)
            found.append((slot, first[rows] if names else rows, bits))
        if len(found) > 1:
            slot, rows, bits = map(np.concatenate, zip(*found, strict=True))
            order = np.argsort(rows, kind="stable")
            return Dealt.of(slot[order], rows[order], bits[order])
        return Dealt.of(*found[0]) if found else Dealt(_NONE, _NONE, _NONE.astype(np.uint8))

    def like(self, slot: int) -> int:
        """The slot whose rows are those of this one."""
        return self._like.get(slot, slot)

    def readers(self, stream: str) -> Mapping[int, bool]:
        """The slots that read a stream, and whether each has to know of every message."""
        return self._every.get(stream, {})

    def watermark(self, stream: str, messages: Messages) -> Watermark | None:
        """What tells a slot enough of messages that it does not get, None where nothing does."""
        return Watermark.of(messages.time, self._ahead[stream], MOST_LEAD)

    def statements(self, stream: str, parsed: Parsed) -> list[list[str]] | None:
        """What a side output shows of each message if it is late, None where nobody asks."""
        return statements(parsed) if stream in self._keep_late else None


def _split_by(registration: Registration, wanted: Wanted) -> int | None:
    """The place by which what a pattern matches is split, None where all slots get it."""
    if not registration.places:
        return registration.share
    assert isinstance(wanted.predicate, IRI)
    return registration.places[wanted.predicate]


class _Part:
    """What a part brings to every slot."""

    def __init__(self, plan: MatchPlan, stream: str, given: LaneInput) -> None:
        self._plan, self._parsed = plan, given.parsed
        self._messages = messages = given.parsed.messages
        self._bare = Frame(stream, given.lane, _first(given), given.high, given.ended)
        self._readers = readers = plan.readers(stream)
        self._dealt = plan.dealt(stream, messages)
        self._texts = Texts(self._dealt, given.parsed.terms)
        self._statements = plan.statements(stream, given.parsed)
        self._rows = self._dealt.bounds(sorted({plan.like(slot) for slot in readers}))
        self._made: dict[tuple[int, bool], Frame] = {}
        self._own_packed: dict[int, memoryview] | None = None
        self._packed: dict[int, tuple[Frame, bytes]] = {}
        self._cut: Cut | None = None
        self._home: Ids | None = None
        apart = sorted(slot for slot, every in readers.items() if not every)
        if apart:
            self._home = homes(messages, self._dealt, sorted(readers))
            mark = plan.watermark(stream, messages)
            if mark is not None:
                self._quiet = replace(self._bare, watermark=mark)
                self._cut = Cut(messages, self._dealt, self._home, apart)

    def frame(self, slot: int) -> Frame:
        """What a slot gets: all messages, its own, or, where it does not read the stream, none."""
        every = self._readers.get(slot)
        if every is None:
            return self._bare
        return self._whole(slot) if every or self._cut is None else self._own(slot, self._cut)

    def packed(self, slot: int) -> bytes | memoryview:
        """The bytes of its frame. One that several slots get is made once."""
        if self._cut is not None and self._statements is None and self._readers.get(slot) is False:
            if self._own_packed is None:
                self._own_packed = packed_frames(self._quiet, self._cut, self._texts)
            if slot in self._own_packed:
                return self._own_packed[slot]
        frame = self.frame(slot)
        known = self._packed.get(id(frame))
        if known is None:
            known = self._packed[id(frame)] = frame, frame.to_bytes()
        return known[1]

    def _whole(self, slot: int) -> Frame:
        like, counts = self._plan.like(slot), slot == min(self._readers)
        known = self._made.get((like, counts))
        if known is not None:
            return known
        rows = self._dealt.row[self._rows[like]]
        ids, texts = self._texts.of(like)
        home = None if counts else np.zeros(len(self._messages), np.bool_)
        if self._home is not None:
            home = self._home == slot
        side = {} if self._statements is None else {"messages": self._statements}
        frame = replace(
            self._bare,
            messages=self._messages.at(rows),
            text_ids=ids,
            texts=texts,
            side=side,
            home=home,
            told=self._texts.told[self._rows[like]],
        )
        if self._home is None:
            self._made[like, counts] = frame
        return frame

    def _own(self, slot: int, cut: Cut) -> Frame:
        messages, index, home = cut.of(slot)
        if not len(messages):
            return self._quiet
        ids, texts = self._texts.of(slot)
        side = {}
        if self._statements is not None:
            side["messages"] = [self._statements[place] for place in index.tolist()]
        return replace(
            self._quiet,
            messages=messages,
            text_ids=ids,
            texts=texts,
            side=side,
            index=index,
            home=home,
            plain=cut.plain,
            told=self._texts.told[self._rows[slot]],
        )


def _with_counts(frame: Frame, given: LaneInput) -> Frame:
    """The first frame of a part, with what was counted and set aside."""
    side: dict[str, Any] = {"triples": len(given.parsed.messages.message), "bytes": given.size}
    if given.dead:
        side["rejected"] = given.dead
    return replace(frame, side={**frame.side, **side})


def _alike(registrations: Iterable[Registration]) -> dict[int, int]:
    """For each slot in which no query is split by a variable the first that has the same queries."""
    here: dict[int, list[str] | None] = {}
    for each in registrations:
        for slot in each.slots:
            names = here.setdefault(slot, [])
            if each.share is not None:
                here[slot] = None
            elif names is not None:
                names.append(each.name)
    first: dict[tuple[str, ...], int] = {}
    found = {}
    for slot in sorted(here):
        names = here[slot]
        if names is not None:
            found[slot] = first.setdefault(tuple(names), slot)
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
