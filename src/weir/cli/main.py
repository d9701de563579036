"""The command line: the commands. Exit status 0 done, 1 failed, 2 bad usage."""

from __future__ import annotations

import typer

from weir.cli.bench import bench, demo, generate
from weir.cli.explain import explain, translate
from weir.cli.load import load
from weir.cli.options import reported
from weir.cli.run import follow, run
from weir.cli.serve import serve

app = typer.Typer(
    name="weir",
    help="Continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (run, load, explain, translate, follow, serve, demo, generate, bench):
    app.command()(reported()(command))


def main() -> None:
    """Run the command that was asked for."""
    app()
