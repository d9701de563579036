"""Named graphs as messages: the RDF stream of RSP, a sequence of graphs with a time on their names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from weir.rdf.columns import Ids
from weir.rdf.formats.payloads import Statements, whole
from weir.rdf.messages import NO_GRAPH_TEXT, Rejected

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
