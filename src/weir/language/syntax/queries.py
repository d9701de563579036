"""Whole queries (SPARQL 1.1 grammar, rules 1 to 17), REGISTER and the dataset clauses of the dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weir.language.algebra import patterns as a
from weir.language.algebra.query import R2S, Ask, Construct, Describe, Dialect, Form, Previous, Select
from weir.language.presets import Feature
from weir.language.syntax.draft import Draft, WindowClause
from weir.language.syntax.lexer import Kind, Tokens
from weir.language.syntax.patterns import EMPTY, Build, numbered
from weir.language.syntax.solution_modifiers import ModifierParser
from weir.language.syntax.terms import resolve
from weir.language.syntax.triples import Triple
from weir.rdf.terms import IRI, BlankNode, Variable

_R2S = {operator.name: operator for operator in R2S}


class QueryParser(ModifierParser):
    """Reads one query to its end; ``graphs`` are those of FROM and of FROM NAMED."""

    def __init__(self, tokens: Tokens, dialect: Dialect | None, base: str | None) -> None:
        super().__init__(tokens, dialect, base)
        self.options: dict[str, Any] = {}
        self.output: str | None = None
        self.computed_every: int | None = None
        self.graphs: tuple[dict[str, None], dict[str, None]] = {}, {}

    def draft(self) -> Draft:
        """The whole text."""
        self.prologue()
        if self.texts[self.i] == "REGISTER":
            early = self.i
            self._register()
            if self.prologue():
                self.use(Feature.REGISTER_FIRST, early)
        word = self.texts[self.i] if self.kinds[self.i] == Kind.WORD else ""
        if word not in _FORMS:
            raise self.expected("SELECT, CONSTRUCT, ASK or DESCRIBE")
        form, pattern = _FORMS[word](self)
        if self.kinds[self.i] != Kind.END:
            raise self.expected("the end of the query")
        default, named = map(tuple, self.graphs)
        return Draft(
            self.tokens.source,
            form,
            numbered(pattern) if self.tests else pattern,
            default,
            named,
            tuple(self.windows.values()),
            self.options,
            self.output,
            self.computed_every,
            self._unused_windows(),
        )

    def prologue(self) -> bool:
        """PREFIX, BASE and VERSION; whether there was any."""
        found = False
        while True:
            word = self.texts[self.i]
            if word == "PREFIX":
                self.i += 1
                name = self.texts[self.i]
                if self.kinds[self.i] != Kind.PREFIXED or name[-1] != ":" or name.count(":") != 1:
                    raise self.expected("a prefix such as ex:")
                self.i += 1
                self.prefixes[name[:-1]] = self._reference()
            elif word == "BASE":
                self.i += 1
                self.base = self._reference()
                self.terms.clear()
            elif word == "VERSION" and self.kinds[self.i] == Kind.WORD:
                self.i += 1
                if self.kinds[self.i] != Kind.STRING:
                    raise self.expected('a version such as "1.2"')
                self.i += 1
            else:
                return found
            found = True

    def _reference(self) -> str:
        if self.kinds[self.i] != Kind.IRI:
            raise self.expected("an IRI in <…>")
        found = resolve(self.reference(), self.base)
        self.i += 1
        return found

    # REGISTER and what follows the dataset

    def _register(self) -> None:
        start = self.i
        self.i += 1
        operator = self._operator()
        if self.accept("STREAM"):
            self.use(Feature.REGISTER_STREAM if operator is None else Feature.REGISTER_OUTPUT, start)
        elif operator is None and self.texts[self.i] == "QUERY":
            self.use(Feature.REGISTER_QUERY, start)
            self.i += 1
        else:
            self.use(Feature.REGISTER_OUTPUT, start)
        if self.kinds[self.i] in (Kind.WORD, Kind.A):
            self.use(Feature.BARE_OUTPUT)
            self.output = self.tokens.written(self.i)
            self.i += 1
        else:
            self.output = self.iri("the name of the output").value
        if self.texts[self.i] == "COMPUTED":
            self.use(Feature.COMPUTED_EVERY)
            self.i += 1
            self.expect("EVERY")
            self.computed_every = self.duration()
        self.expect("AS")
        if operator is not None:
            self.options["r2s"] = operator

    def _operator(self) -> R2S | None:
        operator = _R2S.get(self.texts[self.i]) if self.kinds[self.i] == Kind.WORD else None
        if operator is not None:
            self.i += 1
        return operator

    def _form_operator(self) -> None:
        """RSTREAM, ISTREAM or DSTREAM after SELECT or CONSTRUCT."""
        start = self.i
        operator = self._operator()
        if operator is None:
            return
        self.use(Feature.R2S_ON_FORM, start)
        if self.options.setdefault("r2s", operator) is not operator:
            raise self.error(f"{operator.name} contradicts the operator after REGISTER", start)

    def _options(self) -> None:
        """PREVIOUS, EMIT AFTER and EMPTY."""
        while (word := self.texts[self.i]) in _OPTIONS and self.kinds[self.i] == Kind.WORD:
            feature, name, read = _OPTIONS[word]
            self.use(feature)
            if name in self.options:
                raise self.error(f"{word} is given twice")
            self.i += 1
            self.options[name] = read(self)

    def _emit_after(self) -> int:
        self.expect("AFTER")
        return self.duration(zero=True)

    # Dataset

    def _dataset(self) -> None:
        while self.texts[self.i] == "FROM":
            self.clause()
        self._options()

    def clause(self) -> None:
        """One FROM."""
        start = self.i
        self.i += 1
        named = self.accept("NAMED")
        word = self.texts[self.i] if self.kinds[self.i] == Kind.WORD else ""
        if word == "STREAM":
            self.use(Feature.FROM_NAMED_STREAM if named else Feature.FROM_STREAM, start)
            self.i += 1
            label, stream = self.label(), self.iri("the IRI of a stream")
            self.windows[label] = WindowClause(label, stream.value, self.window(), True)
        elif word == "WINDOW" or word == "ON":
            self.use(Feature.FROM_WINDOW, start)
            self._from_window(start, named)
        else:
            self.graphs[named][self.iri("the IRI of a graph, WINDOW or STREAM").value] = None

    def _from_window(self, start: int, named: bool) -> None:
        """RSP-QL's ``FROM NAMED WINDOW name ON stream […]``."""
        self.accept("WINDOW")
        name = None
        if self.texts[self.i] != "ON":
            name = self.iri("the name of the window")
        self.expect("ON")
        self.accept("STREAM")
        stream = self.iri("the IRI of a stream")
        window = self.window()
        if name is None:
            self.expect("AS")
            name = self.iri("the name of the window")
        if name.value in self.windows:
            raise self.error(f"the window {name} is declared twice", start)
        self.windows[name.value] = WindowClause(name.value, stream.value, window, not named)

    def _unused_windows(self) -> tuple[str, ...]:
        """A warning for each; refuses WINDOW where there is none of that name."""
        named = [window.name for window in self.windows.values() if not window.in_default]
        if not named and not self.uses:
            return ()
        used: set[str] = set()
        for start, name in self.uses:
            if isinstance(name, IRI) and name.value not in named:
                raise self._undeclared(start, name, named)
            if isinstance(name, Variable) and not named:
                raise self.error(f"WINDOW {name} has no named window to range over", start)
            used.update([name.value] if isinstance(name, IRI) else named)
        return tuple(f"the window <{name}> is declared but not used" for name in named if name not in used)

    def _undeclared(self, start: int, name: IRI, named: Sequence[str]) -> Exception:
        if name.value in self.windows:
            return self.error(
                f"the window {name} is part of the default graph and cannot be named",
                start,
                f"declare it with FROM NAMED WINDOW {name}, or drop WINDOW around the pattern",
            )
        listed = ", ".join(f"<{each}>" for each in named)
        known = f"declared are {listed}" if named else "no window is declared"
        hint = f"{known}; add FROM NAMED WINDOW {name} ON <stream> [RANGE PT10S STEP PT5S]"
        return self.error(f"the window {name} is not declared", start, hint)

    # Forms

    def select(self, top: bool = False) -> tuple[a.Pattern, tuple[Variable, ...]]:
        start = self.i
        self.i += 1
        if top:
            self._form_operator()
        distinct = self.accept("DISTINCT")
        reduced = not distinct and self.accept("REDUCED")
        items = self.items()
        if top:
            self._dataset()
        where = self._where()
        modifiers = self.modifiers()
        found = self.projected(start, items, where, modifiers)
        pattern: a.Pattern = a.Distinct(found) if distinct else a.Reduced(found) if reduced else found
        return self.sliced(pattern, modifiers), found.variables

    def _selected(self) -> tuple[Form, a.Pattern]:
        pattern, variables = self.select(top=True)
        return Select(variables), pattern

    def _construct(self) -> tuple[Form, a.Pattern]:
        self.i += 1
        self._form_operator()
        if self.texts[self.i] == "{":
            template = self._template()
            self._dataset()
            where = self._where()
        else:
            self._dataset()
            self.expect("WHERE")
            template = self._template()
            build = Build()
            self.matched(build, template)
            where = build.flush()
        return Construct(_made(template)), self._solutions(where)

    def _solutions(self, where: a.Pattern) -> a.Pattern:
        modifiers = self.modifiers()
        return self.sliced(self.modified(where, modifiers), modifiers)

    def _template(self) -> list[Triple]:
        self.expect("{")
        triples: list[Triple] = []
        if self.texts[self.i] != "}":
            self.triples(triples, paths=False)
        self.expect("}")
        return triples

    def _ask(self) -> tuple[Form, a.Pattern]:
        self.i += 1
        self._dataset()
        return Ask(), self._solutions(self._where())

    def _describe(self) -> tuple[Form, a.Pattern]:
        self.i += 1
        targets: list[IRI | Variable] = []
        every = self.accept("*")
        if not every:
            targets.append(self.variable_or_iri())
            while self.kinds[self.i] in (Kind.VARIABLE, Kind.PREFIXED, Kind.IRI):
                targets.append(self.variable_or_iri())
        self._dataset()
        pattern = self._solutions(self._where() if self.texts[self.i] in ("WHERE", "{") else EMPTY)
        return Describe(self.seen(pattern) if every else tuple(dict.fromkeys(targets))), pattern

    def _where(self) -> a.Pattern:
        written = self.accept("WHERE")
        if self.texts[self.i] != "{":
            raise self.expected("'{'" if written else "WHERE or '{'")
        return self.group()


def _made(triples: Sequence[Triple]) -> tuple[a.TriplePattern, ...]:
    """The triples as a template; its blank nodes are new ones for each solution, whatever the pattern calls
    its own."""
    labels: dict[str, Variable] = {}

    def node(term: a.Node) -> a.Node:
        if isinstance(term, a.TripleTermPattern):
            return a.triple_node(node(term.subject), node(term.predicate), node(term.object))
        if isinstance(term, BlankNode):
            return labels.setdefault(term.label, Variable(f".t{len(labels)}"))
        return term

    found = []
    for triple in triples:
        assert isinstance(triple.predicate, IRI | Variable)
        found.append(a.TriplePattern(node(triple.subject), triple.predicate, node(triple.object)))
    return tuple(found)


_FORMS: dict[str, Callable[[QueryParser], tuple[Form, a.Pattern]]] = {
    "SELECT": QueryParser._selected,
    "CONSTRUCT": QueryParser._construct,
    "ASK": QueryParser._ask,
    "DESCRIBE": QueryParser._describe,
}
_OPTIONS: dict[str, tuple[Feature, str, Callable[[QueryParser], Any]]] = {
    "EMPTY": (Feature.EMPTY, "report_empty", lambda parser: True),
    "PREVIOUS": (
        Feature.QUERY_OPTIONS,
        "previous",
        lambda parser: parser.choice(Previous, "EVALUATION or INSTANT"),
    ),
    "EMIT": (Feature.QUERY_OPTIONS, "emit_after", QueryParser._emit_after),
}
