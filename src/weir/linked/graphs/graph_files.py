"""Graph files of every RDF format as encoded columns, a piece at a time, and those fetched from URLs.

N-Triples and N-Quads are cut at line ends, every malformed line of theirs is reported; the other formats have
no lines to cut at and are read by one parser from beginning to end, which stops at the first mistake. Blank
nodes belong to their file: their labels depend on the file's name and their order in it, so that reading a
file twice gives the same terms.

A document is fetched whole, within limits of size and time; only http and https are followed. Its format
comes from the content type, or else from the ending of the URL's path. The file lies beside a note of its
address, which is the base of relative IRIs, and its name depends on the URL alone, so that blank nodes of an
unchanged document stay the same.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, cast
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pyoxigraph as ox

from weir.errors import DataError, UsageError
from weir.linked.http import open_document
from weir.linked.http.allowed_hosts import Allowed
from weir.rdf.columns import Ids
from weir.rdf.formats.guarded_parser import Unparsable, parse_quads, written
from weir.rdf.formats.media import FORMATS, PACKED
from weir.rdf.formats.tnq import read_columns
from weir.rdf.messages import Rejected, Terms
from weir.rdf.terms import BLANK_NODES, relabelled_text
from weir.storage.files import make_folder, opened, replace_file, writing
from weir.storage.remote import RemotePath

_KNOWN = [each for each in FORMATS if each.syntax is not None]
SYNTAXES = {ending: each.syntax for each in _KNOWN for ending in each.endings if ending != ".json"}
"""By ending; a ``.json`` in a folder is seldom a graph."""

TYPES = {each.media_types[0]: each.endings[0] for each in _KNOWN}
"""The endings of media types."""

PIECE = 1 << 24
"""Bytes of lines read at a time."""

_QUADS = 100_000
_LINES = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_NOTE = ".url"
"""The ending of the note beside a file that was fetched: its address."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A file of a known format; ``packed`` if it is gzipped."""

    path: Path
    syntax: ox.RdfFormat
    packed: bool

    @property
    def by_lines(self) -> bool:
        return self.syntax in _LINES

    @property
    def splittable(self) -> bool:
        """Whether a reader may begin in the middle."""
        return self.by_lines and not self.packed

    def open(self) -> IO[bytes]:
        if not self.packed:
            return opened(self.path)
        # gzip closes what it opens, and leaves open what it is given.
        given = self.path if not isinstance(self.path, RemotePath) else opened(self.path)
        return cast("IO[bytes]", gzip.open(given, "rb"))

    @property
    def base(self) -> str:
        """What relative IRIs in it are relative to."""
        note = self.path.with_name(self.path.name + _NOTE)
        return note.read_text() if note.is_file() else self.path.resolve().as_uri()


@dataclass(frozen=True, slots=True)
class Piece:
    """Some statements of a file: subjects, predicates, objects and graphs, and what was malformed."""

    columns: tuple[Terms, ...]
    rejected: tuple[Rejected, ...] = ()


def graph_files(paths: Iterable[Path]) -> list[GraphFile]:
    """The files of paths: a folder stands for all graph files below it, in name order."""
    known = f"known endings: {', '.join(SYNTAXES)}, each also with {PACKED}"
    found: list[GraphFile] = []
    for path in paths:
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if each.is_file() and _ending(each)]
            if not inside:
                raise UsageError(f"no graph file in the folder {path}", hint=known)
        elif not path.is_file():
            raise UsageError(f"no such graph file: {path}")
        elif not _ending(path):
            raise UsageError(f"unknown graph format: {path.name}", hint=known)
        else:
            inside = [path]
        for each in inside:
            ending = _ending(each)
            syntax = SYNTAXES[ending.removesuffix(PACKED)]
            assert syntax is not None
            found.append(GraphFile(each, syntax, ending.endswith(PACKED)))
    return found


def _ending(path: PurePath) -> str:
    """The ending that tells the format, with ``.gz`` behind it where the file is packed; else nothing."""
    name = path.name.lower()
    packed = PACKED if name.endswith(PACKED) else ""
    ending = PurePath(name.removesuffix(PACKED)).suffix
    return ending + packed if ending in SYNTAXES else ""


def read_file(file: GraphFile, key: bytes, *, begin: int = 0, end: int | None = None) -> Iterator[Piece]:
    """The pieces of a file, or of the lines that *begin* in the given range of its bytes."""
    scope = f"g{hashlib.sha256(file.path.name.encode()).hexdigest()[:10]}"
    labels: dict[str, str] = {}

    def label(old: str) -> str:
        """Blank nodes of lines keep their labels, for others may read other lines; documents number them."""
        return f"{scope}x{old}" if file.by_lines else labels.setdefault(old, f"{scope}n{len(labels)}")

    def scoped(texts: pl.Series, used: Ids) -> pl.Series:
        """The texts with blank nodes renamed; those that are not used may be anything."""
        if file.by_lines:
            texts = texts.str.replace(r"^_:", f"_:{scope}x")
        some = texts.gather(np.flatnonzero(np.bincount(used)))
        blank = some.filter(some.str.contains(r"^<<\(" if file.by_lines else BLANK_NODES)).to_list()
        return texts.replace({text: relabelled_text(text, label) for text in blank}) if blank else texts

    number = 0
    with file.open() as source:
        try:
            for data in _lines(source, begin, end) if file.by_lines else _parsed(source, file):
                statements = pl.Series(
                    [str(line, "utf-8", "replace") for line in data.splitlines()], dtype=pl.String
                )
                columns, good, _, refused = read_columns(statements)
                rejected = tuple(
                    Rejected((number + row + 1) * file.by_lines, why, statements[row][:200])
                    for row, why in refused
                )
                kept = ((codes[good], texts) for codes, texts in columns)
                yield Piece(tuple(Terms.of(rows, scoped(texts, rows), key) for rows, texts in kept), rejected)
                number += len(statements)
        except (Unparsable, OSError, EOFError) as error:
            line, reason = (error.line, error.reason) if isinstance(error, Unparsable) else (0, str(error))
            none = Terms.of(np.empty(0, np.int64), pl.Series([], dtype=pl.String), key)
            yield Piece((none,) * 4, (Rejected(line, reason, ""),))


def _lines(source: IO[bytes], begin: int, end: int | None) -> Iterator[bytes]:
    """Whole lines, as many as a piece has."""
    at = begin
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
        yield data


def _parsed(source: IO[bytes], file: GraphFile) -> Iterator[bytes]:
    """The quads of a document as lines of N-Quads."""
    quads = parse_quads(source, file.syntax, file.base)
    while lines := written(islice(quads, _QUADS), ox.RdfFormat.N_QUADS):
        yield lines


@dataclass(frozen=True, slots=True)
class RemoteGraph:
    """A document and what may be spent on it: seconds in all, and bytes.

    ``refresh`` is after how many seconds it is fetched again, None never.
    """

    url: str
    timeout: float = 60.0
    max_bytes: int = 256 << 20
    refresh: float | None = None

    def __post_init__(self) -> None:
        if not is_url(self.url):
            raise UsageError(f"not a URL that graphs are read from: {self.url}", hint="http and https are")
        if self.refresh is not None and self.refresh <= 0:
            raise UsageError("the time between refreshes must be positive")

    @property
    def stem(self) -> str:
        """The name of its file, but for the ending."""
        return hashlib.sha256(self.url.encode()).hexdigest()[:20]


def is_url(source: str) -> bool:
    """Whether a source is an address rather than a path."""
    parts = urlsplit(source)
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def kept(graph: RemoteGraph, folder: Path) -> Path | None:
    """The file into which the document was fetched before; the latest, where its format changed."""
    found = [path for path in folder.glob(f"{graph.stem}.*") if not path.name.endswith(_NOTE)]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def fetch(graph: RemoteGraph, folder: Path, allowed: Allowed | None = None) -> Path:
    """Fetch a document into ``folder``, from an allowed host; the file, there whole or not at all.

    Raises ``RemoteError``, and ``DataError`` where the format is unknown.
    """
    make_folder(folder)
    accept = ", ".join([*TYPES, "*/*;q=0.1"])
    with open_document(
        graph.url, accept=accept, timeout=graph.timeout, max_bytes=graph.max_bytes, allowed=allowed
    ) as document:
        declared = document.media_type
        ending = TYPES.get(declared) or _ending(PurePosixPath(urlsplit(graph.url).path))
        if not ending:
            raise DataError(
                f"the document at {graph.url} is of an unknown format",
                detail=f"its content type is {declared or 'not given'}",
                hint=f"known types: {', '.join(TYPES)}",
            )
        target = folder / f"{graph.stem}{ending}"
        with writing(target) as file:
            file.writelines(document.chunks)
            replace_file(target.with_name(target.name + _NOTE), document.url.encode())
    return target
