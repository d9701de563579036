"""Patterns and subqueries as text: each spine of joins, optionals and binds is one group."""

from __future__ import annotations

from abc import abstractmethod

from weir.language.algebra import patterns as a
from weir.language.algebra.fold import BALANCE
from weir.language.algebra.scope import visible
from weir.language.writing.expressions import ExpressionWriter
from weir.language.writing.terms import Terms
from weir.rdf.terms import IRI, Variable

_EMPTY = a.BGP(())


class PatternWriter(ExpressionWriter):
    """Collects lines; ``depth`` is the indentation."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.depth = 0

    def window_keyword(self, name: IRI | Variable) -> str:
        """How the dialect introduces a pattern on a window; plain SPARQL, where windows were refused before,
        has none."""
        raise TypeError("plain SPARQL has no windows")

    @abstractmethod
    def select(self, pattern: a.Pattern, *, keyword: str = "SELECT") -> None:
        """A SELECT query without prologue."""

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def inline(self, pattern: a.Pattern) -> str:
        outer, self.lines = self.lines, []
        depth, self.depth = self.depth, 0
        self.braces("", pattern)
        text = " ".join(line.strip() for line in self.lines)
        self.lines, self.depth = outer, depth
        return text

    def braces(self, head: str, pattern: a.Pattern) -> None:
        """``head { pattern }``."""
        self.line(f"{head} {{" if head else "{")
        self.depth += 1
        if isinstance(pattern, a.Project | a.Distinct | a.Reduced | a.Slice):
            self.select(pattern)
        elif isinstance(pattern, a.Filter):
            self._spine(pattern.pattern)
            self.line(f"FILTER ({self.expression(pattern.condition)})")
        else:
            self._spine(pattern)
        self.depth -= 1
        self.line("}")

    def _spine(self, pattern: a.Pattern) -> None:
        """The elements of one group, from the leftmost pattern on."""
        steps: list[a.Join | a.LeftJoin | a.Minus | a.Extend] = []
        while isinstance(pattern, a.Join | a.LeftJoin | a.Minus | a.Extend):
            steps.append(pattern)
            pattern = pattern.pattern if isinstance(pattern, a.Extend) else pattern.left
        after_triples = False
        if pattern != _EMPTY:
            after_triples = self._element(pattern, False)
        for step in reversed(steps):
            match step:
                case a.Join(_, right):
                    after_triples = self._element(right, after_triples)
                    continue
                case a.LeftJoin(_, right, condition) if condition is not None:
                    self.braces("OPTIONAL", a.Filter(condition, right))
                case a.LeftJoin(_, right):
                    # A condition of the right side alone stands in a group of its own.
                    self.braces("OPTIONAL", a.Join(_EMPTY, right) if isinstance(right, a.Filter) else right)
                case a.Minus(_, right):
                    self.braces("MINUS", right)
                case a.Extend(_, bindings):
                    for variable, expression in bindings:
                        self.line(f"BIND ({self.expression(expression)} AS ?{variable.name})")
            after_triples = False

    def _element(self, pattern: a.Pattern, after_triples: bool) -> bool:
        """One element of a group; whether it leaves a basic graph pattern open for more triples.

        Triples that are to stay apart from those before them go into braces, or, where a blank node
        binds them to what follows, behind an empty group.
        """
        match pattern:
            case a.BGP(triples) if triples and not (after_triples and _plain(pattern)):
                if after_triples:
                    self.line("{}")
                for triple in triples:
                    self.line(self.terms.triple(triple))
                return True
            case a.PathPattern():
                self.line(self.terms.triple(pattern))
                return False
            case a.Union():
                self._union(pattern)
            case a.Graph(name, inner):
                self.braces(f"GRAPH {self.terms.node(name)}", inner)
            case a.Window(name, inner):
                self.braces(self.window_keyword(name), inner)
            case a.Service(name, inner, silent):
                self.braces(f"SERVICE {'SILENT ' if silent else ''}{self.terms.node(name)}", inner)
            case a.Values():
                self.values(pattern)
            case _:
                self.braces("", pattern)
        return False

    def _union(self, union: a.Union) -> None:
        branches: list[a.Pattern] = []
        left: a.Pattern = union
        while isinstance(left, a.Union) and len(branches) < BALANCE - 1:
            branches.append(left.right)
            left = left.left
        self.braces("", left)
        for branch in reversed(branches):
            self.braces("UNION", branch)

    def values(self, values: a.Values) -> None:
        self.line(f"VALUES ({' '.join(map(str, values.variables))}) {{")
        for row in values.rows:
            self.line(f"  ({' '.join(map(self.terms.node, row))})")
        self.line("}")


def _plain(pattern: a.BGP) -> bool:
    return not any(variable.internal for variable in visible(pattern))
