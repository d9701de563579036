"""Graph files of every RDF format as encoded columns, a piece at a time.

N-Triples and N-Quads are cut at line ends and read by the vectorised reader, every malformed line of
theirs is reported; the other formats have no lines to cut at and are read by one parser from beginning
to end, which stops at the first mistake. Blank nodes belong to their file: their labels depend on the
file's name and their order in it, so that reading a file twice gives the same terms.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, cast

import polars as pl
import pyoxigraph as ox

from weir.errors import UsageError
from weir.rdf.formats.guarded_parser import QuadText, quad_texts
from weir.rdf.formats.tnq import read_columns
from weir.rdf.messages import Rejected, Terms

LINES = {".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
DOCUMENTS = {
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".jsonld": ox.RdfFormat.JSON_LD,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
}
PIECE = 1 << 24
"""Bytes of lines read at a time."""

_QUADS = 100_000

NOTE = ".url"
"""The ending of the note beside a file that was fetched: its address."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A file of a known format; ``packed`` if it is gzipped."""

    path: Path
    suffix: str
    packed: bool

    @property
    def by_lines(self) -> bool:
        return self.suffix in LINES

    @property
    def splittable(self) -> bool:
        """Whether a reader may begin in the middle."""
        return self.by_lines and not self.packed

    def open(self) -> IO[bytes]:
        return cast("IO[bytes]", gzip.open(self.path, "rb")) if self.packed else open(self.path, "rb")

    @property
    def base(self) -> str:
        """What relative IRIs in it are relative to."""
        note = self.path.with_name(self.path.name + NOTE)
        return note.read_text() if note.is_file() else self.path.resolve().as_uri()


@dataclass(frozen=True, slots=True)
class Piece:
    """Some statements of a file: columns of terms, and what was malformed."""

    subject: Terms
    predicate: Terms
    object: Terms
    graph: Terms
    rejected: tuple[Rejected, ...] = ()

    @property
    def columns(self) -> tuple[Terms, Terms, Terms, Terms]:
        return self.subject, self.predicate, self.object, self.graph

    def __len__(self) -> int:
        return len(self.subject)


def graph_files(paths: Iterable[Path]) -> list[GraphFile]:
    """The files of paths: a folder stands for all graph files below it, in name order."""
    found: list[GraphFile] = []
    for path in paths:
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if each.is_file() and _form(each)[0]]
            if not inside:
                raise UsageError(f"no graph file in the folder {path}", hint=_endings())
            found += [GraphFile(each, *_form(each)) for each in inside]
            continue
        if not path.is_file():
            raise UsageError(f"no such graph file: {path}")
        suffix, packed = _form(path)
        if not suffix:
            raise UsageError(f"unknown graph format: {path.name}", hint=_endings())
        found.append(GraphFile(path, suffix, packed))
    return found


def _form(path: Path) -> tuple[str, bool]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    last = suffixes[-2:-1] if packed else suffixes[-1:]
    suffix = last[0] if last else ""
    return (suffix if suffix in LINES or suffix in DOCUMENTS else ""), packed


def _endings() -> str:
    return f"known endings: {', '.join([*LINES, *DOCUMENTS])}, each also with .gz"


def scope_of(file: GraphFile) -> str:
    """What distinguishes the blank nodes of a file from those of another."""
    return hashlib.sha256(file.path.name.encode()).hexdigest()[:10]


def read_file(file: GraphFile, key: bytes, *, begin: int = 0, end: int | None = None) -> Iterator[Piece]:
    """The pieces of a file, or of the lines that *begin* in the given range of its bytes."""
    if file.by_lines:
        yield from _lines(file, key, begin, end)
    else:
        yield from _document(file, key)


def _lines(file: GraphFile, key: bytes, begin: int, end: int | None) -> Iterator[Piece]:
    prefix = f"_:g{scope_of(file)}x"
    with file.open() as source:
        at, number = begin, 0
        if begin:
            source.seek(begin - 1)
            at += len(source.readline()) - 1
        while end is None or at < end:
            data = source.read(PIECE if end is None else min(PIECE, end - at))
            if not data:
                return
            if not data.endswith(b"\n"):
                data += source.readline()
            at += len(data)
            statements = pl.Series(data.decode("utf-8", errors="replace").splitlines(), dtype=pl.String)
            columns, good, _, refused = read_columns(statements, key)
            rejected = tuple(Rejected(number + row + 1, why, statements[row][:200]) for row, why in refused)
            terms = [Terms.of(codes[good], _scoped(texts, prefix), key) for codes, texts in columns]
            yield Piece(terms[0], terms[1], terms[2], terms[3], rejected)
            number += len(statements)


def _scoped(texts: pl.Series, prefix: str) -> pl.Series:
    if not texts.str.starts_with("_:").any():
        return texts
    return texts.str.replace(r"^_:", prefix)


def _document(file: GraphFile, key: bytes) -> Iterator[Piece]:
    tag = f"_:g{scope_of(file)}n"
    labels: dict[str, str] = {}

    def scoped(text: str) -> str:
        return labels.setdefault(text, f"{tag}{len(labels)}") if text.startswith("_:") else text

    with file.open() as source:
        quads = ox.parse(source, format=DOCUMENTS[file.suffix], base_iri=file.base)
        while True:
            rows, rejected = _take(cast("Iterator[ox.Quad]", quads))
            columns = [[scoped(row[place]) for row in rows] for place in range(4)]
            terms = [_terms(pl.Series(column, dtype=pl.String), key) for column in columns]
            if rows or rejected:
                yield Piece(terms[0], terms[1], terms[2], terms[3], rejected)
            if rejected or len(rows) < _QUADS:
                return


def _take(quads: Iterator[ox.Quad]) -> tuple[list[QuadText], tuple[Rejected, ...]]:
    rows: list[QuadText] = []
    try:
        for quad in islice(quads, _QUADS):
            rows += quad_texts([quad])
    except SyntaxError as error:
        return rows, (Rejected(error.lineno or 0, error.msg, ""),)
    except (ValueError, OSError, EOFError) as error:
        return rows, (Rejected(0, str(error), ""),)
    return rows, ()


def _terms(texts: pl.Series, key: bytes) -> Terms:
    encoded = texts.to_arrow().dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype("int64")
    return Terms.of(codes, pl.Series(encoded.dictionary), key)
