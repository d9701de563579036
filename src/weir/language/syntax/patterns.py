"""Graph patterns (SPARQL 1.1 grammar, rules 53 to 68), with WINDOW and STREAM."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from weir.language.presets import Feature
from weir.language.syntax import tree
from weir.language.syntax.lexer import Kind
from weir.language.syntax.windows import WindowParser
from weir.rdf.terms import Term


class PatternParser(WindowParser):
    """Reads groups in braces and what stands in them."""

    @abstractmethod
    def select(self) -> tree.Select:
        """A SELECT query without prologue and dataset."""

    def group(self) -> tree.Group:
        at = self.tokens.offset(self.i)
        if self.texts[self.i] != "{":
            raise self.expected("'{'")
        self.enter()
        self.i += 1
        elements: list[tree.Element] = []
        if self.texts[self.i] == "SELECT":
            place = self.tokens.offset(self.i)
            elements.append(tree.SubSelect(place, self.select()))
            self.expect("}")
        else:
            self._elements(elements)
        self.depth -= 1
        return tree.Group(at, tuple(elements))

    def _elements(self, elements: list[tree.Element]) -> None:
        texts, kinds = self.texts, self.kinds
        dot = True
        while True:
            text = texts[self.i]
            if text == "}":
                self.i += 1
                return
            element = _ELEMENTS.get(text) if kinds[self.i] == 5 or text == "{" else None
            if element is not None:
                elements.append(element(self))
                self.accept(".")
                dot = True
                continue
            if not dot or text == "." or kinds[self.i] >= Kind.END:
                raise self.expected("'.' or '}'" if not dot else "a pattern or '}'")
            at = self.tokens.offset(self.i)
            triples: list[tree.Triple] = []
            dot = self.triples(triples)
            elements.append(tree.Triples(at, tuple(triples)))

    def triples(self, out: list[tree.Triple], paths: bool = True) -> bool:
        """Triples parted by dots up to what is none; whether a dot stood last."""
        texts, kinds = self.texts, self.kinds
        while True:
            self.same_subject(out, paths)
            if texts[self.i] != ".":
                return False
            self.i += 1
            text = texts[self.i]
            if text == "}" or text == "{" or (kinds[self.i] == 5 and text in _ELEMENTS):
                return True
            if text == "." or kinds[self.i] >= Kind.END:
                raise self.expected("a pattern or '}'")

    # Elements, in the order of the table below

    def _group_or_union(self) -> tree.Group | tree.Union:
        first = self.group()
        if self.texts[self.i] != "UNION":
            return first
        groups = [first]
        while self.accept("UNION"):
            groups.append(self.group())
        return tree.Union(first.at, tuple(groups))

    def _filter(self) -> tree.Filter:
        at = self._start()
        return tree.Filter(at, self.constraint())

    def _optional(self) -> tree.Optional:
        at = self._start()
        return tree.Optional(at, self.group())

    def _minus(self) -> tree.Minus:
        at = self._start()
        return tree.Minus(at, self.group())

    def _graph(self) -> tree.Graph:
        at = self._start()
        name = self.variable_or_iri()
        return tree.Graph(at, name, self.group())

    def _service(self) -> tree.Service:
        at = self._start()
        silent = self.accept("SILENT")
        name = self.variable_or_iri()
        return tree.Service(at, name, silent, self.group())

    def _bind(self) -> tree.Bind:
        at = self._start()
        expression, variable = self.named()
        assert variable is not None
        return tree.Bind(at, expression, variable)

    def values(self) -> tree.Values:
        """VALUES, in a group or after the modifiers."""
        at = self._start()
        variables = []
        if self.kinds[self.i] == Kind.VARIABLE:
            variables.append(self.variable())
            self.expect("{")
            rows: list[tuple[Term | None, ...]] = []
            while not self.accept("}"):
                rows.append((self._datum(),))
            return tree.Values(at, tuple(variables), tuple(rows))
        self.expect("(")
        while not self.accept(")"):
            variables.append(self.variable())
        if len(set(variables)) < len(variables):
            raise self.tokens.source.error(at, "VALUES names a variable twice")
        self.expect("{")
        rows = []
        while not self.accept("}"):
            start = self.i
            self.expect("(")
            row: list[Term | None] = []
            while not self.accept(")"):
                row.append(self._datum())
            if len(row) != len(variables):
                raise self.error(f"{len(row)} values for {len(variables)} variables", start)
            rows.append(tuple(row))
        return tree.Values(at, tuple(variables), tuple(rows))

    def _datum(self) -> Term | None:
        if self.accept("UNDEF"):
            return None
        if self.kinds[self.i] in (Kind.VARIABLE, Kind.BLANK):
            raise self.expected("an IRI, a literal, a triple term or UNDEF")
        return self.ground()

    def _window(self) -> tree.Window:
        self.use(Feature.WINDOW_PATTERN)
        at = self._start()
        name = self.variable_or_iri()
        return tree.Window(at, name, self.group())

    def _stream(self) -> tree.Stream:
        self.use(Feature.STREAM_PATTERN)
        at, label = self._start(), self.label()
        if self.texts[self.i] == "[":
            window = self.window()
            stream = self.variable_or_iri()
        else:
            stream = self.variable_or_iri()
            window = self.window()
        return tree.Stream(at, label, stream, window, self.group())

    def _start(self) -> int:
        """Pass the keyword; its offset."""
        self.i += 1
        return self.tokens.offset(self.i - 1)


_ELEMENTS: dict[str, Callable[[PatternParser], tree.Element]] = {
    "{": PatternParser._group_or_union,
    "FILTER": PatternParser._filter,
    "OPTIONAL": PatternParser._optional,
    "MINUS": PatternParser._minus,
    "GRAPH": PatternParser._graph,
    "SERVICE": PatternParser._service,
    "BIND": PatternParser._bind,
    "VALUES": PatternParser.values,
    "WINDOW": PatternParser._window,
    "STREAM": PatternParser._stream,
}
