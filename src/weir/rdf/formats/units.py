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
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from weir.rdf.columns import Ids
from weir.rdf.formats.guards import refusal
from weir.rdf.formats.media import Format, format_of
from weir.rdf.formats.payloads import Statements, messages_of, read_payloads, shown, split_lines, whole
from weir.rdf.formats.tnq import BOM
from weir.rdf.messages import NO_GRAPH_TEXT, Parsed, Rejected

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
) -> Parsed:
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


STRAY = "outside the graphs of the file: there is no message that it belongs to"


@dataclass(frozen=True, slots=True)
class Parted:
    """Statements parted into messages: ``home`` is the payload each was in, ``names`` that of its graph.

    ``refused`` is what was set aside by itself, with its payload as the record.
    """

    statements: Statements
    home: Ids
    names: dict[int, str] = field(default_factory=dict)
    refused: list[Rejected] = field(default_factory=list)


def by_graph(found: Statements, payloads: int, predicate: str) -> Parted:
    """Payloads with two named graphs or more, of which one has a time, parted into a message per graph.

    A time of a graph that stands in another one goes with the graph that it is about. Graphs are in the
    order in which they begin.
    """
    rows = _rows(found, predicate)
    several = rows.filter(pl.col("graph") != NO_GRAPH_TEXT).unique(["payload", "graph"])
    named = several.group_by("payload").len().filter(pl.col("len") > 1).select("payload")
    timed = rows.filter(pl.col("stamp") & pl.col("unit").is_not_null()).select("payload").unique()
    split = named.join(timed, on="payload")["payload"]
    if not len(split):
        return Parted(whole(found), np.arange(payloads))
    rows = rows.with_columns(split=pl.col("payload").is_in(split.implode()))
    stray = rows.filter(pl.col("split") & pl.col("unit").is_null())
    rows = rows.filter(~pl.col("split") | pl.col("unit").is_not_null())
    units = pl.concat(
        [
            pl.DataFrame({"payload": np.arange(payloads)})
            .filter(~pl.col("payload").is_in(split.implode()))
            .with_columns(unit=pl.lit(None, pl.String), row=pl.lit(-1, pl.Int64)),
            rows.filter("split").group_by("payload", "unit").agg(pl.col("row").min()),
        ]
    )
    units = (
        units.sort("payload", "row").with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    )
    rows = rows.with_columns(unit=pl.when("split").then("unit")).join(
        units.select("payload", "unit", "number"),
        on=["payload", "unit"],
        nulls_equal=True,
        maintain_order="left",
    )
    rows = rows.sort("number", maintain_order=True)
    kept, number = rows["row"].to_numpy(), rows["number"].to_numpy()
    apart = set(split.to_list())
    place = dict(units.filter(pl.col("unit").is_null()).select("payload", "number").iter_rows())
    atomic = replace(found, refused=[item for item in found.refused if item[0] not in apart])
    bad = {place[payload]: why for payload, why in whole(atomic).bad.items()}
    columns = [(codes[kept], texts) for codes, texts in found.columns]
    refused = [
        Rejected(line, why, text, payload) for payload, line, why, text in found.refused if payload in apart
    ]
    refused += [
        Rejected(int(found.line[row]), STRAY, _statement(found, row), payload)
        for row, payload in stray.select("row", "payload").iter_rows()
    ]
    names = units.filter(pl.col("unit").is_not_null()).select("number", "unit")
    return Parted(
        Statements(columns, number, found.line[kept], bad),
        units["payload"].to_numpy(),
        {number: f"graph {name}" for number, name in names.iter_rows()},
        refused,
    )


def _rows(found: Statements, predicate: str) -> pl.DataFrame:
    """For each row its payload and graph, whether it states a time, and the graph whose message it is in."""
    (subjects, subject_texts), (predicates, predicate_texts), _, (graphs, graph_texts) = found.columns
    rows = pl.DataFrame(
        {
            "row": np.arange(len(found.payload)),
            "payload": found.payload,
            "subject": subject_texts.gather(subjects).cast(pl.String),
            "graph": graph_texts.gather(graphs).cast(pl.String),
            "stamp": (predicate_texts == f"<{predicate}>").gather(predicates).cast(pl.Boolean),
        }
    )
    names = rows.filter(pl.col("graph") != NO_GRAPH_TEXT).select("payload", "graph").unique()
    about = rows.join(
        names.rename({"graph": "subject"}).with_columns(about=True), on=["payload", "subject"], how="left"
    ).sort("row")
    own = pl.col("about").fill_null(False)
    inside = pl.col("graph") != NO_GRAPH_TEXT
    return about.with_columns(
        unit=pl.when(pl.col("stamp") & own)
        .then("subject")
        .when(inside)
        .then("graph")
        .when(own)
        .then("subject")
    )


def _statement(found: Statements, row: int) -> str:
    terms = [texts[int(codes[row])] for codes, texts in found.columns]
    return " ".join(term for term in terms if term)[:200] + " ."
