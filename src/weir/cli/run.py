"""``weir run`` and ``weir follow``: continuous queries by Spark, or over time-annotated fragments."""

from __future__ import annotations

import sys
from contextlib import suppress
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Dialect, Master, QueryFile, QueryFiles, Routing, pair, read_query, summary
from weir.engine import Engine
from weir.fragments.client import Options, result_lines
from weir.fragments.client import follow as following
from weir.linked.graphs.graph_files import is_url
from weir.runtime.output.sinks.making import FORMATS, sink_at, sink_for


def run(
    queries: QueryFiles,
    stream: Annotated[
        list[str] | None,
        typer.Option(help="A stream, IRI=SOURCE or IRI=SOURCE?option=value&…", metavar="IRI=SOURCE"),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on with files that appear later.")] = False,
    files_per_batch: Annotated[int | None, typer.Option(help="Files a batch takes.", min=1)] = None,
    graph: Annotated[
        list[str] | None, typer.Option(help="A named graph, IRI=FILE or IRI=URL.", metavar="IRI=FILE")
    ] = None,
    default_graph: Annotated[
        list[str] | None, typer.Option(help="The default graph.", metavar="FILE")
    ] = None,
    refresh: Annotated[
        float | None, typer.Option(help="Seconds after which graphs from URLs are fetched again.")
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="An endpoint, ENDPOINT#weir:budget=10&interval=5s.", metavar="ENDPOINT"),
    ] = None,
    dialect: Dialect = "auto",
    evaluator: Annotated[str, typer.Option(help="auto, interval or reference.")] = "auto",
    routing: Routing = "cost",
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "table",
    out: Annotated[
        Path | None, typer.Option(help="A file for the results; for parquet a folder.", metavar="PATH")
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            help="Where results go as well: mqtt://…, kafka://…, live://…, files:DIR.", metavar="ADDRESS"
        ),
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A folder to resume from.", metavar="DIR")] = None,
    master: Master = None,
    dead_letters: Annotated[Path | None, typer.Option(help="Where bad lines go.", metavar="PATH")] = None,
    late: Annotated[Path | None, typer.Option(help="Where late messages are listed.", metavar="PATH")] = None,
) -> None:
    """Run continuous queries; with finite sources to their end."""
    engine = Engine(checkpoint=checkpoint, master=master, routing=routing)
    for text in stream or ():
        iri, source = pair(text, "--stream", "IRI=SOURCE")
        engine.stream(iri, source, watch=watch, files_per_batch=files_per_batch)
    for text in graph or ():
        iri, source = pair(text, "--graph", "IRI=FILE")
        engine.graph(iri, source, refresh=refresh if is_url(source) else None)
    for source in default_graph or ():
        engine.graph(None, source, refresh=refresh if is_url(source) else None)
    for endpoint in service or ():
        engine.service(endpoint)
    for path in queries:
        engine.register_all(
            read_query(path), name=path.stem, dialect=dialect, evaluator=evaluator, file=str(path)
        )
    letters = dead_letters or beside(out, checkpoint)
    metrics = engine.run(
        sinks=[sink_for(format, out, sys.stdout.buffer), *(sink_at(text) for text in to or ())],
        dead_letters=letters,
        late=late,
    )
    typer.echo(summary(metrics, letters), err=True)
    if metrics.interrupted and not watch:
        raise typer.Exit(130)


def beside(out: Path | None, checkpoint: Path | None) -> Path:
    """Where bad lines go where nothing is said: beside the results, or into the checkpoint."""
    if out is not None:
        return out.with_name(out.name + ".dead.jsonl")
    return (checkpoint or Path.cwd()) / "dead-letters.jsonl"


def follow(
    query: QueryFile,
    url: Annotated[str, typer.Argument(help="A fragments data set.", metavar="URL")],
    least: Annotated[float, typer.Option("--min", help="Least seconds between two polls.")] = 0.1,
    most: Annotated[float, typer.Option("--max", help="Most seconds between two polls.")] = 60.0,
    once: Annotated[bool, typer.Option("--once", help="One evaluation, then end.")] = False,
) -> None:
    """Follow a SPARQL query over time-annotated fragments; results as JSON lines."""
    options = Options(min_interval=least, max_interval=most)
    with suppress(KeyboardInterrupt):
        for update in following(read_query(query), url, options=options):
            for line in result_lines(update, query.stem):
                typer.echo(dumps(line, ensure_ascii=False, separators=(",", ":")))
            if once:
                break
