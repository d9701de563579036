"""What a text says before its dialect is settled: pattern, form and graphs are the query's own, windows and
output are as written. ``Draft.query`` fills in what a dialect leaves unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from weir.language.algebra import query as q
from weir.language.algebra import windows as w
from weir.language.algebra.patterns import Pattern
from weir.language.algebra.unbound import unbound
from weir.language.presets import Preset
from weir.language.syntax.lexer import Source
from weir.rdf.terms import Variable


@dataclass(frozen=True, slots=True)
class OpenRange:
    """A range without a step, which depends on the dialect. Every other window is written as what it is."""

    range: int


WindowShape: TypeAlias = w.WindowKind | OpenRange


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What stands in the brackets; ``at`` is the offset where they open, ``options`` are those written, by
    the names that ``WindowSemantics`` has for them."""

    at: int
    shape: WindowShape
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WindowClause:
    """A window as it is declared, in the dataset or in place (CQELS-QL's ``STREAM``)."""

    name: str
    stream: str | Variable
    spec: WindowSpec
    in_default: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A whole text. ``options`` are those of the query that are written, by the names that ``Semantics`` has
    for them; ``warnings`` are those that every dialect would give."""

    source: Source
    form: q.Form
    pattern: Pattern
    default: tuple[str, ...]
    named: tuple[str, ...]
    windows: tuple[WindowClause, ...]
    options: Mapping[str, Any]
    output: str | None = None
    computed_every: int | None = None
    warnings: tuple[str, ...] = ()

    def query(self, preset: Preset) -> q.Query:
        """The query that the text means in a dialect."""
        tick = self._tick() or preset.tick
        windows = tuple([self._declared(clause, preset, tick) for clause in self.windows])
        usual = {"r2s": preset.r2s, "previous": preset.previous} if windows else {}
        return q.Query(
            self.form,
            self.pattern,
            q.Dataset(self.default, self.named, windows),
            q.Semantics(**{**usual, **self.options}),
            self.output,
            preset.dialect,
            self.source.text,
            (*self.warnings, *unbound(self.form, self.pattern, windows)),
        )

    def _tick(self) -> w.Tick | None:
        """The tick that some windows name is that of all."""
        found: w.Tick | None = None
        for clause in self.windows:
            tick = clause.spec.options.get("tick")
            if tick is not None and found not in (None, tick):
                raise self.source.error(
                    clause.spec.at,
                    "the windows of a query name different ticks",
                    "a query has one tick: name it once, or the same in all of its windows",
                )
            found = tick or found
        return found

    def _declared(self, clause: WindowClause, preset: Preset, tick: w.Tick) -> w.WindowDeclaration:
        """What a window clause leaves unsaid comes from the preset. C-SPARQL's COMPUTED EVERY is a periodic
        report of each window."""
        kind = clause.spec.shape
        if isinstance(kind, OpenRange):
            kind = w.Range(kind.range, kind.range if preset.tumbling else None)
        report = preset.report_of(kind, self.computed_every)
        said = clause.spec.options.get("report")
        if said is not None:
            when = said.window_close or said.content_change or said.periodic is not None
            report = said if when else replace(report, non_empty=True)
        if (report.window_close or report.closed) and not w.closes(kind):
            raise self.source.error(
                clause.spec.at,
                "a window without a step has no close to report",
                "use REPORT CONTENT CHANGE, or give the window a STEP",
            )
        given = {"content": preset.content, **clause.spec.options, "report": report, "tick": tick}
        semantics = w.WindowSemantics(**given)
        return w.WindowDeclaration(clause.name, clause.stream, kind, semantics, clause.in_default)
