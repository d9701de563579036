"""What a suite is: a stream and static data made in blocks, and questions with the SPARQL a store is asked.

A block is decided by the seed and its number alone, so that many tasks make one stream between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

BLOCK = 50_000
"""Events of a block; block n begins at event n · BLOCK."""
STREAM, WINDOW = "http://example.org/stream", "http://example.org/w"
NOW = "NOW()"
"""What a store is told instead: the evaluation time."""


@dataclass(frozen=True, slots=True)
class Question:
    """``body`` is what the window has to match, ``around`` what else must hold. ``range_ms`` 0 is ``[NOW]``:
    each message by itself. ``stresses`` says what it is there for."""

    name: str
    stresses: str
    select: str
    body: str
    around: str = ""
    tail: str = ""
    range_ms: int = 0
    step_ms: int = 0

    def rspql(self, prefixes: str) -> str:
        window = f"RANGE {self.range_ms} STEP {self.step_ms}" if self.range_ms else "NOW"
        return (
            f"{prefixes}SELECT RSTREAM {self.select}\n"
            f"FROM NAMED WINDOW <{WINDOW}> ON STREAM <{STREAM}> [{window}]\n"
            f"WHERE {{ WINDOW <{WINDOW}> {{ {self.body} }} {self.around} }} {self.tail}"
        )

    def sparql(self, prefixes: str, now: str) -> str:
        """What a store is asked at a time whose graph ``WINDOW`` is the window."""
        where = f"{{ GRAPH <{WINDOW}> {{ {self.body} }} {self.around} }}"
        return f"{prefixes}SELECT {self.select}\nWHERE {where} {self.tail}".replace(NOW, now)


@dataclass(frozen=True, slots=True)
class Suite:
    """``block`` gives a block of so many events as a frame of ``text``, the stream lines of each; ``static``
    the lines of the default graph. ``unsaid`` are published questions that SPARQL cannot say, and why."""

    name: str
    prefixes: str
    block: Callable[[int, int], pl.DataFrame]
    static: Callable[[], list[str]]
    questions: tuple[Question, ...]
    unsaid: dict[str, str]

    def lines(self, events: int) -> list[str]:
        """The stream lines of each of the first events."""
        blocks = range(-(-events // BLOCK))
        parts = [self.block(number, min(BLOCK, events - number * BLOCK)) for number in blocks]
        return pl.concat(parts)["text"].to_list()

    def write_static(self, folder: Path) -> Path | None:
        """A file of the default graph, if there is one."""
        static = self.static()
        if not static:
            return None
        path = folder / f"{self.name}.nt"
        path.write_text("".join(static), encoding="utf-8")
        return path


def stamped(time: str, *triples: str) -> pl.Expr:
    """The stream lines of an event: each of ``triples`` with ``{column}`` filled in, at the time of a column.
    Literals keep their quotes; braces are for columns alone."""
    parts: list[pl.Expr] = []
    for triple in triples:
        parts += [pl.col(time).cast(pl.String), pl.lit("\t")]
        for number, piece in enumerate(triple.replace("}", "{").split("{")):
            parts.append(pl.col(piece).cast(pl.String) if number % 2 else pl.lit(piece))
        parts.append(pl.lit(" .\n"))
    return pl.concat_str(parts).alias("text")
