"""A query as text in a dialect, or all that the dialect cannot express."""

from __future__ import annotations

import re
from contextlib import suppress

from weir.errors import SyntaxError
from weir.language.algebra.query import R2S, Construct, Dialect, Previous, Query, Select
from weir.language.syntax.durations import written
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.queries import QueryParser
from weir.language.writing.obstacles import computed_every, obstacles, refuse
from weir.language.writing.queries import QueryWriter
from weir.language.writing.terms import Terms
from weir.language.writing.windows import bracket, rspql, unit
from weir.rdf.terms import IRI, Variable

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def write(query: Query, dialect: Dialect | None = None) -> str:
    """The query as text in a dialect, by default its own (raises ``TranslationError``).

    Parsing the text gives the same query up to the names of its windows (``canonical``).
    """
    return _WRITERS[query.dialect if dialect is None else dialect](query).text()


def declared_prefixes(query: Query) -> dict[str, str]:
    """The prefixes that the query's text declares."""
    parser = QueryParser(Tokens(Source(query.text)), None, None)
    with suppress(SyntaxError, RecursionError):
        parser.draft()
    return dict(parser.prefixes)


class _DialectWriter(QueryWriter):
    """What all dialects share: prologue, form, graphs of the dataset."""

    dialect = Dialect.SPARQL

    def __init__(self, query: Query) -> None:
        super().__init__(Terms(declared_prefixes(query)))
        self.query = query
        self.windows = {window.name: window for window in query.dataset.windows}

    def text(self) -> str:
        refuse(self.dialect, obstacles(self.query, self.dialect))
        self.head()
        self.body(self.query, self.operator())
        declared = [f"PREFIX {prefix}: <{namespace}>" for prefix, namespace in self.terms.used.items()]
        return "\n".join([*declared, *self.lines]) + "\n"

    def head(self) -> None:
        """REGISTER, where there is one."""

    def operator(self) -> str:
        """What stands after SELECT or CONSTRUCT."""
        return ""

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
        for place, (name, window) in enumerate(self.windows.items(), 1):
            fresh = f"w{place}"
            while fresh in self.windows:
                fresh += "_"
            self.names[name] = fresh if window.unnamed else name

    def head(self) -> None:
        if self.query.output is not None:
            operator = f"{self.query.semantics.r2s.name} " if self._operator_on_register() else ""
            self.line(f"REGISTER {operator}STREAM {self.terms.iri(self.query.output)} AS")

    def _operator_on_register(self) -> bool:
        return not isinstance(self.query.form, Select | Construct)

    def operator(self) -> str:
        semantics = self.query.semantics
        silent = not self.windows and semantics.r2s is R2S.RSTREAM
        return "" if silent or self._operator_on_register() else f" {semantics.r2s.name}"

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
            self.line(f"FROM {named}WINDOW {name} ON {stream} {rspql(window)}")
        semantics = self.query.semantics
        if semantics.previous is not Previous.EVALUATION or semantics.r2s is not R2S.RSTREAM:
            self.line(f"PREVIOUS {semantics.previous.value}")
        if semantics.emit_after:
            self.line(f"EMIT AFTER {written(semantics.emit_after)}")
        if semantics.report_empty:
            self.line("EMPTY")


class _CqelsWriter(_DialectWriter):
    dialect = Dialect.CQELS

    def window_keyword(self, name: IRI | Variable) -> str:
        assert isinstance(name, IRI)
        window = self.windows[name.value]
        stream = window.stream
        over = f"?{stream.name}" if isinstance(stream, Variable) else self.terms.iri(stream)
        return f"STREAM {over} {bracket(window.kind, self.dialect)}"


class _SparqlstreamWriter(_DialectWriter):
    """All windows live in the default graph."""

    dialect = Dialect.SPARQLSTREAM
    keyword = "NAMED STREAM"

    def operator(self) -> str:
        operator = self.query.semantics.r2s
        return "" if not self.windows and operator is R2S.RSTREAM else f" {operator.name}"

    def dataset(self) -> None:
        super().dataset()
        for window in self.windows.values():
            assert isinstance(window.stream, str)
            within = bracket(window.kind, self.dialect)
            self.line(f"FROM {self.keyword} {self.terms.iri(window.stream)} {within}")


class _CsparqlWriter(_SparqlstreamWriter):
    dialect = Dialect.CSPARQL
    keyword = "STREAM"

    def head(self) -> None:
        output, period = self.query.output, computed_every(self.query)
        if output is None:
            return
        word = "STREAM" if isinstance(self.query.form, Construct) else "QUERY"
        name = output if _WORD.fullmatch(output) else self.terms.iri(output)
        every = "" if period is None else f" COMPUTED EVERY {unit(period)}"
        self.line(f"REGISTER {word} {name}{every} AS")

    def operator(self) -> str:
        return ""

    def dataset(self) -> None:
        super().dataset()
        if self.query.semantics.report_empty:
            self.line("EMPTY")


_WRITERS: dict[Dialect, type[_DialectWriter]] = {
    writer.dialect: writer
    for writer in (_DialectWriter, _RspqlWriter, _CqelsWriter, _CsparqlWriter, _SparqlstreamWriter)
}
