"""Window clauses → window declarations: what the text leaves unsaid comes from the dialect's preset."""

from __future__ import annotations

from dataclasses import replace

from weir.language.algebra.windows import (
    All,
    Elements,
    Now,
    Past,
    Range,
    Report,
    Triples,
    WindowDeclaration,
    WindowKind,
    WindowSemantics,
)
from weir.language.dialects import Preset
from weir.language.syntax import tree
from weir.language.syntax.source import Source
from weir.rdf.terms import Variable

_DEFAULT = WindowSemantics(Report())


def window_kind(shape: tree.WindowShape, tumbling: bool) -> WindowKind:
    """The kind of a window; ``tumbling`` decides what a range without a step is."""
    match shape:
        case tree.RangeWindow(width, step, each):
            return Range(width, None if each else step if step is not None else width if tumbling else None)
        case tree.NowWindow():
            return Now()
        case tree.AllWindow():
            return All()
        case tree.TriplesWindow(count, step):
            return Triples(count, step)
        case tree.ElementsWindow(count, step):
            return Elements(count, step)
        case tree.PastWindow(start, end, step):
            return Past(start, end, start - end if step is None else step)


def closes(kind: WindowKind) -> bool:
    """Whether windows of this kind have a close that can be reported."""
    return not isinstance(kind, Now | All) and kind.step is not None


def default_report(preset: Preset, kind: WindowKind) -> Report:
    """The preset's report; windows without a close report on content change."""
    report = preset.report
    if report.window_close and not closes(kind):
        return replace(report, window_close=False, content_change=True)
    return report


def declare(
    source: Source,
    preset: Preset,
    every: int | None,
    name: str,
    stream: str | Variable,
    spec: tree.WindowSpec,
    in_default: bool,
) -> WindowDeclaration:
    """One declaration; ``every`` is C-SPARQL's COMPUTED EVERY, a periodic report of each window."""
    kind = window_kind(spec.shape, preset.tumbling)
    options = spec.options
    report = default_report(preset, kind)
    if options.report is not None:
        written = options.report
        if written.window_close or written.content_change or written.periodic is not None:
            report = written
        else:
            report = replace(report, non_empty=True)
    if every is not None:
        report = replace(report, window_close=False, content_change=False, periodic=every)
    if report.window_close and not closes(kind):
        raise source.error(
            spec.at,
            "a window without a step has no close to report",
            "use REPORT CONTENT CHANGE, or give the window a STEP",
        )
    semantics = WindowSemantics(
        report,
        preset.content if options.content is None else options.content,
        _DEFAULT.tick if options.tick is None else options.tick,
        options.start,
        _DEFAULT.bounds if options.bounds is None else options.bounds,
        _DEFAULT.lateness if options.lateness is None else options.lateness,
        _DEFAULT.ahead if options.ahead is None else options.ahead,
    )
    return WindowDeclaration(name, stream, kind, semantics, in_default)
