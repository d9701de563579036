"""Registrations that come as a stream of commands, followed by a running job (``plan.querysets``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from weir.plan.querysets import Drop, Register, parse_command


class Registry(Protocol):
    """What takes commands: a ``Job``."""

    def register_all(self, texts: dict[str, str], *, dialect: str = "auto") -> list[str]: ...

    def drop(self, name: str) -> None: ...


def apply_commands(job: Registry, lines: Iterable[str], together: int = 1000) -> int:
    """Register and drop as the lines say, in their order; how many commands there were.

    Registrations that follow each other are logged together, ``together`` at most, so that thousands take
    one change of the job. A line that is no command, or is refused, ends it: those before it count.
    """
    count, dialect = 0, "auto"
    waiting: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            continue
        command = parse_command(line)
        count += 1
        match command:
            case Register(name, query, told):
                if name in waiting or len(waiting) == together or told != dialect:
                    _flush(job, waiting, dialect)
                waiting[name], dialect = query.text, told
            case Drop(name):
                _flush(job, waiting, dialect)
                job.drop(name)
    _flush(job, waiting, dialect)
    return count


def _flush(job: Registry, waiting: dict[str, str], dialect: str) -> None:
    if waiting:
        job.register_all(waiting, dialect=dialect)
        waiting.clear()
