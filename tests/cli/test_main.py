"""``weir`` itself: its help, its version, its commands."""

from __future__ import annotations

from importlib import metadata

from cli_kit import weir
from weir.cli.main import COMMANDS


def test_weir_alone_shows_its_help() -> None:
    alone = weir()
    assert alone.exit_code == 0
    assert "Commands" in alone.stdout and "--version" in alone.stdout
    assert weir("--version").stdout == f"weir {metadata.version('weir')}\n"


def test_options_without_a_value_show_no_type() -> None:
    assert "bool" not in weir("try", "--help").stdout + weir("--help").stdout


def test_every_command_has_its_help() -> None:
    shown = weir("--help").stdout
    for command in COMMANDS:
        assert command in shown
