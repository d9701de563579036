"""The command line: one command a module. Exit status 0 done, 1 failed, 2 bad usage."""

from __future__ import annotations

import typer

from weir.cli.bench import bench
from weir.cli.demo import demo
from weir.cli.explain import explain
from weir.cli.follow import follow
from weir.cli.generate import generate
from weir.cli.load import load
from weir.cli.run import run
from weir.cli.serve import serve
from weir.cli.translate import translate

app = typer.Typer(
    name="weir",
    help="Continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (run, load, explain, translate, follow, serve, demo, generate, bench):
    app.command()(command)


def main() -> None:
    """Run the command that was asked for."""
    app()
