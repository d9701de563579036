"""Windows and their semantics as values (RSP-QL section 2). All times are int64 microseconds UTC.

A window declaration is (name, stream, window kind, semantics). Kinds say *what* is in a window,
``WindowSemantics`` when it reports, when it starts and how disorder is treated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from weir.rdf.terms import Variable

DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Range:
    """Time window of width ``range``; ``step`` None moves with every message: ``(τ−range, τ]``."""

    range: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Now:
    """The messages of the current timestamp."""


@dataclass(frozen=True, slots=True)
class All:
    """Everything so far."""


@dataclass(frozen=True, slots=True)
class Triples:
    """The ``count`` latest triples; with ``step`` m the window closes after every m triples."""

    count: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Elements:
    """The ``count`` latest messages; with ``step`` m the window closes after every m messages."""

    count: int
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """``FROM NOW-start TO NOW-end STEP step``: a range that lies ``end`` behind the present."""

    start: int
    end: int
    step: int | None = None


WindowKind: TypeAlias = Range | Now | All | Triples | Elements | Past


def closes(kind: WindowKind) -> bool:
    """Whether windows of this kind have a close that can be reported."""
    return not isinstance(kind, Now | All) and kind.step is not None


@dataclass(frozen=True, slots=True)
class Report:
    """When a window is reported (SECRET's report policies). ``non_empty`` is a condition on the rest;
    ``closed`` says that periodic reports show the window that closed last."""

    window_close: bool = False
    content_change: bool = False
    periodic: int | None = None
    non_empty: bool = False
    closed: bool = False


class Bounds(Enum):
    """Which end of a window belongs to it."""

    CLOSED_OPEN = "[)"
    OPEN_CLOSED = "(]"


class Content(Enum):
    """Whether equal triples of several messages count once (GRAPH) or each time (BAG)."""

    GRAPH = "GRAPH"
    BAG = "BAG"


class TickKind(Enum):
    """What makes the engine look at its windows (SECRET's tick)."""

    TUPLE = "TUPLE"
    BATCH = "BATCH"
    TIME = "TIME"
    CHANGE = "CHANGE"


@dataclass(frozen=True, slots=True)
class Tick:
    """``every`` is set for TIME alone."""

    kind: TickKind = TickKind.BATCH
    every: int | None = None

    @property
    def unit(self) -> int | None:
        """The grain of time where the engine looks by the clock: CHANGE is TIME of one microsecond."""
        return 1 if self.kind is TickKind.CHANGE else self.every


@dataclass(frozen=True, slots=True)
class StartAt:
    """``STARTING AT`` an instant: t0, and then only windows k ≥ 0."""

    instant: int


@dataclass(frozen=True, slots=True)
class AlignedTo:
    """``STARTING AT`` a duration: windows aligned to its multiples since 1970, any k."""

    duration: int


@dataclass(frozen=True, slots=True)
class AtFirst:
    """``STARTING AT FIRST``: t0 is the time of the first message, and then only windows k ≥ 0."""


Start: TypeAlias = StartAt | AlignedTo | AtFirst | None


@dataclass(frozen=True, slots=True)
class WindowSemantics:
    """Everything that decides a window's reports and content besides its kind.

    ``times_distinct`` is a promise of the stream: within a lane, times strictly increase.
    """

    report: Report
    content: Content = Content.GRAPH
    tick: Tick = field(default_factory=Tick)
    start: Start = None
    bounds: Bounds = Bounds.CLOSED_OPEN
    lateness: int = 0
    ahead: int = 366 * DAY
    times_distinct: bool = False


@dataclass(frozen=True, slots=True)
class WindowDeclaration:
    """One window of a query's dataset.

    ``name`` is unique within the query; windows that the text leaves unnamed get ``.1``, ``.2``, …
    in the order of the text. ``in_default`` puts the content into the default graph instead of making
    the window one that ``WINDOW`` can name. A ``stream`` that is a variable ranges over all registered
    streams, and its name is bound.
    """

    name: str
    stream: str | Variable
    kind: WindowKind
    semantics: WindowSemantics
    in_default: bool = False

    @property
    def unnamed(self) -> bool:
        """Whether the text leaves it unnamed; the name of another may begin with a dot too."""
        return self.name.startswith(".") and self.name[1:].isdecimal()
