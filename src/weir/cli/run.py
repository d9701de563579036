"""``weir run`` and ``weir try``: continuous queries on Spark, or in one process without it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weir.cli.options import Dialect, Master, QueryFiles, Routing, TracesTo, options_of, pair, read_query
from weir.cli.waiting import Waiting
from weir.engine import Engine
from weir.errors import UsageError
from weir.extras import load
from weir.language import declared_prefixes
from weir.linked.graphs.graph_files import is_url
from weir.runtime.output.metrics import Metrics
from weir.runtime.output.sinks.making import FORMATS, sink_at, sink_for
from weir.runtime.output.text_columns import timestamp
from weir.storage.places import path_at

if TYPE_CHECKING:
    from weir.spark.writers import Writer

Streams = Annotated[
    list[str] | None,
    typer.Option("--stream", help="A stream, IRI=SOURCE or IRI=SOURCE?option=value&…", metavar="IRI=SOURCE"),
]
Watch = Annotated[bool, typer.Option("--watch", help="Go on with files that appear later.")]
FilesPerBatch = Annotated[int | None, typer.Option(help="Files a batch takes.", min=1)]
NamedGraphs = Annotated[
    list[str] | None, typer.Option("--graph", help="A named graph, IRI=FILE or IRI=URL.", metavar="IRI=FILE")
]
DefaultGraphs = Annotated[list[str] | None, typer.Option(help="The default graph.", metavar="FILE")]
Refresh = Annotated[
    float | None, typer.Option(help="Seconds after which graphs from URLs are fetched again.")
]
Services = Annotated[
    list[str] | None,
    typer.Option("--service", help="An endpoint, ENDPOINT#weir:budget=10&interval=5s.", metavar="ENDPOINT"),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse graphs that are not given, and variables that can never be bound."),
]
Evaluator = Annotated[str, typer.Option(help="auto, interval or reference.")]
ResultFormat = Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")]
Out = Annotated[
    str | None, typer.Option(help="A file for the results; for parquet a folder.", metavar="PATH")
]
_TO = "Where results go as well: mqtt://…, kafka://…, live://…, files:DIR."
_TASKS = (
    "Or where tasks write them, and nobody else: jsonl:DIR, csv:DIR, nquads:DIR, parquet:DIR, "
    "tasks:kafka://…, or a sink of Spark's, NAME:PATH?option=value."
)
DeadLetters = Annotated[str | None, typer.Option(help="Where bad lines go.", metavar="PATH")]
Late = Annotated[str | None, typer.Option(help="Where late messages are listed.", metavar="PATH")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What both commands are given."""

    queries: QueryFiles
    stream: Streams = None
    watch: Watch = False
    files_per_batch: FilesPerBatch = None
    graph: NamedGraphs = None
    default_graph: DefaultGraphs = None
    refresh: Refresh = None
    service: Services = None
    dialect: Dialect = "auto"
    evaluator: Evaluator = "auto"
    routing: Routing = "cost"
    format: ResultFormat = "table"
    out: Out = None
    dead_letters: DeadLetters = None
    late: Late = None
    traces: TracesTo = None
    strict: Strict = False

    def to(self, engine: Engine) -> None:
        """Streams, graphs and queries."""
        for text in self.stream or ():
            iri, source = pair(text, "--stream", "IRI=SOURCE")
            engine.stream(iri, source, watch=self.watch, files_per_batch=self.files_per_batch)
        named = [pair(text, "--graph", "IRI=FILE") for text in self.graph or ()]
        for name, source in (*named, *((None, source) for source in self.default_graph or ())):
            engine.graph(name, source, refresh=self.refresh if is_url(source) else None)
        for endpoint in self.service or ():
            engine.service(endpoint)
        for path in self.queries:
            engine.register_all(
                read_query(path),
                name=path.stem,
                dialect=self.dialect,
                evaluator=self.evaluator,
                file=str(path),
            )


@options_of(Given)
def run(
    given: Given,
    to: Annotated[list[str] | None, typer.Option("--to", help=f"{_TO} {_TASKS}", metavar="ADDRESS")] = None,
    checkpoint: Annotated[str | None, typer.Option(help="A folder to resume from.", metavar="DIR")] = None,
    master: Master = None,
    slots: Annotated[
        int | None, typer.Option(help="Into how many parts queries can be split, for good.", min=1, max=4096)
    ] = None,
    partitions: Annotated[
        int | None, typer.Option(help="Tasks that work on them side by side, for good.", min=1, max=4096)
    ] = None,
) -> None:
    """Run continuous queries on Spark; with finite sources to their end."""
    engine = Engine(
        checkpoint=checkpoint,
        master=master,
        routing=given.routing,
        slots=slots,
        partitions=partitions,
        strict=given.strict,
    )
    given.to(engine)
    writer_at = load("weir.spark.writers").writer_at
    writers = [found for found in map(writer_at, to or ()) if found is not None]
    if writers and (len(to or ()) > 1 or given.out is not None):
        raise UsageError("results that tasks write go nowhere else", hint="give one --to, and no --out")
    run_to_end(engine, given, to, beside(given.out, checkpoint), *writers)


@options_of(Given)
def attempt(
    given: Given,
    to: Annotated[list[str] | None, typer.Option("--to", help=_TO, metavar="ADDRESS")] = None,
) -> None:
    """Run continuous queries in this process, without Spark: at once, with the same results, kept nowhere."""
    engine = Engine(runner="direct", routing=given.routing, strict=given.strict)
    given.to(engine)
    run_to_end(engine, given, to, beside(given.out, None))


def run_to_end(
    engine: Engine, given: Given, to: list[str] | None, letters: Path, writer: Writer | None = None
) -> None:
    """Run, tell how it went, and leave with the exit status of that. Bad lines go to ``letters`` where
    nothing else is said."""
    if given.dead_letters:
        letters = path_at(given.dead_letters, "dead letters")
    prefixes = {name: declared_prefixes(query) for name, query in engine.queries.items()}
    results = sink_for(given.format, given.out, sys.stdout.buffer, prefixes)
    metrics = engine.run(
        sinks=[] if writer else [results, *map(sink_at, to or ())],
        dead_letters=letters,
        late=given.late,
        observer=load("weir.runtime.traces").traces_to(given.traces) if given.traces else None,
        writer=writer,
        waiting=Waiting(),
    )
    typer.echo(summary(metrics, letters, resumable=engine.runner == "spark"), err=True)
    if metrics.interrupted and not given.watch:
        raise typer.Exit(130)
    if metrics.failures:
        raise typer.Exit(1)


def beside(out: str | None, checkpoint: str | None) -> Path:
    """Where bad lines go where nothing is said: beside the results, or into the checkpoint."""
    if out is not None:
        path = path_at(out, "results")
        return path.with_name(path.name + ".dead.jsonl")
    return (path_at(checkpoint, "a checkpoint") if checkpoint else Path.cwd()) / "dead-letters.jsonl"


def summary(metrics: Metrics, dead_letters: Path | None, *, resumable: bool = True) -> str:
    """One line at the end of a run; a second where something was set aside, and one for each query that
    failed. A run that is not ``resumable`` has no checkpoint to go on from."""
    seconds = max(time.time() - metrics.started, 1e-9)
    batches = "batch" if metrics.batches == 1 else "batches"
    line = (
        f"weir: {metrics.triples:,} triples in, {metrics.evaluations:,} evaluations, "
        f"{metrics.results:,} results, {metrics.batches:,} {batches}, {seconds:.1f} s"
    )
    kept = metrics.state
    if kept["rows"]:
        size = (
            f"{kept['bytes'] / 2**20:.1f} MB" if kept["bytes"] >= 2**20 else f"{kept['bytes'] / 1024:.1f} kB"
        )
        line += f", {kept['rows']:,} row{'s' * (kept['rows'] != 1)} kept ({size})"
    if metrics.interrupted:
        again = "; run again with the same checkpoint to go on" if resumable else ""
        line += f" (interrupted{again})"
    aside = []
    if metrics.rejected + metrics.ahead:
        aside.append(f"{metrics.rejected + metrics.ahead:,} set aside in {dead_letters}")
    if metrics.late:
        aside.append(f"{metrics.late:,} late")
    lines = [line, *([f"weir: {', '.join(aside)}"] if aside else [])]
    for name, failure in metrics.failures.items():
        when = "" if failure.at is None else f" at {timestamp(failure.at)}"
        reason = failure.reason.replace("\n", "\n    ")
        lines.append(f"weir: the query {name!r} failed{when}: {reason}")
    return "\n".join(lines)
