"""CityBench's queries as published, in both languages, and the same questions as plain SPARQL for a store.

The plain text is made by cutting windows out of the published one, not by Weir's parser, so that a store
that checks Weir's answers is asked nothing that Weir has understood before. In CQELS-QL the window of each
stream is a graph named like the stream; in C-SPARQL all windows are part of the default graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weir.errors import UsageError
from weir_bench.city.data import EVENTS, City

DIALECTS = ("cqels", "csparql")
NUMBERS = tuple(range(1, 13))

SENSORS = "SensorRepository.n3"
CULTURE, LIBRARY = "AarhusCulturalEvents.n3", "AarhusLibraryEvents.n3"
SERVED = "http://127.0.0.1:9000/WebGlCity/RDF/"
"""Where the C-SPARQL queries say that the static data sets are served."""
GRAPHS: Mapping[str, Mapping[str | None, str]] = {
    "cqels": {None: SENSORS, "culturalevents": CULTURE, "libraryevents": LIBRARY},
    "csparql": {f"{SERVED}{Path(name).stem}.rdf": name for name in (SENSORS, CULTURE, LIBRARY)},
}
"""The static graphs of each language's queries, and their files; None is the default graph."""

_COMMENT = re.compile(r"<[^>\s]*>|\"[^\"\n]*\"|#[^\n]*")
_STREAM = re.compile(r"\bstream\s*<([^>]*)>\s*\[\s*range\s+(\d+)\s*(ms|s)\b[^\]]*\]", re.IGNORECASE)
_FROM_STREAM = re.compile(r"\bfrom\s+stream\s*<[^>]*>\s*\[[^\]]*\]", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+(named\s+)?<([^>]*)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CityQuery:
    """One of the queries. ``windows`` are the widths of its windows in ms, by stream."""

    dialect: str
    number: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.dialect}-Q{self.number}"

    @property
    def bare(self) -> str:
        """The text without comments."""
        return _COMMENT.sub(lambda found: "" if found[0].startswith("#") else found[0], self.text)

    @property
    def windows(self) -> dict[str, int]:
        found = _STREAM.findall(self.bare)
        return {stream: int(width) * (1 if unit.lower() == "ms" else 1000) for stream, width, unit in found}

    @property
    def sensors(self) -> list[str]:
        """The streams by the names of their files."""
        return [stream.removeprefix(EVENTS) for stream in self.windows]

    @property
    def named(self) -> dict[str | None, str]:
        """The static graphs that it reads, and their files."""
        graphs = GRAPHS[self.dialect]
        read: dict[str | None, str] = {None: graphs[None]} if None in graphs else {}
        return read | {iri: graphs[iri] for _, iri in _FROM.findall(_FROM_STREAM.sub("", self.bare))}

    @property
    def sparql(self) -> str:
        """What a store is asked: windows are graphs, or part of the default graph."""
        text = self.bare
        if self.dialect == "csparql":
            text = _FROM_STREAM.sub("", text)
        else:
            text = _STREAM.sub(lambda found: f"GRAPH <{found[1]}>", text)
        return _FROM.sub("", text)


def city_queries(city: City) -> list[CityQuery]:
    """The 24 queries, in order."""
    return [
        CityQuery(dialect, number, _file(city, dialect, number).read_text(encoding="utf-8"))
        for dialect in DIALECTS
        for number in NUMBERS
    ]


def _file(city: City, dialect: str, number: int) -> Path:
    """A query's file: in a folder that is called after its language."""
    found = sorted(
        (path for path in city.folder.rglob(f"Q{number}.txt") if dialect in path.parent.name.lower()),
        key=lambda path: (len(path.parts), path),
    )
    if not found:
        raise UsageError(
            f"{city.folder} has no query Q{number}.txt of {dialect}",
            hint="--data takes a folder in the layout of CityBench's repository",
        )
    return found[0]
