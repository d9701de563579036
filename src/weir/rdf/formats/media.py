"""The formats of messages: by name, by file ending, by media type.

``tnq`` and ``ndjsonld`` hold many messages, a line (or some lines) each; a text in any other format is one
message. What is called ``.n3`` is nearly always Turtle and is read as such; rules and formulas are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import pyoxigraph as ox

from weir.errors import UsageError

PACKED = ".gz"
"""The ending of a compressed file, behind that of its format."""


@dataclass(frozen=True, slots=True)
class Format:
    """``syntax`` is what the strict parser calls it, None where a text holds many messages."""

    name: str
    endings: tuple[str, ...]
    media_types: tuple[str, ...]
    syntax: ox.RdfFormat | None = None

    @property
    def timed(self) -> bool:
        """Whether messages carry their time with them, so that none is to be declared."""
        return self.name == "tnq"


FORMATS: tuple[Format, ...] = (
    Format("tnq", (".tnq",), ("text/x-tnq",)),
    Format("ntriples", (".nt",), ("application/n-triples",), ox.RdfFormat.N_TRIPLES),
    Format("nquads", (".nq",), ("application/n-quads", "text/x-nquads"), ox.RdfFormat.N_QUADS),
    Format("turtle", (".ttl", ".n3"), ("text/turtle", "application/x-turtle"), ox.RdfFormat.TURTLE),
    Format("trig", (".trig",), ("application/trig", "application/x-trig"), ox.RdfFormat.TRIG),
    Format("jsonld", (".jsonld", ".json"), ("application/ld+json", "application/json"), ox.RdfFormat.JSON_LD),
    Format("ndjsonld", (".ndjsonld", ".ndjson", ".jsonl"), ("application/x-ndjson", "application/jsonl")),
    Format(
        "rdfxml",
        (".rdf", ".owl", ".xml"),
        ("application/rdf+xml", "application/xml", "text/xml"),
        ox.RdfFormat.RDF_XML,
    ),
)
"""Every format of messages."""

_KNOWN: dict[str, Format] = {
    text: item for item in FORMATS for text in (item.name, *item.endings, *item.media_types)
}


def format_of(text: str) -> Format:
    """The format with this name, ending (``.ttl``) or media type (parameters are not looked at)."""
    wanted = text.partition(";")[0].strip().lower()
    found = _KNOWN.get(wanted) or _KNOWN.get(f".{wanted}")
    if found is None:
        raise UsageError(
            f"unknown message format {text!r}",
            detail=f"by name: {', '.join(item.name for item in FORMATS)}",
            hint=f"by ending: {', '.join(endings())}; media types are understood, too",
        )
    return found


def format_of_path(path: str | PurePath) -> Format | None:
    """The format of a file by its name, ``.gz`` left aside; None if that says nothing."""
    name = PurePath(path).name.lower().removesuffix(PACKED)
    return next((item for item in FORMATS if name.endswith(item.endings)), None)


def endings() -> list[str]:
    """Every known file ending."""
    return [ending for item in FORMATS for ending in item.endings]
