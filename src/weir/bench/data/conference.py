"""The conference scenario of CQELS section 4: people with RFID tags in rooms, and what they published.

Three parts, each decided by a seed: a floor plan of 172 triples (as many as the paper's), a library shaped
like DBLP by SP²Bench's rules of thumb (few prolific authors, two or three creators a paper, proceedings
with editors), and a stream of sightings of participants who now and then walk into the next room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from weir.kernel.background import Background, GraphTable
from weir.kernel.batch import NO_GRAPH, Batch
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary

LV = "http://deri.org/floorplan/"
FLOORPLAN = "http://deri.org/floorplan/"
RFID = "http://deri.org/streams/rfid"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
SWRC = "http://swrc.ontoware.org/ontology#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DBLP = "http://localhost/dblp/"
EPOCH = 1_300_000_000_000_000
"""When the stream begins, in microseconds."""

ROOMS = 24
DOORS = 62
"""Pairs of rooms that are connected, both ways: 24 · 2 + 62 · 2 = 172 triples."""

Triples = pl.DataFrame
"""Columns s, p, o of canonical term texts."""


@dataclass(frozen=True, slots=True)
class Conference:
    """``participants`` are the numbers of the authors who wear tags; ``notable`` those among them with
    co-authors and editors around, by whose names queries are instantiated."""

    floorplan: Triples
    library: Triples
    neighbours: tuple[tuple[int, ...], ...]
    participants: Ids
    notable: tuple[int, ...]
    authors: int
    papers: int

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
    papers = max(int(triples / 8.2), 8)
    authors = max(int(papers * 0.6), 8)
    creators, paper = _creators(rng, papers, authors)
    volumes = max(papers // 40, 2)
    volume = rng.integers(0, volumes, papers)
    editors, edited = _editors(rng, volumes, authors)
    library = _library(rng, triples, papers, authors, creators, paper, volume, editors, edited)
    chosen = _participants(rng, authors, participants, creators, editors)
    return Conference(
        _floorplan(neighbours),
        library,
        neighbours,
        chosen,
        _notable(chosen, creators, paper, volume, editors, edited),
        authors,
        papers,
    )


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


def _creators(rng: np.random.Generator, papers: int, authors: int) -> tuple[Ids, Ids]:
    """(author, paper) pairs: one to five creators a paper, authors by a power law."""
    counts = rng.choice([1, 2, 3, 4, 5], papers, p=[0.2, 0.35, 0.25, 0.12, 0.08])
    paper = np.repeat(np.arange(papers), counts)
    weight = 1.0 / (np.arange(authors) + 10.0) ** 0.8
    author = rng.choice(authors, len(paper), p=weight / weight.sum())
    pairs = np.unique(np.stack([paper, author]), axis=1)
    # Every author wrote something.
    missing = np.setdiff1d(np.arange(authors), pairs[1])
    extra = np.stack([rng.integers(0, papers, len(missing)), missing])
    pairs = np.unique(np.concatenate([pairs, extra], axis=1), axis=1)
    return pairs[1], pairs[0]


def _editors(rng: np.random.Generator, volumes: int, authors: int) -> tuple[Ids, Ids]:
    """(author, volume) pairs: two to four editors a volume, prolific authors."""
    counts = rng.integers(2, 5, volumes)
    volume = np.repeat(np.arange(volumes), counts)
    editor = rng.integers(0, max(authors // 20, 5), len(volume))
    pairs = np.unique(np.stack([volume, editor]), axis=1)
    return pairs[1], pairs[0]


def _library(
    rng: np.random.Generator,
    triples: int,
    papers: int,
    authors: int,
    creators: Ids,
    paper: Ids,
    volume: Ids,
    editors: Ids,
    edited: Ids,
) -> Triples:
    numbers, people, volumes = np.arange(papers), np.arange(authors), np.arange(int(volume.max()) + 1)
    years = pl.Series(rng.integers(1990, 2012, papers))
    parts = [
        _rows(_texts("paper", paper), DC + "creator", _texts("author", creators)),
        _rows(_texts("author", people), FOAF + "name", pl.format('"Author {}"', pl.Series(people))),
        _rows(_texts("paper", numbers), DCTERMS + "partOf", _texts("proceedings", volume)),
        _rows(_texts("proceedings", edited), SWRC + "editor", _texts("author", editors)),
        _rows(_texts("paper", numbers), DC + "title", pl.format('"On topic {}"', pl.Series(numbers))),
        _rows(_texts("author", people), TYPE, pl.lit(f"<{FOAF}Person>")),
        _rows(_texts("paper", numbers), TYPE, pl.lit(f"<{DBLP}InProceedings>")),
        _rows(
            _texts("paper", numbers),
            DCTERMS + "issued",
            pl.format('"{}"^^<http://www.w3.org/2001/XMLSchema#integer>', years),
        ),
        _rows(_texts("proceedings", volumes), TYPE, pl.lit(f"<{DBLP}Proceedings>")),
    ]
    library = pl.concat(parts)
    if len(library) < triples:
        count = 2 * (triples - len(library))
        citing, cited = rng.integers(0, papers, count), rng.integers(0, papers, count)
        more = _rows(_texts("paper", citing), DCTERMS + "references", _texts("paper", cited)).unique(
            maintain_order=True
        )
        library = pl.concat([library, more])
    return library.head(triples)


def _texts(kind: str, numbers: Ids) -> pl.Series:
    return pl.select(pl.format(f"<{DBLP}{kind}{{}}>", pl.Series(numbers))).to_series()


def _rows(subject: pl.Series, predicate: str, target: pl.Series | pl.Expr) -> Triples:
    frame = pl.DataFrame({"s": subject})
    return frame.select(
        "s",
        pl.lit(f"<{predicate}>").alias("p"),
        pl.lit(target).alias("o") if isinstance(target, pl.Series) else target.alias("o"),
    )


def _participants(rng: np.random.Generator, authors: int, count: int, creators: Ids, editors: Ids) -> Ids:
    """Authors at the conference: productive ones, editors among them."""
    productive = np.argsort(-np.bincount(creators, minlength=authors), kind="stable")[: 4 * count]
    pool = np.union1d(productive, np.unique(editors))
    return np.sort(rng.choice(pool, min(count, len(pool)), replace=False))


def _notable(
    participants: Ids, creators: Ids, paper: Ids, volume: Ids, editors: Ids, edited: Ids
) -> tuple[int, ...]:
    """Participants in descending order of co-authors and editors who take part too."""
    here = set(participants.tolist())
    scores: list[tuple[int, int]] = []
    for author in participants.tolist():
        wrote = paper[creators == author]
        fellows = set(creators[np.isin(paper, wrote)].tolist()) & here - {author}
        edit = set(editors[np.isin(edited, volume[wrote])].tolist()) & here
        scores.append((-min(len(fellows), len(edit)), author))
    return tuple(author for _, author in sorted(scores))


def room_text(room: int) -> str:
    """The term of a room."""
    return f"<{LV}room{room}>"


def author_text(author: int) -> str:
    """The term of an author."""
    return f"<{DBLP}author{author}>"


# Encoding


def background(world: Conference, dictionary: Dictionary) -> Background:
    """The library as default graph and the floor plan as named graph."""
    return Background(_table(world.library, dictionary), {FLOORPLAN: _table(world.floorplan, dictionary)})


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

    def batch(self, start: int, end: int) -> Batch:
        """Messages ``start`` to ``end``."""
        count = end - start
        ones = np.ones(count, np.int64)
        zeros = np.zeros(count, np.int64)
        return Batch(
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
    rng = np.random.default_rng(seed)
    step = 1_000_000 / rate
    time = EPOCH + (np.arange(count) * step + rng.uniform(0, 0.8 * step, count)).astype(np.int64)
    author = rng.choice(world.participants, count)
    room = np.fromiter(_walk(world, author, rng), np.int64, count)
    people = dictionary.encode_texts([author_text(each) for each in range(world.authors)])
    rooms = dictionary.encode_texts([room_text(each) for each in range(ROOMS)])
    predicate = int(dictionary.encode_texts([f"<{LV}detectedAt>"])[0])
    return Sightings(time, author, room, people[author], predicate, rooms[room])


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
