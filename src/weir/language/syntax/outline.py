"""The text of a query as the grammar reads it: each construct with the line and column where it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Expression
from weir.language.algebra.query import Dialect
from weir.language.syntax.lexer import Source, Tokens
from weir.language.syntax.patterns import Build
from weir.language.syntax.queries import QueryParser
from weir.language.syntax.solution_modifiers import Item
from weir.language.syntax.triples import Triple
from weir.rdf.terms import Variable

_Read = TypeVar("_Read")


@dataclass(slots=True)
class _Construct:
    """What stands between two tokens; ``head`` is where the first construct within it starts that is no
    expression."""

    name: str
    depth: int
    start: int
    head: int | None = None
    end: int = 0


def outline(text: str, dialect: Dialect) -> str:
    """A construct a line, those within it indented below; each with its text up to the first of them
    that is no expression."""
    reader = _Reader(Tokens(Source(text)), dialect, None)
    reader.draft()
    return "\n".join(reader.line(each) for each in reader.found if each.end > each.start)


def _element(word: str, read: Callable[[Any, Build], None]) -> Callable[[Any, Build], None]:
    def noted(reader: _Reader, build: Build) -> None:
        reader.noted(word.capitalize(), lambda: read(reader, build), reader.i - 1)

    return read if word == "{" else noted


class _Reader(QueryParser):
    """Notes the rules that it goes through, and where."""

    elements: ClassVar[dict[str, Callable[[Any, Build], None]]] = {
        word: _element(word, read) for word, read in QueryParser.elements.items()
    }

    def __init__(self, tokens: Tokens, dialect: Dialect | None, base: str | None) -> None:
        super().__init__(tokens, dialect, base)
        self.found: list[_Construct] = []
        self.around: list[_Construct] = []

    def noted(self, name: str, read: Callable[[], _Read], start: int | None = None) -> _Read:
        """What ``read`` reads, noted; a rule may find nothing to read."""
        construct = _Construct(name, len(self.around), self.i if start is None else start)
        for outer in self.around if name != "Expression" else ():
            outer.head = outer.head or construct.start
        self.found.append(construct)
        self.around.append(construct)
        found = read()
        self.around.pop()
        construct.end = self.i
        return found

    def line(self, construct: _Construct) -> str:
        """A construct as text."""
        tokens, name, start = self.tokens, construct.name, construct.start
        end = construct.end if construct.head is None else construct.head
        text = tokens.source.text[tokens.offset(start) : tokens.offset(end)]
        written = " ".join(text.split()).rstrip("({ ")
        shown = f": {written}" if written.upper() not in ("", name.upper()) else ""
        if name == "Group" and self.texts[start - 1] == "UNION":
            name = "Union"
        place = tokens.source.place(tokens.offset(start))
        return "{}{} at {}:{}{}".format("  " * construct.depth, name, *place, shown)

    # Rules

    def clause(self) -> None:
        self.noted("From", super().clause)

    def select(self, top: bool = False) -> tuple[a.Pattern, tuple[Variable, ...]]:
        return self.noted("Select", lambda: super(_Reader, self).select(top))

    def _item(self) -> Item | None:
        return self.noted("Item", super()._item)

    def _key(self) -> Item | None:
        return self.noted("Key", super()._key)

    def _order(self) -> a.OrderKey | None:
        return self.noted("Order", super()._order)

    def _natural(self) -> int:
        return self.noted(self.texts[self.i - 1].capitalize(), super()._natural, self.i - 1)

    def parts(self) -> tuple[a.Pattern, Expression | None]:
        return self.noted("Group", super().parts)

    def same_subject(self, out: list[Triple], paths: bool) -> None:
        self.noted("Triples", lambda: super(_Reader, self).same_subject(out, paths))

    def expression(self, level: int = 0) -> Expression:
        whole = super().expression
        return whole(level) if level else self.noted("Expression", whole)
