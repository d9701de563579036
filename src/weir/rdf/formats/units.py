"""Files of messages: what in them is one message.

| in the file | a message |
|---|---|
| JSON-LD: an array, or several values one after the other | each of them |
| two named graphs or more, of which one has a time (on its name, or in it) | each named graph |
| anything else | the file |
| nothing | none |

Statements of the default graph belong to the graph that they are about. ``unit`` ``document`` makes every
file one message. A message that is a whole file is atomic; in N-Quads with a message per graph a bad line
is set aside by itself, as in ``.tnq``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weir.rdf.formats.graph_units import Parted, by_graph
from weir.rdf.formats.guards import refusal
from weir.rdf.formats.media import Format, format_of
from weir.rdf.formats.payloads import messages_of, read_payloads, shown, split_lines, whole
from weir.rdf.formats.tnq import BOM
from weir.rdf.messages import Messages

UNITS = ("auto", "document")
"""How a file is cut into messages."""

_WITH_GRAPHS = ("nquads", "trig", "jsonld")
_JSON = json.JSONDecoder()
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Document:
    """A file of messages: its content, the position of its first byte in the lane, and what relative IRIs in
    it are relative to."""

    data: bytes
    position: int = 0
    base: str | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text that holds one message, or whose graphs do: where it begins in the file number ``record``."""

    text: bytes
    record: int
    begin: int = 0
    line: int = 1


def parse_documents(
    documents: Sequence[Document],
    format: Format,
    *,
    time_predicate: str,
    scope: str,
    key: bytes,
    unit: str = "auto",
) -> Messages:
    """The messages of consecutive files of a lane; what is rejected has the place and line of its file."""
    pieces = [piece for number, each in enumerate(documents) for piece in _pieces(each, number, format, unit)]
    syntax = format_of("jsonld") if format.syntax is None else format
    found = read_payloads(
        [piece.text for piece in pieces], syntax, [documents[piece.record].base for piece in pieces]
    )
    if unit == "auto" and syntax.name in _WITH_GRAPHS:
        parted = by_graph(found, len(pieces), time_predicate)
    else:
        parted = Parted(whole(found), np.arange(len(pieces)))
    home = parted.home
    places = np.array([documents[piece.record].position + piece.begin for piece in pieces], np.int64)
    messages = messages_of(
        parted.statements,
        lambda row: parted.names.get(row) or shown(pieces[home[row]].text),
        scope=scope,
        key=key,
        positions=places[home] + np.arange(len(home)) - np.searchsorted(home, home),
        time_predicate=time_predicate,
        lines=[pieces[one].line for one in home],
    )
    rejected = [replace(item, record=int(home[item.record])) for item in messages.rejected]
    every = [replace(item, record=pieces[item.record].record) for item in [*rejected, *parted.refused]]
    every.sort(key=lambda item: (item.record, item.line))
    return replace(messages, rejected=tuple(every))


def _pieces(document: Document, record: int, format: Format, unit: str) -> Iterator[_Piece]:
    data = document.data
    if not data or data.isspace():
        return
    if format.syntax is None:
        for line, (begin, text) in enumerate(split_lines(data)):
            if text:
                yield _Piece(text, record, begin, line + 1)
    elif unit == "auto" and format.name == "jsonld" and refusal(data, format.syntax) is None:
        yield from _json_values(data, record)
    else:
        yield _Piece(data, record)


def _json_values(data: bytes, record: int) -> Iterator[_Piece]:
    """The values of a text, those of an array each by itself; from the first mistake on, the rest as one."""
    text = data.removeprefix(BOM).decode(errors="surrogateescape")
    place = _skip(text, 0)
    inside = text.startswith("[", place)
    place = _skip(text, place + 1) if inside else place
    line, counted = 1, 0
    while place < len(text):
        if inside and text[place] == "]":
            inside, place = False, _skip(text, place + 1)
            continue
        try:
            _, end = _JSON.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = len(text)
        line, counted = line + text.count("\n", counted, place), place
        yield _Piece(text[place:end].encode(errors="surrogateescape"), record, place, line)
        place = _skip(text, end, "," if inside else "")


def _skip(text: str, place: int, more: str = "") -> int:
    while place < len(text) and text[place] in _BLANK + more:
        place += 1
    return place
