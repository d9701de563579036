"""Whole queries (SPARQL 1.1 grammar, rules 1 to 28), REGISTER and the dataset clauses of the dialects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from weir.language.algebra.expressions import Expression
from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.presets import Feature
from weir.language.syntax import tree
from weir.language.syntax.lexer import Kind, Tokens
from weir.language.syntax.patterns import PatternParser
from weir.language.syntax.terms import resolve

_R2S = {operator.name: operator for operator in R2S}
_LARGEST = 2**63
_Read = TypeVar("_Read")


class QueryParser(PatternParser):
    """Reads one query to its end."""

    def __init__(self, tokens: Tokens, dialect: Dialect | None, base: str | None) -> None:
        super().__init__(tokens, dialect, base)
        self.settings = tree.Settings()
        self.dataset: list[tree.DatasetClause] = []

    def unit(self) -> tree.Unit:
        """The whole text."""
        self.prologue()
        if self.texts[self.i] == "REGISTER":
            early = self.i
            self._register()
            if self.prologue():
                self.use(Feature.REGISTER_FIRST, early)
        form = self.texts[self.i] if self.kinds[self.i] == Kind.WORD else ""
        body: tree.Body
        if form == "SELECT":
            body = self.select(top=True)
        elif form == "CONSTRUCT":
            body = self._construct()
        elif form == "ASK":
            body = self._ask()
        elif form == "DESCRIBE":
            body = self._describe()
        else:
            raise self.expected("SELECT, CONSTRUCT, ASK or DESCRIBE")
        if self.kinds[self.i] != Kind.END:
            raise self.expected("the end of the query")
        return tree.Unit(body, tuple(self.dataset), self.settings)

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
            output = self.tokens.written(self.i)
            self.i += 1
        else:
            output = self.iri("the name of the output").value
        every = None
        if self.texts[self.i] == "COMPUTED":
            self.use(Feature.COMPUTED_EVERY)
            self.i += 1
            self.expect("EVERY")
            every = self.duration()
        self.expect("AS")
        self.settings = replace(self.settings, output=output, r2s=operator, computed_every=every)

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
        if self.settings.r2s not in (None, operator):
            raise self.error(f"{operator.name} contradicts the operator after REGISTER", start)
        self.settings = replace(self.settings, r2s=operator)

    def _options(self) -> None:
        """PREVIOUS, EMIT AFTER and EMPTY."""
        while (word := self.texts[self.i]) in _OPTIONS and self.kinds[self.i] == Kind.WORD:
            feature, name, read = _OPTIONS[word]
            self.use(feature)
            if getattr(self.settings, name) is not None:
                raise self.error(f"{word} is given twice")
            self.i += 1
            self.settings = replace(self.settings, **{name: read(self)})

    def _emit_after(self) -> int:
        self.expect("AFTER")
        return self.duration(zero=True)

    # Dataset

    def _dataset(self) -> None:
        while self.texts[self.i] == "FROM":
            self.dataset.append(self._clause())
        self._options()

    def _clause(self) -> tree.DatasetClause:
        start = self.i
        at = self.tokens.offset(start)
        self.i += 1
        named = self.accept("NAMED")
        word = self.texts[self.i] if self.kinds[self.i] == Kind.WORD else ""
        if word == "STREAM":
            self.use(Feature.FROM_NAMED_STREAM if named else Feature.FROM_STREAM, start)
            self.i += 1
            stream = self.iri("the IRI of a stream")
            return tree.FromStream(at, self.label(), stream, self.window())
        if word == "WINDOW" or word == "ON":
            self.use(Feature.FROM_WINDOW, start)
            return self._from_window(at, named)
        return tree.FromGraph(at, self.iri("the IRI of a graph, WINDOW or STREAM"), named)

    def _from_window(self, at: int, named: bool) -> tree.FromWindow:
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
        return tree.FromWindow(at, name, stream, window, named)

    # Forms

    def select(self, top: bool = False) -> tree.Select:
        at = self.tokens.offset(self.i)
        self.i += 1
        if top:
            self._form_operator()
        distinct = self.accept("DISTINCT")
        reduced = not distinct and self.accept("REDUCED")
        items = None
        if not self.accept("*"):
            items = self._several(self._item, "'*', a variable or an expression in brackets")
        if top:
            self._dataset()
        where = self._where()
        return tree.Select(at, items, distinct, reduced, where, self._modifiers())

    def _item(self) -> tree.Item | None:
        at = self.tokens.offset(self.i)
        if self.kinds[self.i] == 1:
            return tree.Item(at, self.variable(), None)
        if self.texts[self.i] == "(":
            expression, variable = self.named()
            return tree.Item(at, variable, expression)
        return self._bare_aggregate(at) if self.at_aggregate else None

    def _several(self, read: Callable[[], _Read | None], what: str) -> tuple[_Read, ...]:
        """As many as there are, at least one."""
        found: list[_Read] = []
        while (one := read()) is not None:
            found.append(one)
        if not found:
            raise self.expected(what)
        return tuple(found)

    def _bare_aggregate(self, at: int) -> tree.Item:
        """CQELS-QL's ``count(distinct ?x) as ?n``."""
        start = self.i
        if not self.may_use(Feature.BARE_AGGREGATE):
            raise self.error(
                "an aggregate in SELECT stands in brackets",
                start,
                f"write ({self.tokens.written(start)}(…) AS ?name); only CQELS-QL leaves the brackets out",
            )
        self.use(Feature.BARE_AGGREGATE)
        expression = self.aggregate()
        self.expect("AS")
        return tree.Item(at, self.variable(), expression)

    def _construct(self) -> tree.Construct:
        at = self.tokens.offset(self.i)
        self.i += 1
        self._form_operator()
        if self.texts[self.i] == "{":
            template = self._template()
            self._dataset()
            return tree.Construct(at, template, self._where(), self._modifiers())
        self._dataset()
        self.expect("WHERE")
        place = self.tokens.offset(self.i)
        triples = self._template()
        where = tree.Group(place, (tree.Triples(place, triples),) if triples else ())
        return tree.Construct(at, None, where, self._modifiers())

    def _template(self) -> tuple[tree.Triple, ...]:
        self.expect("{")
        triples: list[tree.Triple] = []
        if self.texts[self.i] != "}":
            self.triples(triples, paths=False)
        self.expect("}")
        return tuple(triples)

    def _ask(self) -> tree.Ask:
        at = self.tokens.offset(self.i)
        self.i += 1
        self._dataset()
        return tree.Ask(at, self._where(), self._modifiers())

    def _describe(self) -> tree.Describe:
        at = self.tokens.offset(self.i)
        self.i += 1
        targets = None
        if not self.accept("*"):
            found = [self.variable_or_iri()]
            while self.kinds[self.i] in (Kind.VARIABLE, Kind.PREFIXED, Kind.IRI):
                found.append(self.variable_or_iri())
            targets = tuple(found)
        self._dataset()
        where = self._where() if self.texts[self.i] in ("WHERE", "{") else None
        return tree.Describe(at, targets, where, self._modifiers())

    def _where(self) -> tree.Group:
        written = self.accept("WHERE")
        if self.texts[self.i] != "{":
            raise self.expected("'{'" if written else "WHERE or '{'")
        return self.group()

    # Modifiers

    def _modifiers(self) -> tree.Modifiers:
        group_by: tuple[tree.Item, ...] = ()
        having: tuple[Expression, ...] = ()
        order_by: tuple[tree.Order, ...] = ()
        limit = offset = values = None
        if self.kinds[self.i] != Kind.WORD:
            return tree.Modifiers()
        if self.accept("GROUP"):
            self.expect("BY")
            group_by = self._several(self._key, "a variable or an expression to group by")
        if self.accept("HAVING"):
            conditions = [self.constraint()]
            while self._at_constraint():
                conditions.append(self.constraint())
            having = tuple(conditions)
        if self.accept("ORDER"):
            self.expect("BY")
            order_by = self._several(self._order, "a variable or an expression to order by")
        while self.texts[self.i] in ("LIMIT", "OFFSET"):
            word = self.texts[self.i]
            if (limit if word == "LIMIT" else offset) is not None:
                raise self.error(f"{word} is given twice")
            self.i += 1
            if word == "LIMIT":
                limit = self._natural()
            else:
                offset = self._natural()
        if self.texts[self.i] == "VALUES":
            values = self.values()
        return tree.Modifiers(group_by, having, order_by, limit, offset, values)

    def _natural(self) -> int:
        text = self.texts[self.i]
        if self.kinds[self.i] != Kind.INTEGER:
            raise self.expected("a whole number")
        if len(text) > 19 or int(text) >= _LARGEST:
            raise self.error("the number is too large")
        self.i += 1
        return int(text)

    def _at_constraint(self) -> bool:
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.WORD:
            return text not in ("ORDER", "LIMIT", "OFFSET", "VALUES", "HAVING", "ASC", "DESC")
        return text == "(" or kind in (Kind.PREFIXED, Kind.IRI)

    def _key(self) -> tree.Item | None:
        at = self.tokens.offset(self.i)
        if self.kinds[self.i] == Kind.VARIABLE:
            return tree.Item(at, self.variable(), None)
        if self.texts[self.i] == "(":
            expression, variable = self.named(bare=True)
            return tree.Item(at, variable, expression)
        return tree.Item(at, None, self.constraint()) if self._at_constraint() else None

    def _order(self) -> tree.Order | None:
        at = self.tokens.offset(self.i)
        if self.kinds[self.i] == Kind.VARIABLE:
            return tree.Order(at, self.variable(), False)
        if self.texts[self.i] in ("ASC", "DESC"):
            self.i += 1
            descending = self.texts[self.i - 1] == "DESC"
            return tree.Order(at, self.bracketed(), descending)
        return tree.Order(at, self.constraint(), False) if self._at_constraint() else None


_OPTIONS: dict[str, tuple[Feature, str, Callable[[QueryParser], Any]]] = {
    "EMPTY": (Feature.EMPTY, "empty", lambda parser: True),
    "PREVIOUS": (
        Feature.QUERY_OPTIONS,
        "previous",
        lambda parser: parser.choice(Previous, "EVALUATION or INSTANT"),
    ),
    "EMIT": (Feature.QUERY_OPTIONS, "emit_after", QueryParser._emit_after),
}
