"""``weir serve``: the service over HTTP, or data sets as fragments alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weir.cli.options import Master, pair
from weir.errors import UsageError
from weir.extras import load
from weir.fragments.protocol.annotation import Annotation, Labeling, Method


def serve(
    config: Annotated[Path | None, typer.Option(help="A configuration, weir.toml.", metavar="FILE")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8080.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where everything is kept.", metavar="DIR")] = None,
    master: Master = None,
    routing: Annotated[str | None, typer.Option(help="How joins are ordered: cost or cardinality.")] = None,
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
    fragments = load("weir.fragments.server")
    pairs = [pair(text, "--dataset", "NAME=FILE") for text in dataset or ()]
    for name, path in pairs:
        if not Path(path).is_file():
            raise UsageError(f"no such graph file: {path}", hint=f"it was given for the data set {name}")
    shown = Annotation(annotation, labeling)
    kept = None
    if history is not None:
        if labeling is not Labeling.INTERVAL or history <= 0:
            raise UsageError("history is kept with intervals, for some time", hint="--labeling interval")
        kept = fragments.Retention(history=True, age=round(history * 1e6))
    datasets = [
        fragments.Dataset(name, fragments.Dataset.read(path), annotation=shown, retention=kept)
        for name, path in pairs
    ]
    given = {"host": host, "port": port, "data": data, "master": master, "routing": routing}
    settings = load("weir.server").read_settings(config, **given)
    address = f"http://{settings.host}:{settings.port}"
    if datasets and config is None and data is None:
        for name, _ in pairs:
            typer.echo(f"weir: serving {address}/{name}", err=True)
        only = fragments.FragmentsApp(datasets, push=push or False)
        fragments.server(only, host=settings.host, port=settings.port).run()
        return
    server = load("weir.server").server(settings, datasets, push=push or False)
    typer.echo(f"weir: serving {address}/ with its data in {settings.data}", err=True)
    server.run()
