"""The conference scenario of CQELS section 4: people with RFID tags in rooms, and what they published.

Three parts, each decided by a seed: a floor plan of 172 triples (as many as the paper's), a library shaped
like DBLP, and a stream of sightings of participants who now and then walk into the next room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from weir.kernel.contract import NO_GRAPH, Background, GraphTable
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir_bench.data.library import Library, Triples, author_text

LV = "http://deri.org/floorplan/"
FLOORPLAN = "http://deri.org/floorplan/"
RFID = "http://deri.org/streams/rfid"
EPOCH = 1_300_000_000_000_000
"""When the stream begins, in microseconds."""

ROOMS = 24
DOORS = 62
"""Pairs of rooms that are connected, both ways: 24 · 2 + 62 · 2 = 172 triples."""

DAY = 250_000
"""Sightings of one day of the conference; everybody begins a day anew, in any room."""


@dataclass(frozen=True, slots=True)
class Conference:
    """``participants`` are the numbers of the authors who wear tags; ``notable`` those among them with
    co-authors and editors around, by whose names queries are instantiated."""

    floorplan: Triples
    library: Library
    neighbours: tuple[tuple[int, ...], ...]
    participants: Ids
    notable: tuple[int, ...]

    def name(self, author: int) -> str:
        """An author's foaf:name."""
        return f"Author {author}"

    def degrees(self) -> float:
        """The mean number of rooms next to a room."""
        return sum(len(each) for each in self.neighbours) / len(self.neighbours)


def conference(triples: int = 100_000, participants: int = 500, seed: int = 42) -> Conference:
    """A conference whose library has exactly ``triples`` triples."""
    rng = np.random.default_rng(seed)
    neighbours = _doors(rng)
    library = Library(triples, seed)
    blocks = [library.block(number) for number in range(library.blocks)]
    creators, paper, volume, editors, edited = (
        np.concatenate([getattr(block, name) for block in blocks])
        for name in ("creator", "written", "volume", "editor", "edited")
    )
    chosen = _participants(rng, library.authors, participants, creators, editors)
    notable = _notable(chosen, creators, paper, volume, editors, edited)
    return Conference(_floorplan(neighbours), library, neighbours, chosen, notable)


def _doors(rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    """A ring of rooms, and more doors until there are enough."""
    pairs = {(room, (room + 1) % ROOMS) for room in range(ROOMS)}
    while len(pairs) < DOORS:
        one, two = (int(room) for room in rng.integers(0, ROOMS, 2))
        if one != two and (two, one) not in pairs:
            pairs.add((one, two))
    beside: list[list[int]] = [[] for _ in range(ROOMS)]
    for one, two in sorted(pairs):
        beside[one].append(two)
        beside[two].append(one)
    return tuple(tuple(sorted(rooms)) for rooms in beside)


def _floorplan(neighbours: tuple[tuple[int, ...], ...]) -> Triples:
    rows = []
    for room, others in enumerate(neighbours):
        rows.append((room_text(room), f"<{LV}name>", f'"Room {room}"'))
        rows.append((room_text(room), f"<{LV}desc>", f'"The room number {room}, with {len(others)} doors"'))
        rows += [(room_text(room), f"<{LV}connected>", room_text(other)) for other in others]
    return pl.DataFrame(rows, schema=["s", "p", "o"], orient="row")


def _participants(rng: np.random.Generator, authors: int, count: int, creators: Ids, editors: Ids) -> Ids:
    """Authors at the conference: productive ones, editors among them."""
    productive = np.argsort(-np.bincount(creators, minlength=authors), kind="stable")[: 4 * count]
    pool = np.union1d(productive, np.unique(editors))
    return np.sort(rng.choice(pool, min(count, len(pool)), replace=False))


def _notable(
    participants: Ids, creators: Ids, paper: Ids, volume: Ids, editors: Ids, edited: Ids
) -> tuple[int, ...]:
    """Participants in descending order of co-authors and editors who take part too.

    ``paper`` and ``edited`` ascend.
    """
    here = set(participants.tolist())
    by_author = np.argsort(creators, kind="stable")
    sorted_authors = creators[by_author]
    scores: list[tuple[int, int]] = []
    for author in participants.tolist():
        low, high = np.searchsorted(sorted_authors, [author, author + 1])
        wrote = paper[by_author[low:high]]
        fellows = set(_of(wrote, paper, creators).tolist()) & here - {author}
        edit = set(_of(np.unique(volume[wrote]), edited, editors).tolist()) & here
        scores.append((-min(len(fellows), len(edit)), author))
    return tuple(author for _, author in sorted(scores))


def _of(keys: Ids, column: Ids, values: Ids) -> Ids:
    """The values beside each of ``keys`` in an ascending column."""
    lows, highs = np.searchsorted(column, keys), np.searchsorted(column, keys, side="right")
    return np.concatenate([values[low:high] for low, high in zip(lows, highs, strict=True)] or [keys[:0]])


def room_text(room: int) -> str:
    """The term of a room."""
    return f"<{LV}room{room}>"


# Encoding


def background(world: Conference, dictionary: Dictionary) -> Background:
    """The library as default graph and the floor plan as named graph."""
    return Background(
        _table(world.library.all(), dictionary), {FLOORPLAN: _table(world.floorplan, dictionary)}
    )


def _table(triples: Triples, dictionary: Dictionary) -> GraphTable:
    texts = pl.concat([triples["s"], triples["p"], triples["o"]])
    distinct = texts.unique(maintain_order=True)
    ids = pl.DataFrame({"text": distinct, "id": pl.Series(dictionary.encode_texts(distinct))})
    found = (
        pl.DataFrame({"text": texts}).join(ids, on="text", how="left", maintain_order="left")["id"].to_numpy()
    )
    return GraphTable(*(np.ascontiguousarray(part) for part in found.reshape(3, -1)))


@dataclass(frozen=True, slots=True)
class Sightings:
    """The stream: one triple a message. ``author`` and ``room`` are numbers, the rest ids."""

    time: Ids
    author: Ids
    room: Ids
    subject: Ids
    predicate: int
    object: Ids

    def __len__(self) -> int:
        return len(self.time)

    def batch(self, start: int, end: int) -> Messages:
        """Messages ``start`` to ``end``."""
        count = end - start
        ones = np.ones(count, np.int64)
        zeros = np.zeros(count, np.int64)
        return Messages(
            self.time[start:end],
            ones,
            np.arange(count),
            zeros,
            self.subject[start:end],
            np.full(count, self.predicate, np.int64),
            self.object[start:end],
            np.full(count, NO_GRAPH, np.int64),
        )


def sightings(
    world: Conference, dictionary: Dictionary, count: int, rate: float = 100.0, seed: int = 1
) -> Sightings:
    """``count`` sightings at ``rate`` a second, evenly spread but for jitter; times are distinct."""
    days = [day(world, number, count, rate, seed) for number in range(-(-count // DAY))]
    time, author, room = (np.concatenate(column) for column in zip(*days, strict=True))
    people = dictionary.encode_texts([author_text(each) for each in range(world.library.authors)])
    rooms = dictionary.encode_texts([room_text(each) for each in range(ROOMS)])
    predicate = int(dictionary.encode_texts([f"<{LV}detectedAt>"])[0])
    return Sightings(time, author, room, people[author], predicate, rooms[room])


def day(world: Conference, number: int, count: int, rate: float, seed: int) -> tuple[Ids, Ids, Ids]:
    """Times, authors and rooms of one day of a stream of ``count`` sightings; decided by its number."""
    rng = np.random.default_rng((seed, number))
    step = 1_000_000 / rate
    numbers = np.arange(number * DAY, min((number + 1) * DAY, count))
    time = EPOCH + (numbers * step + rng.uniform(0, 0.8 * step, len(numbers))).astype(np.int64)
    author = rng.choice(world.participants, len(numbers))
    room = np.fromiter(_walk(world, author, rng), np.int64, len(numbers))
    return time, author, room


def _walk(world: Conference, author: Ids, rng: np.random.Generator) -> Iterator[int]:
    """Where each sighting is: one in ten is in a room next to the last."""
    moves = rng.random(len(author)) < 0.1
    choices = rng.integers(0, 1 << 30, len(author)).tolist()
    where: dict[int, int] = {}
    for person, moved, choice in zip(author.tolist(), moves.tolist(), choices, strict=True):
        room = where.get(person)
        if room is None:
            room = choice % ROOMS
        elif moved:
            doors = world.neighbours[room]
            room = doors[choice % len(doors)]
        where[person] = room
        yield room
