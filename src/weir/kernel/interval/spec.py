"""A window declaration with every default filled in, checked against what its kind can do.

Numbers in brackets are points of decision semantics-time.
"""

from __future__ import annotations

from dataclasses import dataclass

from weir.errors import UsageError
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    Bounds,
    Content,
    Elements,
    Now,
    Past,
    Range,
    StartAt,
    TickKind,
    Triples,
    WindowDeclaration,
)


@dataclass(frozen=True, slots=True)
class Spec:
    """What S2R needs to know of one window over one stream.

    A time window covers ``width`` and lies ``lag`` behind the present; ``step`` is its β. A count window
    has ``count`` instead; ``numbered`` says that it counts triples, not messages. ALL has neither.
    """

    name: str
    stream: str
    width: int | None = None
    lag: int = 0
    step: int | None = None
    count: int | None = None
    numbered: bool = False
    now: bool = False
    closes: bool = False
    changes: bool = False
    period: int | None = None
    non_empty: bool = False
    bag: bool = False
    open_closed: bool = False
    tuples: bool = False
    unit: int | None = None
    anchor: int | None = None
    pattern: int | None = None
    lateness: int = 0

    @property
    def rows_by(self) -> str:
        """The coordinate of a triple by which the window finds it."""
        if self.numbered:
            return "number"
        return "sequence" if self.count is not None or self.tuples else "time"

    @property
    def awaits_company(self) -> bool:
        """Whether what it shows at τ includes messages of time τ (22)."""
        return self.changes or self.period is not None or self.count is not None or self.open_closed

    @property
    def alternates(self) -> bool:
        """Whether it is seen closed at its closes and open at other times (13)."""
        return self.closes and (self.changes or self.period is not None)

    @property
    def back_and_forth(self) -> bool:
        """Whether its content can go back in time: closed windows shown at ticks, open ones between (13)."""
        return self.alternates and self.unit is not None


def spec_of(window: WindowDeclaration, stream: str) -> Spec:
    """The declaration on one stream (a variable stream has one for each registered stream, 26)."""
    kind, semantics = window.kind, window.semantics
    width: int | None = None
    lag = 0
    step: int | None = None
    count: int | None = None
    match kind:
        case Range():
            width, step = kind.range, kind.step
        case Past():
            width, lag, step = kind.start - kind.end, kind.end, kind.step
        case Now():
            width = 1
        case All():
            pass
        case Triples() | Elements():
            count, step = kind.count, kind.step
    report = semantics.report
    closes, changes = report.window_close, report.content_change
    if not closes and not changes and report.periodic is None:
        closes = step is not None
        changes = not closes
    if closes and step is None:
        raise UsageError(
            f"window {window.name}: REPORT WINDOW CLOSE on a window that never closes",
            detail="NOW, ALL, and windows without STEP have no close",
            hint="add a STEP, or use REPORT CONTENT CHANGE",
        )
    start = semantics.start
    return Spec(
        name=window.name,
        stream=stream,
        width=width,
        lag=lag,
        step=step,
        count=count,
        numbered=isinstance(kind, Triples),
        now=isinstance(kind, Now),
        closes=closes,
        changes=changes,
        period=report.periodic,
        non_empty=report.non_empty,
        bag=semantics.content is Content.BAG,
        open_closed=semantics.bounds is Bounds.OPEN_CLOSED,
        tuples=semantics.tick.kind is TickKind.TUPLE,
        unit=semantics.tick.every if semantics.tick.kind is TickKind.TIME else None,
        anchor=start.instant if isinstance(start, StartAt) else None,
        pattern=start.duration if isinstance(start, AlignedTo) else None,
        lateness=semantics.lateness,
    )
