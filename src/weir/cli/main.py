"""The command line: the commands. Exit status 0 done, 1 failed, 2 bad usage.

A command's module is imported when the command is asked for: `explain` needs neither Spark nor a server.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from weir.cli.options import reported
from weir.extras import lazily, load

lazily("polars")  # A fifth of the start of a command that reads no data.
COMMANDS = {
    "run": ("run", "run"),
    "try": ("run", "attempt"),
    "rescale": ("rescale", "rescale"),
    "load": ("load", "load"),
    "explain": ("explain", "explain"),
    "compare": ("compare", "compare"),
    "translate": ("explain", "translate"),
    "follow": ("follow", "follow"),
    "serve": ("serve", "serve"),
    "demo": ("bench", "demo"),
    "generate": ("bench", "generate"),
    "bench": ("bench", "bench"),
}
"""The module of each command, and the function in it."""


def _plain(params: list[Any]) -> list[Any]:
    """Options; those that are given or not have no type to tell."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return params


class Command(TyperCommand):
    """A command, and its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))


class Commands(TyperGroup):
    """The commands by name, each made when it is first asked for."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> typer.core.TyperCommand | None:  # type: ignore[override]
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        found = getattr(load(f"weir.cli.{module}"), function)
        alone.command(cmd_name, cls=Command)(reported()(found))
        made = typer.main.get_command(alone)
        made.name = cmd_name
        return made  # type: ignore[return-value]


app = typer.Typer(
    name="weir",
    cls=Commands,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def weir(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark."""
    if version:
        typer.echo(f"weir {metadata.version('weir')}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """Run the command that was asked for. Where it needs Spark here, that comes up while Weir is read."""
    elsewhere = any(text == "--help" or text.startswith("--master") for text in sys.argv)
    if sys.argv[1:2] in (["run"], ["demo"]) and not elsewhere:
        threading.Thread(target=_spark, daemon=True).start()
    try:
        app(prog_name="weir")
    finally:
        if "weir.spark.processes.class_archive" in sys.modules:
            load("weir.spark.processes.class_archive").make_later()


def _spark() -> None:
    with suppress(Exception):  # Whoever needs it tries again, and says what is wrong.
        load("weir.spark.session").start_jvm()
