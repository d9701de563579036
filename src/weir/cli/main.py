"""The command line: the commands. Exit status 0 done, 1 failed, 2 bad usage.

A command's module is imported when the command is asked for: `explain` needs neither Spark nor a server.
"""

from __future__ import annotations

import typer
from typer.core import TyperGroup

from weir.cli.options import reported
from weir.extras import lazily, load

lazily("polars")  # A fifth of the start of a command that reads no data.
COMMANDS = {
    "run": ("run", "run"),
    "try": ("run", "attempt"),
    "rescale": ("rescale", "rescale"),
    "load": ("load", "load"),
    "explain": ("explain", "explain"),
    "translate": ("explain", "translate"),
    "follow": ("follow", "follow"),
    "serve": ("serve", "serve"),
    "demo": ("bench", "demo"),
    "generate": ("bench", "generate"),
    "bench": ("bench", "bench"),
}
"""The module of each command, and the function in it."""


class Commands(TyperGroup):
    """The commands by name, each made when it is first asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> typer.core.TyperCommand | None:  # type: ignore[override]
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name]
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(cmd_name)(reported()(getattr(load(f"weir.cli.{module}"), function)))
        made = typer.main.get_command(alone)
        made.name = cmd_name
        return made  # type: ignore[return-value]


app = typer.Typer(
    name="weir",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def weir() -> None:
    """Continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark."""


def main() -> None:
    """Run the command that was asked for."""
    app()
