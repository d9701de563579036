"""Every error that Weir raises on purpose.

    WeirError
    ├── SyntaxError        a query does not parse or fails a static check (line, column, caret)
    ├── TranslationError   a dialect cannot express a query (every feature, with the reason)
    ├── UsageError         a wrong argument: unknown stream, missing file, clashing options
    ├── DataError          malformed RDF where it cannot be set aside (a graph file)
    ├── EvaluationError    a query failed while it ran (names the query and the operator)
    ├── CheckpointError    a checkpoint does not fit this query set, version or input
    ├── StorageError       a disk did not take what must last: full, broken, read-only
    ├── RemoteError        a remote endpoint failed and the query does not tolerate it
    └── BacklogFull        a stream has more unread input than it may hold; the sender is to wait
    OutOfTime                a query's evaluation takes too long; raised into it from outside, so no Exception

    WeirWarning          a ``UserWarning``: what is allowed, and hardly ever meant

A message is a primary line in lower case, then an optional detail and an optional hint.
"""

from __future__ import annotations

import sys
import warnings


class WeirError(Exception):
    """The root: ``primary`` says what is wrong, ``detail`` where, ``hint`` what to do."""

    def __init__(self, primary: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(primary)
        self.primary = primary
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.primary]
        if self.detail:
            lines.append(self.detail)
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class SyntaxError(WeirError):
    """A query that does not parse, or that a static check refuses. Lines and columns count from 1."""

    def __init__(
        self,
        primary: str,
        *,
        line: int = 1,
        column: int = 1,
        source: str = "",
        file: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(primary, hint=hint)
        self.line = line
        self.column = column
        self.source = source
        self.file = file

    def __str__(self) -> str:
        place = f"{self.file or 'query'}:{self.line}:{self.column}"
        lines = [f"{place}: {self.primary}"]
        text = self.source.splitlines()
        if 0 < self.line <= len(text):
            cut = max(0, self.column - 80)
            shown = text[self.line - 1].expandtabs(1)[cut : cut + 120]
            lines += [f"    {shown}", "    " + " " * (self.column - 1 - cut) + "^"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class TranslationError(WeirError):
    """``obstacles`` are all that the target dialect cannot express, each with the reason; ``feature`` is the
    first of them."""

    def __init__(self, dialect: str, obstacles: tuple[tuple[str, str], ...]) -> None:
        self.dialect = dialect
        self.obstacles = obstacles
        self.feature, reason = obstacles[0]
        if len(obstacles) == 1:
            super().__init__(f"{dialect} cannot express {self.feature}", detail=reason)
        else:
            lines = "\n".join(f"- {feature}: {reason}" for feature, reason in obstacles)
            super().__init__(f"{dialect} cannot express {len(obstacles)} features of the query", detail=lines)


class UsageError(WeirError):
    """A wrong argument."""


class DataError(WeirError):
    """Malformed RDF where it cannot be set aside."""


class EvaluationError(WeirError):
    """A query failed while it ran."""


class CheckpointError(WeirError):
    """A checkpoint does not fit this query set, version or input."""


class StorageError(WeirError):
    """A disk did not take what must last. Nothing that was promised is lost by it."""


class RemoteError(WeirError):
    """A remote endpoint failed and the query does not tolerate it."""


class BacklogFull(WeirError):
    """A stream has more unread input than it may hold, or takes no more; the sender is to wait."""


class WeirWarning(UserWarning):
    """Something is allowed and hardly ever meant: a graph that was not given, rows that are left out."""


class OutOfTime(BaseException):
    """An evaluation takes longer than it may. It is raised into the evaluation by another thread, and is no
    ``Exception`` so that nothing inside takes it for an error of its own."""


def kind_of(value: object) -> str:
    """What a value is, as messages name it: ``an int``, ``a str``."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def warn(text: str) -> None:
    """Give a ``WeirWarning`` that points to where Weir was called."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "weir":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, WeirWarning, stacklevel=depth)
