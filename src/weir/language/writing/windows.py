"""Windows as each dialect writes them."""

from __future__ import annotations

from weir.language.algebra import windows as w
from weir.language.algebra.query import Dialect
from weir.language.syntax.durations import UNITS, written, written_instant

_DEFAULT = w.WindowSemantics(w.Report())
_SHORT = (("d", "D"), ("h", "H"), ("m", "M"), ("s", "S"), ("ms", "MS"))
_LONG = (("DAYS", "D"), ("HOURS", "H"), ("MIN", "M"), ("S", "S"), ("MS", "MS"))


def unit(length: int, separator: str = "", units: tuple[tuple[str, str], ...] = _SHORT) -> str:
    """A duration as one number with the largest unit that divides it."""
    for word, unit in units:
        if length % UNITS[unit] == 0:
            return f"{length // UNITS[unit]}{separator}{word}"
    return f"{length * 1000}ns"


def report_text(report: w.Report) -> str:
    """The operand of REPORT."""
    parts = []
    if report.window_close:
        parts.append("WINDOW CLOSE")
    if report.content_change:
        parts.append("CONTENT CHANGE")
    if report.periodic is not None:
        parts.append(f"PERIODIC {written(report.periodic)}" + (" CLOSED" if report.closed else ""))
    if report.non_empty:
        parts.append("NON EMPTY")
    return ", ".join(parts)


def tick_text(tick: w.Tick) -> str:
    """The operand of TICK."""
    return tick.kind.value + ("" if tick.every is None else f" {written(tick.every)}")


def rspql(window: w.WindowDeclaration) -> str:
    """RSP-QL, with report and content always spelled out and other options where they are not the default."""
    semantics = window.semantics
    options = [kind_text(window.kind)]
    match semantics.start:
        case w.StartAt(instant):
            options.append(f'STARTING AT "{written_instant(instant)}"')
        case w.AlignedTo(duration):
            options.append(f"STARTING AT {written(duration)}")
        case w.AtFirst():
            options.append("STARTING AT FIRST")
    options.append(f"REPORT {report_text(semantics.report)}")
    options.append(f"CONTENT {semantics.content.value}")
    if semantics.tick != _DEFAULT.tick:
        options.append(f"TICK {tick_text(semantics.tick)}")
    if semantics.times_distinct:
        options.append("TIMES DISTINCT")
    if semantics.lateness != _DEFAULT.lateness:
        options.append(f"LATENESS {written(semantics.lateness)}")
    if semantics.ahead != _DEFAULT.ahead:
        options.append(f"AHEAD {written(semantics.ahead)}")
    if semantics.bounds != _DEFAULT.bounds:
        options.append(f'BOUNDS "{semantics.bounds.value}"')
    return f"[{' '.join(options)}]"


def kind_text(kind: w.WindowKind) -> str:
    """A window's kind as RSP-QL writes it."""
    match kind:
        case w.Range(width, step):
            return f"RANGE {written(width)} STEP {'MESSAGE' if step is None else written(step)}"
        case w.Now() | w.All():
            return type(kind).__name__.upper()
        case w.Triples(count, step) | w.Elements(count, step):
            return f"{type(kind).__name__.upper()} {count}" + ("" if step is None else f" STEP {step}")
        case w.Past(start, end, step):
            slide = "" if step is None else f" STEP {written(step)}"
            return f"FROM NOW-{written(start)} TO NOW-{written(end)}{slide}"


def bracket(kind: w.WindowKind, dialect: Dialect) -> str | None:
    """A window in a dialect whose windows have no options; None where it has none of this kind."""
    match dialect, kind:
        case Dialect.RSPQL, _:
            return f"[{kind_text(kind)}]"
        case Dialect.CQELS, w.Range(width, step):
            return f"[RANGE {unit(width)}{'' if step is None else f' SLIDE {unit(step)}'}]"
        case Dialect.CQELS, w.Now() | w.All():
            return f"[{kind_text(kind)}]"
        case Dialect.CQELS | Dialect.SPARQLSTREAM, w.Triples(count, None):
            return f"[TRIPLES {count}]"
        case Dialect.CSPARQL, w.Range(width, int(step)):
            return f"[RANGE {unit(width)} STEP {unit(step)}]"
        case Dialect.CSPARQL, w.Triples(count, None):
            return f"[RANGE TRIPLES {count}]"
        case Dialect.SPARQLSTREAM, w.Range(width, int(step)):
            return f"[NOW - {unit(width, ' ', _LONG)} TO NOW SLIDE {unit(step, ' ', _LONG)}]"
        case Dialect.SPARQLSTREAM, w.Past(start, end, int(step)):
            past = f"NOW - {unit(start, ' ', _LONG)} TO NOW - {unit(end, ' ', _LONG)}"
            return f"[{past} SLIDE {unit(step, ' ', _LONG)}]"
    return None
