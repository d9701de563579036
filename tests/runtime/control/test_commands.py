"""A stream of commands, followed in its order."""

from __future__ import annotations

import json

import pytest

from weir.errors import UsageError
from weir.runtime.control.registry import apply_commands

TEXT = "SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s <p> ?o } }"


class Recorded:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def register_all(self, texts: dict[str, str], *, dialect: str = "auto") -> list[str]:
        assert set(texts.values()) == {TEXT}
        self.told.append(("register", *texts))
        return list(texts)

    def drop(self, name: str) -> None:
        self.told.append(("drop", name))


def register(name: str) -> str:
    return json.dumps({"register": name, "query": TEXT}) + "\n"


def test_registrations_go_together_and_drops_in_between() -> None:
    job = Recorded()
    lines = [
        register("a"),
        register("b"),
        "\n",
        '{"drop": "a"}\n',
        register("a"),
        register("c"),
        register("d"),
    ]
    assert apply_commands(job, lines, together=2) == 6
    assert job.told == [("register", "a", "b"), ("drop", "a"), ("register", "a", "c"), ("register", "d")]


def test_a_line_that_is_no_command_ends_it() -> None:
    job = Recorded()
    with pytest.raises(UsageError):
        apply_commands(job, [register("a"), '{"drop": "a"}', "register b"])
    assert job.told == [("register", "a"), ("drop", "a")]
