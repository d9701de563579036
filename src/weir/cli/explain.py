"""``weir explain`` and ``weir translate``: what a query is, what a set of queries shares, and what a run of
one did; a query in another dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Dialect, QueryFile, QueryFiles, Routing, pair, read_query
from weir.errors import UsageError
from weir.explain import explain_text
from weir.extras import load
from weir.language import parse
from weir.language import translate as translated
from weir.plan.querysets import parse_queries
from weir.storage.places import path_at


def explain(
    query: QueryFiles,
    dialect: Dialect = "auto",
    routing: Routing = "cost",
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
    syntax: Annotated[bool, typer.Option("--syntax", help="Also show the syntax tree.")] = False,
) -> None:
    """Say what a query means, how it is planned, and how it would run; with --analyze, how it did.

    With --all, show what the queries of all files have in common instead.
    """
    found = [parse_queries(read_query(path), path.stem, dialect, str(path)) for path in query]
    if every:
        names = [name for each in found for name in each]
        if len(set(names)) < len(names):
            raise UsageError("two queries have the same name", hint="give them names by REGISTER")
        explain_set_text = load("weir.explain.query_sets").explain_set_text
        typer.echo(explain_set_text({name: one for each in found for name, one in each.items()}))
        return
    if len(found) > 1 or len(found[0]) > 1:
        raise UsageError("explain shows one query", hint="with --all it shows a whole set")
    (parsed,) = found[0].values()
    typer.echo(explain_text(parsed, routing, syntax=syntax))
    if analyze:
        library = load("weir.linked.graphs").GraphSources()
        for text in graph or ():
            iri, source = pair(text, "--graph", "IRI=FILE")
            library.add(iri, path_at(source, "a graph"))
        for path in default_graph or ():
            library.add(None, path_at(path, "a graph"))
        pairs = [pair(text, "--stream", "IRI=FILE") for text in stream or ()]
        missing = [name for name in parsed.streams if isinstance(name, str) and name not in dict(pairs)]
        if missing:
            raise UsageError(f"no file for the stream <{missing[0]}>", hint=f"--stream {missing[0]}=FILE")
        files = {iri: path_at(path, "a stream") for iri, path in pairs}
        typer.echo("\n" + load("weir.explain.analysis").analyze_text(parsed, files, library, routing))


def translate(
    query: QueryFile,
    to: Annotated[str, typer.Option(help="The dialect to write.", metavar="DIALECT")],
    dialect: Dialect = "auto",
) -> None:
    """Write a query in another dialect, or say what that dialect cannot express."""
    found = translated(parse(read_query(query), dialect=dialect, file=str(query)), to)
    texts = [found] if isinstance(found, str) else [f"# {name}\n{text}" for name, text in found]
    typer.echo("\n\n".join(texts))
