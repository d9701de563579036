"""``weir load``: static graphs into a store, by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from weir.cli.options import Master, pair
from weir.linked.graphs import RemoteGraph
from weir.linked.graphs.graph_files import fetch, is_url, kept
from weir.linked.graphs.parquet_store import GraphStore
from weir.spark.load import load_graphs
from weir.spark.session import BATCH_SETTINGS, open_session
from weir.storage.places import local_path


def load(
    files: Annotated[list[str], typer.Argument(help="Graph files, folders or URLs, FILE or IRI=FILE.")],
    into: Annotated[str, typer.Option(help="The store, made or added to.", metavar="DIR")],
    master: Master = None,
) -> None:
    """Load graphs into a Parquet store by Spark; ``--graph IRI=DIR`` and ``--default-graph DIR`` read it."""
    folder = local_path(into, "a graph store")
    sources = [graph_source(text, folder) for text in files]
    store = load_with_progress(sources, folder, master)
    for name, count in sorted(store.manifest.graphs.items()):
        typer.echo(f"{name or 'default graph'}: {count:,} triples")


def graph_source(text: str, into: Path) -> tuple[str, Path]:
    """Graph and file of an argument of ``load``; what is at a URL is fetched, once, beside the store."""
    after = [text[place + 1 :] for place, sign in enumerate(text) if sign == "="]
    alone = (
        not after
        or Path(text).exists()
        or (is_url(text) and not any(Path(x).exists() or is_url(x) for x in after))
    )
    iri, source = ("", text) if alone else pair(text, "load", "FILE or IRI=FILE")
    if not is_url(source):
        return iri, local_path(source, "a graph")
    graph, folder = RemoteGraph(source), into.with_name(f"{into.name}.fetched")
    return iri, kept(graph, folder) or fetch(graph, folder)


def load_with_progress(
    sources: Sequence[tuple[str, Path]], into: Path, master: str | None = None
) -> GraphStore:
    """Load graphs into a store with a bar on standard error, where that is a terminal."""
    spark = open_session(master, BATCH_SETTINGS)
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        return load_graphs(
            spark, sources, into, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
