"""The command line: a thin shell over the engine. Exit status 0 done, 1 failed, 2 bad usage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from weir.cli.console import load_with_progress, summary
from weir.engine import Engine
from weir.errors import CheckpointError, SyntaxError, TranslationError, UsageError, WeirError
from weir.explain import analyze_text, explain_set_text, explain_text
from weir.extras import load as module_of
from weir.fragments.client import Options, result_lines
from weir.fragments.client import follow as following
from weir.fragments.protocol.annotation import Annotation as TimeAnnotation
from weir.fragments.protocol.annotation import Labeling, Method
from weir.language import parse
from weir.language.translation import translate as translated
from weir.linked.graphs import GraphSources, RemoteGraph
from weir.linked.graphs.remote_graph import fetch, is_url, kept
from weir.plan.querysets import parse_queries
from weir.runtime.output.sinks.addresses import sink_at
from weir.runtime.output.sinks.making import FORMATS, sink_for

app = typer.Typer(
    name="weir",
    help="Continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
BENCHMARKS = ("conference", "matching", "freshness", "fragments", "spark", "language", "service")
_USAGE = (SyntaxError, UsageError, TranslationError, CheckpointError)

QueryFiles = Annotated[list[Path], typer.Argument(help="Query files.", metavar="QUERY...")]
QueryFile = Annotated[Path, typer.Argument(help="A query file.", metavar="QUERY")]
DialectOption = Annotated[str, typer.Option(help="auto, rspql, cqels, csparql or sparqlstream.")]


@contextmanager
def reported() -> Iterator[None]:
    """Weir's errors as messages on standard error, with the exit status of their kind."""
    try:
        yield
    except WeirError as error:
        typer.echo(f"weir: {error}", err=True)
        raise typer.Exit(2 if isinstance(error, _USAGE) else 1) from None


@app.command()
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
    dialect: DialectOption = "auto",
    evaluator: Annotated[str, typer.Option(help="auto, interval or reference.")] = "auto",
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
    master: Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")] = None,
    dead_letters: Annotated[Path | None, typer.Option(help="Where bad lines go.", metavar="PATH")] = None,
    late: Annotated[Path | None, typer.Option(help="Where late messages are listed.", metavar="PATH")] = None,
) -> None:
    """Run continuous queries; with finite sources to their end."""
    with reported():
        engine = Engine(checkpoint=checkpoint, master=master)
        for text in stream or ():
            iri, source = _pair(text, "--stream", "IRI=SOURCE")
            engine.stream(iri, source, watch=watch, files_per_batch=files_per_batch)
        for text in graph or ():
            iri, source = _pair(text, "--graph", "IRI=FILE")
            engine.graph(iri, source, refresh=refresh if is_url(source) else None)
        for source in default_graph or ():
            engine.graph(None, source, refresh=refresh if is_url(source) else None)
        for endpoint in service or ():
            engine.service(endpoint)
        for path in queries:
            engine.register_all(
                _read(path), name=path.stem, dialect=dialect, evaluator=evaluator, file=str(path)
            )
        letters = dead_letters or _beside(out, checkpoint)
        metrics = engine.run(
            sinks=[sink_for(format, out, sys.stdout.buffer), *(sink_at(text) for text in to or ())],
            dead_letters=letters,
            late=late,
        )
        typer.echo(summary(metrics, letters), err=True)
        if metrics.interrupted and not watch:
            raise typer.Exit(130)


@app.command()
def load(
    files: Annotated[list[str], typer.Argument(help="Graph files, folders or URLs, FILE or IRI=FILE.")],
    into: Annotated[Path, typer.Option(help="The store, made or added to.", metavar="DIR")],
    master: Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")] = None,
) -> None:
    """Load graphs into a Parquet store by Spark; ``--graph IRI=DIR`` and ``--default-graph DIR`` read it."""
    with reported():
        sources = [_loaded(text, into) for text in files]
        store = load_with_progress(sources, into, master)
        for name, count in sorted(store.manifest.graphs.items()):
            typer.echo(f"{name or 'default graph'}: {count:,} triples")


@app.command()
def explain(
    query: QueryFiles,
    dialect: DialectOption = "auto",
    every: Annotated[
        bool, typer.Option("--all", help="What all queries together share: states, templates.")
    ] = False,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Also run it on the given files, and count what was done.")
    ] = False,
    stream: Annotated[
        list[str] | None, typer.Option(help="With --analyze: a stream, IRI=FILE.", metavar="IRI=FILE")
    ] = None,
    graph: Annotated[
        list[str] | None, typer.Option(help="With --analyze: a named graph, IRI=FILE.", metavar="IRI=FILE")
    ] = None,
    default_graph: Annotated[
        list[Path] | None, typer.Option(help="With --analyze: the default graph.", metavar="FILE")
    ] = None,
) -> None:
    """Show every stage of a query, and how it would run; with --analyze, how it did.

    With --all, show what the queries of all files have in common instead.
    """
    with reported():
        found = [parse_queries(_read(path), path.stem, dialect, str(path)) for path in query]
        if every:
            names = [name for each in found for name in each]
            if len(set(names)) < len(names):
                raise UsageError("two queries have the same name", hint="give them names by REGISTER")
            typer.echo(explain_set_text({name: one for each in found for name, one in each.items()}))
            return
        if len(found) > 1 or len(found[0]) > 1:
            raise UsageError("explain shows one query", hint="with --all it shows a whole set")
        (parsed,) = found[0].values()
        typer.echo(explain_text(parsed))
        if analyze:
            library = GraphSources()
            for text in graph or ():
                iri, source = _pair(text, "--graph", "IRI=FILE")
                library.add(iri, Path(source))
            for path in default_graph or ():
                library.add(None, path)
            pairs = [_pair(text, "--stream", "IRI=FILE") for text in stream or ()]
            missing = [name for name in parsed.streams if isinstance(name, str) and name not in dict(pairs)]
            if missing:
                raise UsageError(f"no file for the stream <{missing[0]}>", hint=f"--stream {missing[0]}=FILE")
            typer.echo("\n" + analyze_text(parsed, {iri: Path(path) for iri, path in pairs}, library))


@app.command()
def translate(
    query: QueryFile,
    to: Annotated[str, typer.Option(help="The dialect to write.", metavar="DIALECT")],
    dialect: DialectOption = "auto",
) -> None:
    """Write a query in another dialect, or say what that dialect cannot express."""
    with reported():
        found = translated(parse(_read(query), dialect=dialect, file=str(query)), to)
        texts = [found] if isinstance(found, str) else [f"# {name}\n{text}" for name, text in found]
        typer.echo("\n\n".join(texts))


@app.command()
def follow(
    query: QueryFile,
    url: Annotated[str, typer.Argument(help="A fragments data set.", metavar="URL")],
    least: Annotated[float, typer.Option("--min", help="Least seconds between two polls.")] = 0.1,
    most: Annotated[float, typer.Option("--max", help="Most seconds between two polls.")] = 60.0,
    once: Annotated[bool, typer.Option("--once", help="One evaluation, then end.")] = False,
) -> None:
    """Follow a SPARQL query over time-annotated fragments; results as JSON lines."""
    with reported():
        options = Options(min_interval=least, max_interval=most)
        with suppress(KeyboardInterrupt):
            for update in following(_read(query), url, options=options):
                for line in result_lines(update, query.stem):
                    typer.echo(dumps(line, ensure_ascii=False, separators=(",", ":")))
                if once:
                    break


@app.command()
def serve(
    config: Annotated[Path | None, typer.Option(help="A configuration, weir.toml.", metavar="FILE")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8080.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where everything is kept.", metavar="DIR")] = None,
    master: Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="A fragments data set, NAME=FILE; without --data, no job runs.", metavar="NAME=FILE"
        ),
    ] = None,
    push: Annotated[str | None, typer.Option(help="A token with which facts may be pushed.")] = None,
    annotation: Annotated[
        Method, typer.Option(help="How facts of the data sets show their time.")
    ] = Method.GRAPHS,
    labeling: Annotated[
        Labeling, typer.Option(help="What they show: when they expire, or from when until when.")
    ] = Labeling.EXPIRATION,
    history: Annotated[
        float | None, typer.Option(help="Seconds of history kept with intervals; all by default.")
    ] = None,
) -> None:
    """Serve streams, queries, results and the dashboard; or data sets as Pattern Fragments alone."""
    with reported():
        fragments = module_of("weir.fragments.server")
        pairs = [_pair(text, "--dataset", "NAME=FILE") for text in dataset or ()]
        for name, path in pairs:
            if not Path(path).is_file():
                raise UsageError(f"no such graph file: {path}", hint=f"it was given for the data set {name}")
        shown = TimeAnnotation(annotation, labeling)
        kept = None
        if history is not None:
            if labeling is not Labeling.INTERVAL or history <= 0:
                raise UsageError("history is kept with intervals, for some time", hint="--labeling interval")
            kept = fragments.Retention(history=True, age=round(history * 1e6))
        datasets = [
            fragments.Dataset(name, fragments.Dataset.read(path), annotation=shown, retention=kept)
            for name, path in pairs
        ]
        given = {"host": host, "port": port, "data": data, "master": master}
        settings = module_of("weir.server").read_settings(config, **given)
        address = f"http://{settings.host}:{settings.port}"
        if datasets and config is None and data is None:
            for name, _ in pairs:
                typer.echo(f"weir: serving {address}/{name}", err=True)
            only = fragments.FragmentsApp(datasets, push=push or False)
            fragments.server(only, host=settings.host, port=settings.port).run()
            return
        server = module_of("weir.server").server(settings, datasets, push=push or False)
        typer.echo(f"weir: serving {address}/ with its data in {settings.data}", err=True)
        server.run()


@app.command()
def demo(
    seconds: Annotated[float, typer.Option(help="How long the stream flows.")] = 15.0,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a live table.")] = False,
) -> None:
    """The conference: people, rooms and papers, with live results."""
    with reported():
        module_of("weir.demo").run(seconds=seconds, plain=plain)


@app.command()
def generate(
    into: Annotated[Path, typer.Argument(help="The folder to write to.", metavar="DIR")],
    triples: Annotated[int, typer.Option(help="Triples of the library.")] = 100_000,
    sightings: Annotated[int, typer.Option(help="Messages of the stream.")] = 100_000,
    rate: Annotated[float, typer.Option(help="Messages a second, in the data.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 42,
    master: Annotated[str | None, typer.Option(help="The Spark master; all local cores by default.")] = None,
) -> None:
    """Write the conference scenario by Spark: library/, floorplan.nt and the stream rfid/."""
    with reported():
        if min(triples, sightings) < 1000 or rate <= 0:
            raise UsageError("a conference has at least 1,000 triples, 1,000 sightings and a rate above 0")
        data, written = module_of("weir_bench.data.conference"), module_of("weir_bench.data.written")
        session = module_of("weir.spark.session").open_session(master)
        world = data.conference(triples, seed=seed)
        written.write_conference(session, world, into.absolute(), sightings, rate, seed)
        typer.echo(f"weir: {triples:,} triples, {sightings:,} sightings in {into}", err=True)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(help=f"{', '.join(BENCHMARKS)}, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: minutes instead of an hour.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the report.", metavar="FILE")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write plots.", metavar="DIR")] = None,
) -> None:
    """Reproduce the papers' experiments, and measure the pipeline."""
    with reported():
        names = BENCHMARKS if name == "all" else (name,)
        for each in names:
            if each not in BENCHMARKS:
                raise UsageError(f"unknown benchmark {each!r}", hint=f"one of {', '.join(BENCHMARKS)}, all")
        short = [each for each in names if not _bench(each, quick, json, plot, several=len(names) > 1)]
        if short:
            typer.echo(f"weir: goals not met in {', '.join(short)}", err=True)


def _bench(name: str, quick: bool, json: Path | None, plot: Path | None, *, several: bool) -> bool:
    target = json.with_stem(f"{json.stem}-{name}") if json and several else json
    report = module_of(f"weir_bench.{name}.benchmark").run(quick=quick, plot=plot)
    if target is not None:
        report.write(target)
    typer.echo(f"{name}\n{report.summary()}")
    return bool(report.holds)


def _loaded(text: str, into: Path) -> tuple[str, Path]:
    """Graph and file of an argument of ``load``; what is at a URL is fetched, once, beside the store."""
    after = [text[place + 1 :] for place, sign in enumerate(text) if sign == "="]
    alone = Path(text).exists() or (is_url(text) and not any(Path(x).exists() or is_url(x) for x in after))
    iri, source = ("", text) if alone else _pair(text, "load", "FILE or IRI=FILE")
    if not is_url(source):
        return iri, Path(source)
    graph, folder = RemoteGraph(source), into.with_name(f"{into.name}.fetched")
    return iri, kept(graph, folder) or fetch(graph, folder)


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    """IRI and source. An IRI may contain ``=``: the first cut that leaves something to read counts."""
    places = [place for place, sign in enumerate(text) if sign == "="]
    if not places:
        raise UsageError(f"{option} takes {form}, not {text!r}")
    for place in places:
        source = text[place + 1 :]
        path = source.removeprefix("replay:").partition("?")[0]
        if Path(source).exists() or (path and Path(path).exists()) or "://" in source:
            return text[:place].strip("<>"), source
    return text[: places[0]].strip("<>"), text[places[0] + 1 :]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no such query file: {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the query file {path}", detail=str(error)) from None


def _beside(out: Path | None, checkpoint: Path | None) -> Path:
    if out is not None:
        return out.with_name(out.name + ".dead.jsonl")
    return (checkpoint or Path.cwd()) / "dead-letters.jsonl"


def main() -> None:
    """The entry point."""
    app()
