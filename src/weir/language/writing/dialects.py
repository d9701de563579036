"""A query as text in a dialect, or the feature that the dialect cannot express."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress

from weir.errors import SyntaxError, TranslationError
from weir.language.algebra import patterns as a
from weir.language.algebra.canonical import names_are_bound
from weir.language.algebra.fold import patterns
from weir.language.algebra.query import R2S, Construct, Dialect, Previous, Query, Select
from weir.language.dialects import PRESETS
from weir.language.syntax.durations import written
from weir.language.syntax.lexer import Tokens
from weir.language.syntax.queries import QueryParser
from weir.language.syntax.source import Source
from weir.language.writing import windows as brackets
from weir.language.writing.queries import QueryWriter
from weir.language.writing.terms import Terms
from weir.language.writing.windows import check_semantics
from weir.rdf.terms import IRI, Variable

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def write(query: Query, dialect: Dialect | None = None) -> str:
    """The query as text in a dialect, by default its own (raises ``TranslationError``).

    Parsing the text gives the same query up to the names of its windows (``canonical.equivalent``).
    """
    return _WRITERS[query.dialect if dialect is None else dialect](query).text()


def declared_prefixes(query: Query) -> dict[str, str]:
    """The prefixes that the query's text declares."""
    parser = QueryParser(Tokens(Source(query.text)), None, None)
    with suppress(SyntaxError, RecursionError):
        parser.unit()
    return dict(parser.prefixes)


class _DialectWriter(QueryWriter):
    """What all dialects share: prologue, form, graphs of the dataset."""

    dialect = Dialect.SPARQL

    def __init__(self, query: Query) -> None:
        super().__init__(Terms(declared_prefixes(query)))
        self.query = query
        self.preset = PRESETS[self.dialect]
        self.windows = {window.name: window for window in query.dataset.windows}

    def text(self) -> str:
        self.check()
        self.head()
        self.body(self.query, self.operator())
        declared = [f"PREFIX {prefix}: <{namespace}>" for prefix, namespace in self.terms.used.items()]
        return "\n".join([*declared, *self.lines]) + "\n"

    def refuse(self, feature: str, hint: str | None = None) -> TranslationError:
        return TranslationError(feature, self.preset.title, hint=hint)

    def check(self) -> None:
        """Raise for what the dialect cannot express."""
        if self.windows:
            raise self.refuse("windows on streams")
        if self.query.output is not None:
            raise self.refuse("REGISTER")
        semantics = self.query.semantics
        self.check_options(semantics.r2s is not R2S.RSTREAM)
        if semantics.report_empty:
            raise self.refuse("EMPTY")

    def check_options(self, other_operator: bool) -> None:
        """Refuse what only RSP-QL with Weir's options can say."""
        semantics = self.query.semantics
        if other_operator:
            raise self.refuse(semantics.r2s.name)
        expected = self.preset.previous if self.windows else Previous.EVALUATION
        if semantics.previous is not expected:
            raise self.refuse(f"PREVIOUS {semantics.previous.value}")
        if semantics.emit_after:
            raise self.refuse("EMIT AFTER")

    def head(self) -> None:
        """REGISTER, where there is one."""

    def operator(self) -> str:
        """What stands after SELECT or CONSTRUCT."""
        return ""

    def window_keyword(self, name: IRI | Variable) -> str:
        raise self.refuse("windows on streams")

    def dataset(self) -> None:
        for graph in self.query.dataset.default:
            self.line(f"FROM {self.terms.iri(graph)}")
        for graph in self.query.dataset.named:
            self.line(f"FROM NAMED {self.terms.iri(graph)}")


class _RspqlWriter(_DialectWriter):
    dialect = Dialect.RSPQL

    def __init__(self, query: Query) -> None:
        super().__init__(query)
        self.names: dict[str, str] = {}
        for place, name in enumerate(self.windows, 1):
            fresh = f"w{place}"
            while fresh in self.windows:
                fresh += "_"
            self.names[name] = fresh if name.startswith(".") else name

    def check(self) -> None:
        for window in self.windows.values():
            if isinstance(window.stream, Variable):
                raise self.refuse(f"a window on every registered stream (STREAM {window.stream})")

    def head(self) -> None:
        if self.query.output is not None:
            operator = f"{self.query.semantics.r2s.name} " if self._operator_on_register() else ""
            self.line(f"REGISTER {operator}STREAM {self.terms.iri(self.query.output)} AS")

    def _operator_on_register(self) -> bool:
        return not isinstance(self.query.form, Select | Construct)

    def operator(self) -> str:
        semantics = self.query.semantics
        if self._operator_on_register():
            if self.query.output is None and semantics.r2s is not R2S.RSTREAM:
                raise self.refuse(f"{semantics.r2s.name} of a query that is not registered")
            return ""
        silent = not self.windows and semantics.r2s is R2S.RSTREAM
        return "" if silent else f" {semantics.r2s.name}"

    def window_keyword(self, name: IRI | Variable) -> str:
        if isinstance(name, Variable):
            return f"WINDOW ?{name.name}"
        return f"WINDOW {self.terms.iri(self.names[name.value])}"

    def dataset(self) -> None:
        super().dataset()
        for window in self.windows.values():
            named = "" if window.in_default else "NAMED "
            assert isinstance(window.stream, str)
            name, stream = self.terms.iri(self.names[window.name]), self.terms.iri(window.stream)
            self.line(f"FROM {named}WINDOW {name} ON {stream} {brackets.rspql(window)}")
        semantics = self.query.semantics
        if semantics.previous is not Previous.EVALUATION or semantics.r2s is not R2S.RSTREAM:
            self.line(f"PREVIOUS {semantics.previous.value}")
        if semantics.emit_after:
            self.line(f"EMIT AFTER {written(semantics.emit_after)}")
        if semantics.report_empty:
            self.line("EMPTY")


class _CqelsWriter(_DialectWriter):
    dialect = Dialect.CQELS

    def check(self) -> None:
        expected = self.preset.r2s if self.windows else R2S.RSTREAM
        self.check_options(self.query.semantics.r2s is not expected)
        if self.query.semantics.report_empty:
            raise self.refuse("EMPTY")
        if names_are_bound(self.query):
            raise self.refuse("WINDOW with a variable")
        used = Counter(
            pattern.name
            for pattern in patterns(self.query.pattern)
            if isinstance(pattern, a.Window) and isinstance(pattern.name, IRI)
        )
        for window in self.windows.values():
            if window.in_default:
                raise self.refuse("a window in the default graph")
            if used[IRI(window.name)] != 1:
                times = "in two places" if used[IRI(window.name)] else "nowhere"
                raise self.refuse(f"a window that is used {times}")
            check_semantics(window, self.preset, None)
        if self.query.output is not None:
            raise self.refuse("REGISTER")

    def window_keyword(self, name: IRI | Variable) -> str:
        assert isinstance(name, IRI)
        window = self.windows[name.value]
        stream = window.stream
        over = f"?{stream.name}" if isinstance(stream, Variable) else self.terms.iri(stream)
        return f"STREAM {over} {brackets.cqels(window)}"


class _DefaultGraphWriter(_DialectWriter):
    """C-SPARQL and SPARQLstream: all windows live in the default graph."""

    def check_windows(self, every: int | None) -> None:
        for window in self.windows.values():
            if isinstance(window.stream, Variable):
                raise self.refuse(f"a window on every registered stream (STREAM {window.stream})")
            if not window.in_default:
                raise self.refuse(
                    "patterns on a window of their own",
                    "its windows are all merged into the default graph (RSP-QL paper, section 4)",
                )
            check_semantics(window, self.preset, every)

    def from_streams(self, keyword: str, bracket: dict[str, str]) -> None:
        for window in self.windows.values():
            assert isinstance(window.stream, str)
            self.line(f"FROM {keyword} {self.terms.iri(window.stream)} {bracket[window.name]}")


class _CsparqlWriter(_DefaultGraphWriter):
    dialect = Dialect.CSPARQL

    @property
    def every(self) -> int | None:
        """COMPUTED EVERY, which only a registered query has and all windows share."""
        periods = {window.semantics.report.periodic for window in self.windows.values()}
        return periods.pop() if len(periods) == 1 and self.query.output is not None else None

    def check(self) -> None:
        self.check_options(self.query.semantics.r2s is not R2S.RSTREAM)
        self.check_windows(self.every)

    def head(self) -> None:
        output = self.query.output
        if output is None:
            return
        word = "STREAM" if isinstance(self.query.form, Construct) else "QUERY"
        name = output if _WORD.fullmatch(output) else self.terms.iri(output)
        every = "" if self.every is None else f" COMPUTED EVERY {brackets.unit(self.every)}"
        self.line(f"REGISTER {word} {name}{every} AS")

    def dataset(self) -> None:
        super().dataset()
        self.from_streams("STREAM", {name: brackets.csparql(w) for name, w in self.windows.items()})
        if self.query.semantics.report_empty:
            self.line("EMPTY")


class _SparqlstreamWriter(_DefaultGraphWriter):
    dialect = Dialect.SPARQLSTREAM

    def check(self) -> None:
        operator = self.query.semantics.r2s
        unsaid = not isinstance(self.query.form, Select | Construct) and operator is not R2S.RSTREAM
        self.check_options(unsaid)
        if self.query.semantics.report_empty:
            raise self.refuse("EMPTY")
        self.check_windows(None)
        if self.query.output is not None:
            raise self.refuse("REGISTER")

    def operator(self) -> str:
        operator = self.query.semantics.r2s
        return "" if not self.windows and operator is R2S.RSTREAM else f" {operator.name}"

    def dataset(self) -> None:
        super().dataset()
        self.from_streams(
            "NAMED STREAM", {name: brackets.sparqlstream(w) for name, w in self.windows.items()}
        )


_WRITERS: dict[Dialect, type[_DialectWriter]] = {
    writer.dialect: writer
    for writer in (_DialectWriter, _RspqlWriter, _CqelsWriter, _CsparqlWriter, _SparqlstreamWriter)
}
