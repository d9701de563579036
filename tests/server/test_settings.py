"""What a service is told: a file, the command line over it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.server.settings import read_settings

READ = "r" * 20


def test_settings_come_from_a_file_and_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "weir.toml"
    path.write_text(
        f'port = 9000\n[limits]\nqueries = 3\n[[tokens]]\ntoken = "{READ}"\n[allow]\nhosts = ["e.org"]\n'
        '[services."http://e.org/sparql"]\nbudget = 3\n'
    )
    settings = read_settings(path, port=None, host="127.0.0.2")
    assert (settings.port, settings.host, settings.limits.queries) == (9000, "127.0.0.2", 3)
    assert settings.tokens[0].scope == "read"
    for text, words in (
        ("ports = 1", "unknown setting"),
        ("[limits]\nbody = 'x'", "is a number"),
        ("[[tokens]]\ntoken = 'short'", "shorter than 16"),
        ("port = ", "cannot read"),
        ("port = 'x'", "is a int"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_settings(path)


def test_without_a_file_there_are_defaults() -> None:
    settings = read_settings(None)
    assert (settings.host, settings.port, settings.data) == ("127.0.0.1", 8080, Path("weir-data"))
    assert read_settings(None, data=Path("/d")).data == Path("/d")
