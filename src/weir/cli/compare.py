"""``weir compare``: two queries, or one in two dialects, on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from weir.cli.options import pair, read_query
from weir.errors import UsageError
from weir.explain.differences import compared
from weir.language import parse
from weir.notebook import query as answered


def compare(
    queries: Annotated[
        list[Path], typer.Argument(help="Two query files, or one for two dialects.", metavar="QUERY")
    ],
    stream: Annotated[
        list[str] | None, typer.Option(help="A stream that ends, IRI=SOURCE.", metavar="IRI=SOURCE")
    ] = None,
    graph: Annotated[
        list[str] | None, typer.Option(help="A named graph, IRI=FILE or IRI=URL.", metavar="IRI=FILE")
    ] = None,
    default_graph: Annotated[str | None, typer.Option(help="The default graph.", metavar="FILE")] = None,
    dialect: Annotated[
        list[str] | None, typer.Option(help="The dialect of both, or given twice, of each.")
    ] = None,
) -> None:
    """Say where two queries, or two dialects of one, answer differently on the same data, and why.

    Exit status 1 says that they differ.
    """
    dialects = dialect or ["auto"]
    if len(queries) > 2 or len(dialects) > 2 or (len(queries) == 1 and len(dialects) == 1):
        raise UsageError(
            "compare takes two queries, or one and two dialects",
            hint="weir compare a.rq b.rq …, or weir compare a.rq --dialect rspql --dialect csparql …",
        )
    paths, chosen = [queries[0], queries[-1]], [dialects[0], dialects[-1]]
    parsed = [
        parse(read_query(path), dialect=name, file=str(path))
        for path, name in zip(paths, chosen, strict=True)
    ]
    names = (
        (queries[0].stem, queries[-1].stem) if len(set(map(str, queries))) == 2 else (chosen[0], chosen[1])
    )
    if names[0] == names[1]:
        names = (str(queries[0]), str(queries[-1]))
    streams = dict(pair(text, "--stream", "IRI=SOURCE") for text in stream or ())
    graphs: dict[str | None, Any] = dict(pair(text, "--graph", "IRI=FILE") for text in graph or ())
    if default_graph is not None:
        graphs[None] = default_graph

    def run(text: str, name: str) -> pa.Table:
        return answered(text, streams, graphs, dialect=name).texts

    same, told = compared(names, parsed[0], parsed[1], run)
    typer.echo(told)
    if not same:
        raise typer.Exit(1)
