"""Which of the messages of its streams a split query has to be told of: all of them, or those that have
triples for the slot.

Arrival and emptiness concern all messages of a stream, so in general every slot of a split query learns the
time of each. It need not where what comes for other slots cannot change what this one sends out. A slot
without own content in any window has no solution (``split``), so two kinds of queries are left alone:

- those that report on content change and compare with the instant before: at the arrival of somebody else's
  message the content of the slot is what it was an instant ago;
- those that report on one grid of times: whether or not others have come, the grid is the same, and before
  the first own message and after the last there is nothing to send out. DSTREAM is not among them: it tells
  at a later report, which others may bring, of what has gone.
"""

from __future__ import annotations

from weir.language.algebra import expressions as e
from weir.language.algebra.fold import walk
from weir.language.algebra.query import R2S, Ask, Previous, Query
from weir.language.algebra.windows import (
    AlignedTo,
    All,
    AtFirst,
    Past,
    Range,
    StartAt,
    Tick,
    TickKind,
    WindowDeclaration,
)
from weir.language.algebra.windows import closes as can_close
from weir.plan.analysis.ticks import brings_nothing_between, looking


def needs_every_message(query: Query) -> str | None:
    """Why a slot of a split query has to be told of every message of its streams; None where its own do."""
    windows = query.dataset.windows
    if query.semantics.report_empty or isinstance(query.form, Ask):
        return "it answers also where there is nothing"
    if any(isinstance(window.semantics.start, AtFirst | AlignedTo) for window in windows):
        return "its windows start at the first message"
    if any(window.semantics.times_distinct for window in windows):
        return "the times of its messages are promised to be distinct"
    tick = next((window.semantics.tick for window in windows), Tick())
    if tick.kind in (TickKind.TIME, TickKind.TUPLE):
        return "it is evaluated by a clock or message by message"
    if all(_changes(window) and not _on_grid(window) for window in windows):
        return _at_changes(query, tick)
    if any(_changes(window) for window in windows):
        return "some of its windows report when a message comes, and some by the clock"
    return _by_grid(query)


def evaluated_apart(query: Query) -> bool:
    """Whether the slots of a split query are evaluated at times of their own: at those of their messages, not
    on a grid that all have."""
    return needs_every_message(query) is None and any(_changes(window) for window in query.dataset.windows)


def _at_changes(query: Query, tick: Tick) -> str | None:
    """Of windows that report on content change alone."""
    semantics = query.semantics
    if semantics.r2s is R2S.RSTREAM:
        return "it sends everything out again whenever a message comes"
    if semantics.previous is not Previous.INSTANT:
        return "it compares with the evaluation before, which any message may bring"
    if tick.kind is TickKind.CHANGE and looking(query).tick.kind is TickKind.CHANGE:
        non_empty = any(window.semantics.report.non_empty for window in query.dataset.windows)
        if semantics.r2s is R2S.DSTREAM and non_empty:
            return "it tells of what has gone only while some window holds a message"
        return "NOW has another value at each evaluation" if _timely(query) else None
    if brings_nothing_between(query):
        return None
    return "a message may come at the time at which an answer changes"


def _by_grid(query: Query) -> str | None:
    """Of windows that report at closes and periods alone."""
    semantics = query.semantics
    if semantics.r2s is R2S.DSTREAM:
        return "it tells of what has gone at the next report, which any message may bring"
    non_empty = any(window.semantics.report.non_empty for window in query.dataset.windows)
    if non_empty and semantics.r2s is R2S.ISTREAM and semantics.previous is not Previous.INSTANT:
        return "it compares with the evaluation before, which there is only if some message is in the window"
    if any(isinstance(window.kind, All) for window in query.dataset.windows):
        return "a window never empties, so that its last report depends on the last message"
    if len({_grid(window) for window in query.dataset.windows}) > 1:
        return "its windows report at different times"
    return None


def _changes(window: WindowDeclaration) -> bool:
    """Whether a window reports on content change, said or by default."""
    report = window.semantics.report
    if report.window_close or report.periodic is not None:
        return report.content_change
    return report.content_change or not can_close(window.kind)


def _on_grid(window: WindowDeclaration) -> bool:
    """Whether a window reports closes or periods, said or by default."""
    report = window.semantics.report
    silent = not report.content_change and can_close(window.kind)
    return report.window_close or report.periodic is not None or silent


def _grid(window: WindowDeclaration) -> tuple[object, ...]:
    """What decides when a window reports, its first message apart."""
    semantics, report = window.semantics, window.semantics.report
    origin = semantics.start.instant if isinstance(semantics.start, StartAt) else 0
    found: list[object] = [semantics.start, semantics.bounds, report.periodic, report.closed]
    if report.window_close or report.periodic is None:
        match window.kind:
            case Range(width, int() as step):
                found += [step, (origin + width) % step]
            case Past(start, _, int() as step):
                found += [step, (origin + start) % step]
            case _:
                found.append(window)
    return tuple(found)


def _timely(query: Query) -> bool:
    return any(isinstance(node, e.Call) and node.function is e.Builtin.NOW for node in walk(query.pattern))
