"""A library shaped like DBLP, of any size, in blocks that can be made anywhere and in any order.

By SP²Bench's rules of thumb: few prolific authors, two or three creators a paper, proceedings with editors.
A block is decided by the seed and its number alone, so that many tasks write one library between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from weir.rdf.columns import Ids

DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
SWRC = "http://swrc.ontoware.org/ontology#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DBLP = "http://localhost/dblp/"

BLOCK = 20_000
"""Papers of a block."""

Floats: TypeAlias = npt.NDArray[np.float64]
Triples: TypeAlias = pl.DataFrame
"""Columns s, p, o of canonical term texts."""


@dataclass(frozen=True, slots=True)
class Block:
    """Numbers instead of texts: ``creator`` wrote ``written``; ``paper`` is in ``volume``; ``editor`` edited
    ``edited``. ``people`` are the authors and ``volumes`` the proceedings that are described here."""

    paper: Ids
    volume: Ids
    written: Ids
    creator: Ids
    edited: Ids
    editor: Ids
    people: Ids
    volumes: Ids
    year: Ids

    @property
    def size(self) -> int:
        """Its triples without references."""
        parts = (self.written, self.people, self.people, self.edited, self.volumes)
        return 4 * len(self.paper) + sum(len(part) for part in parts)


@dataclass(frozen=True, slots=True)
class Library:
    """A library of exactly ``triples`` triples."""

    triples: int
    seed: int = 42

    @property
    def papers(self) -> int:
        return max(int(self.triples / 9), 8)

    @property
    def authors(self) -> int:
        return max(int(self.papers * 0.6), 8)

    @property
    def volumes(self) -> int:
        return max(self.papers // 40, 2)

    @property
    def blocks(self) -> int:
        return -(-self.papers // BLOCK)

    def block(self, number: int) -> Block:
        """The numbers of a block."""
        rng = np.random.default_rng((self.seed, number))
        paper = np.arange(number * BLOCK, min((number + 1) * BLOCK, self.papers))
        people = _share(self.authors, self.papers, paper)
        volumes = _share(self.volumes, self.papers, paper)
        counts = rng.choice([1, 2, 3, 4, 5], len(paper), p=[0.2, 0.35, 0.25, 0.12, 0.08])
        written = np.repeat(paper, counts)
        creator = np.searchsorted(_prolific(self.authors), rng.random(len(written)))
        # Every author wrote something.
        own = np.stack([people * self.papers // self.authors, people])
        pairs = np.unique(np.concatenate([np.stack([written, creator]), own], axis=1), axis=1)
        year = rng.integers(1990, 2012, len(paper))
        edited = np.repeat(volumes, rng.integers(2, 5, len(volumes)))
        editor = rng.integers(0, max(self.authors // 20, 5), len(edited))
        editing = np.unique(np.stack([edited, editor]), axis=1)
        volume = rng.integers(0, self.volumes, len(paper))
        return Block(paper, volume, pairs[0], pairs[1], editing[0], editing[1], people, volumes, year)

    def references(self) -> list[int]:
        """How many references each block has, so that there are as many triples as there should be."""
        sizes = [self.block(number).size for number in range(self.blocks)]
        missing = max(self.triples - sum(sizes), 0)
        cuts = [missing * number // self.blocks for number in range(self.blocks + 1)]
        return np.diff(cuts).tolist()

    def part(self, number: int, references: int) -> Triples:
        """The triples of a block."""
        block = self.block(number)
        paper, people = _texts("paper", block.paper), _texts("author", block.people)
        volumes = _texts("proceedings", block.volumes)
        integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        parts = [
            _rows(_texts("paper", block.written), DC + "creator", _texts("author", block.creator)),
            _rows(people, FOAF + "name", pl.format('"Author {}"', pl.Series(block.people))),
            _rows(paper, DCTERMS + "partOf", _texts("proceedings", block.volume)),
            _rows(_texts("proceedings", block.edited), SWRC + "editor", _texts("author", block.editor)),
            _rows(paper, DC + "title", pl.format('"On topic {}"', pl.Series(block.paper))),
            _rows(people, TYPE, pl.lit(f"<{FOAF}Person>")),
            _rows(paper, TYPE, pl.lit(f"<{DBLP}InProceedings>")),
            _rows(paper, DCTERMS + "issued", pl.format(integer, pl.Series(block.year))),
            _rows(volumes, TYPE, pl.lit(f"<{DBLP}Proceedings>")),
            self._references(block, number, references),
        ]
        return pl.concat(parts)

    def all(self) -> Triples:
        """Everything at once."""
        quota = self.references()
        every = pl.concat([self.part(number, quota[number]) for number in range(self.blocks)])
        return every.head(self.triples)

    def _references(self, block: Block, number: int, count: int) -> Triples:
        """So many different pairs of a paper of the block and any paper."""
        rng = np.random.default_rng((self.seed, number, 1))
        pairs = np.empty((2, 0), np.int64)
        while pairs.shape[1] < count:
            more = rng.choice(block.paper, 2 * count), rng.integers(0, self.papers, 2 * count)
            pairs = np.unique(np.concatenate([pairs, np.stack(more)], axis=1), axis=1)
        citing, cited = rng.permutation(pairs.T)[:count].T
        return _rows(_texts("paper", citing), DCTERMS + "references", _texts("paper", cited))


def author_text(author: int) -> str:
    """The term of an author."""
    return f"<{DBLP}author{author}>"


@lru_cache(maxsize=4)
def _prolific(authors: int) -> Floats:
    """The cumulated shares of authors in what is written: a power law."""
    shares = np.cumsum(1.0 / (np.arange(authors) + 10.0) ** 0.8)
    return np.asarray(shares / shares[-1], np.float64)


def _share(things: int, papers: int, block: Ids) -> Ids:
    """Which of ``things`` are described in the block that has these papers: each in exactly one."""
    first, last = int(block[0]), int(block[-1])
    low, high = -(-first * things // papers), -(-(last + 1) * things // papers)
    return np.arange(low, high)


def _texts(kind: str, numbers: Ids) -> pl.Series:
    return pl.select(pl.format(f"<{DBLP}{kind}{{}}>", pl.Series(numbers))).to_series()


def _rows(subject: pl.Series, predicate: str, target: pl.Series | pl.Expr) -> Triples:
    return pl.DataFrame({"s": subject}).select(
        "s",
        pl.lit(f"<{predicate}>").alias("p"),
        pl.lit(target).alias("o") if isinstance(target, pl.Series) else target.alias("o"),
    )
