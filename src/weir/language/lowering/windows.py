"""Window clauses → window declarations: what the text leaves unsaid comes from the dialect's preset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weir.language.algebra import windows as w
from weir.language.dialects import Preset
from weir.language.syntax import tree
from weir.language.syntax.source import Source
from weir.rdf.terms import Variable

_DEFAULT = w.WindowSemantics(w.Report())


def window_kind(shape: tree.WindowShape, tumbling: bool) -> w.WindowKind:
    """The kind of a window; ``tumbling`` decides what a range without a step is."""
    if not isinstance(shape, tree.RangeWindow):
        return shape
    step = shape.range if shape.step is None and tumbling else shape.step
    return w.Range(shape.range, None if shape.each else step)


def closes(kind: w.WindowKind) -> bool:
    """Whether windows of this kind have a close that can be reported."""
    return not isinstance(kind, w.Now | w.All) and kind.step is not None


def default_report(preset: Preset, kind: w.WindowKind) -> w.Report:
    """The preset's report; windows without a close report on content change."""
    report = preset.report
    if report.window_close and not closes(kind):
        return replace(report, window_close=False, content_change=True)
    return report


def computed_every(report: w.Report, kind: w.WindowKind, every: int) -> w.Report:
    """The report under COMPUTED EVERY: at multiples of ``every``, of the window that closed last; of what is
    there where windows of this kind never close."""
    return w.Report(periodic=every, non_empty=report.non_empty, closed=closes(kind))


def one_tick(source: Source, specs: Sequence[tree.WindowSpec]) -> w.Tick | None:
    """The tick that windows of a query name, which then is that of all of them; None where none does."""
    named = [spec for spec in specs if spec.options.tick is not None]
    for spec in named:
        if spec.options.tick != named[0].options.tick:
            raise source.error(
                spec.at,
                "the windows of a query name different ticks",
                "a query has one tick: name it once, or the same in all of its windows",
            )
    return named[0].options.tick if named else None


def declare(
    source: Source,
    preset: Preset,
    every: int | None,
    name: str,
    stream: str | Variable,
    spec: tree.WindowSpec,
    in_default: bool,
    tick: w.Tick | None = None,
) -> w.WindowDeclaration:
    """One declaration; ``every`` is C-SPARQL's COMPUTED EVERY, a periodic report of each window, ``tick`` the
    query's, by default the dialect's."""
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
        report = computed_every(report, kind, every)
    if (report.window_close or report.closed) and not closes(kind):
        raise source.error(
            spec.at,
            "a window without a step has no close to report",
            "use REPORT CONTENT CHANGE, or give the window a STEP",
        )
    semantics = w.WindowSemantics(
        report,
        preset.content if options.content is None else options.content,
        preset.tick if tick is None else tick,
        options.start,
        _DEFAULT.bounds if options.bounds is None else options.bounds,
        _DEFAULT.lateness if options.lateness is None else options.lateness,
        _DEFAULT.ahead if options.ahead is None else options.ahead,
        bool(options.times_distinct),
    )
    return w.WindowDeclaration(name, stream, kind, semantics, in_default)
