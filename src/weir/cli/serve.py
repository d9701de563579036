"""``weir serve``: the service over HTTP, or data sets as fragments alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from weir.cli.options import Master, TracesTo, pair
from weir.errors import UsageError
from weir.extras import load
from weir.fragments.protocol.annotation import Annotation, Labeling, Method
from weir.linked.serving.admission import is_loopback
from weir.storage.places import local_path


def serve(
    config: Annotated[Path | None, typer.Option(help="A configuration, weir.toml.", metavar="FILE")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8080.")] = None,
    data: Annotated[str | None, typer.Option(help="Where everything is kept.", metavar="DIR")] = None,
    master: Master = None,
    routing: Annotated[str | None, typer.Option(help="How joins are ordered: cost or cardinality.")] = None,
    runner: Annotated[
        str | None,
        typer.Option(help="spark, which keeps everything, or direct: in this process, and nothing is kept."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="A fragments data set, NAME=FILE; without --data, no job runs.", metavar="NAME=FILE"
        ),
    ] = None,
    push: Annotated[
        str | None,
        typer.Option(
            help="Where the token is with which facts may be pushed: a file, or env:NAME.", metavar="FILE"
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="A certificate: serve with TLS.", metavar="FILE")
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key.", metavar="FILE")] = None,
    annotation: Annotated[
        Method, typer.Option(help="How facts of the data sets show their time.")
    ] = Method.GRAPHS,
    labeling: Annotated[
        Labeling, typer.Option(help="What they show: when they expire, or from when until when.")
    ] = Labeling.EXPIRATION,
    facts: Annotated[
        str | None,
        typer.Option(help="Where pushed facts are kept; with --data there, else in memory.", metavar="DIR"),
    ] = None,
    static_age: Annotated[
        float | None,
        typer.Option(
            help="Seconds for which caches may keep static triples; 3600, or 10 where facts may be pushed."
        ),
    ] = None,
    stream: Annotated[
        list[str] | None,
        typer.Option(help="A stream, IRI=SOURCE, beside those of FILE.", metavar="IRI=SOURCE"),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(help="Where results go as well: mqtt://…, kafka://…, files:DIR.", metavar="ADDRESS"),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Where streams and sinks that come over HTTP may lead: mqtt://HOST, a folder, * for all.",
            metavar="ADDRESS",
        ),
    ] = None,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Log each request as a JSON line, on standard error.")
    ] = False,
    traces: TracesTo = None,
    history: Annotated[
        float | None, typer.Option(help="Seconds of history kept with intervals; all by default.")
    ] = None,
) -> None:
    """Serve streams, queries, results and the dashboard; or data sets as Pattern Fragments alone."""
    fragments = load("weir.fragments.server")
    told = [pair(text, "--dataset", "NAME=FILE") for text in dataset or ()]
    pairs = [(name, local_path(path, "a data set")) for name, path in told]
    for name, path in pairs:
        if not path.is_file():
            raise UsageError(f"no such graph file: {path}", hint=f"it was given for the data set {name}")
    shown = Annotation(annotation, labeling)
    kept = None
    if history is not None:
        if labeling is not Labeling.INTERVAL or history <= 0:
            raise UsageError("history is kept with intervals, for some time", hint="--labeling interval")
        kept = fragments.Retention(history=True, age=round(history * 1e6))
    place = facts or (f"{data.rstrip('/')}/facts" if data else None)
    folder = None if place is None else local_path(place, "facts")
    datasets = [
        fragments.Dataset(
            name,
            fragments.Dataset.read(path),
            annotation=shown,
            retention=kept,
            static_age=round((static_age if static_age is not None else 10 if push else 3600) * 1e6),
            folder=None if folder is None else folder / name,
        )
        for name, path in pairs
    ]
    given: dict[str, Any] = {"host": host, "port": port, "data": data, "master": master, "routing": routing}
    given |= {"certificate": certificate, "key": key, "sinks": to, "addresses": allow}
    given["runner"] = runner
    given["traces"] = traces
    given["access_log"] = access_log or None
    given["streams"] = [pair(text, "--stream", "IRI=SOURCE") for text in stream or ()]
    settings = load("weir.server").read_settings(config, **given)
    scheme = "http" if settings.certificate is None else "https"
    address = f"{scheme}://{settings.host}:{settings.port}"
    token = secret_at(push) if push else False
    if datasets and config is None and data is None:
        for name, _ in pairs:
            typer.echo(f"weir: serving {address}/{name}", err=True)
        only = fragments.FragmentsApp(datasets, push=token, local=is_loopback(settings.host))
        tls = {"ssl_certfile": settings.certificate, "ssl_keyfile": settings.key}
        fragments.server(only, host=settings.host, port=settings.port, **tls).run()
        return
    server = load("weir.server").server(settings, datasets, push=token)
    where = f"with its data in {settings.data}" if settings.runner == "spark" else "and keeping nothing"
    typer.echo(f"weir: serving {address}/ {where}", err=True)
    server.run()


def secret_at(place: str) -> str:
    """A token from a file or, with ``env:``, from the environment: whatever stands on a command line is seen
    by everybody on the machine."""
    kind, _, name = place.partition(":")
    if kind == "env":
        found = os.environ.get(name, "")
    else:
        try:
            found = local_path(place, "a token").read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise UsageError(
                "--push names the file that holds the token, and there is none",
                hint="write the token into a file that only you can read, or give --push env:NAME",
            ) from None
    if len(found.strip()) < 16:
        raise UsageError("a token has 16 characters or more", hint="openssl rand -hex 16 makes one")
    return found.strip()
