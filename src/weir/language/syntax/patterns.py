"""Graph patterns (SPARQL 1.1 grammar, rules 53 to 68), with WINDOW and STREAM, as algebra (section 18.2.2).

Blank nodes and the joints of paths are internal variables, numbered in the order in which the algebra first
mentions them, so that equal algebra has equal names whatever text it came from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import folded, rebuilt
from weir.language.algebra.query import Dialect
from weir.language.algebra.scope import visible
from weir.language.presets import Feature
from weir.language.syntax.draft import WindowClause
from weir.language.syntax.lexer import Kind, Tokens
from weir.language.syntax.triples import Triple
from weir.language.syntax.windows import WindowParser
from weir.rdf.terms import IRI, BlankNode, Term, Variable

EMPTY = a.BGP(())
_Read = TypeVar("_Read")


def joined(left: a.Pattern | None, right: a.Pattern) -> a.Pattern:
    """Join, without the empty pattern (section 18.2.2.8)."""
    if left is None or left == EMPTY:
        return right
    return left if right == EMPTY else a.Join(left, right)


class Build:
    """A group under construction: what is done, the triples not yet joined to it, and the conditions, which
    act on the whole group wherever they stand."""

    __slots__ = ("conditions", "done", "length", "triples")

    def __init__(self) -> None:
        self.done: a.Pattern | None = None
        self.triples: list[a.TriplePattern] = []
        self.conditions: list[e.Expression] = []
        self.length = 0

    def flush(self) -> a.Pattern:
        if self.triples:
            self.done = joined(self.done, a.BGP(tuple(self.triples)))
            self.triples = []
        return EMPTY if self.done is None else self.done

    def join(self, pattern: a.Pattern) -> None:
        self.done = joined(self.flush(), pattern)


class PatternParser(WindowParser):
    """Reads groups in braces and what stands in them.

    A label of a blank node belongs to one basic graph pattern, its ``block``. ``windows`` are those declared,
    by name, ``uses`` those that patterns name, each at its token, and ``streams`` the variables of those that
    range over streams.
    """

    def __init__(self, tokens: Tokens, dialect: Dialect | None, base: str | None) -> None:
        super().__init__(tokens, dialect, base)
        self.windows: dict[str, WindowClause] = {}
        self.uses: list[tuple[int, IRI | Variable]] = []
        self.streams: dict[str, Variable] = {}
        self.remote = False
        self.block = self.blocks = 0
        self.labels: dict[str, tuple[int, Variable]] = {}
        self.made: Counter[str] = Counter()

    @abstractmethod
    def select(self) -> tuple[a.Pattern, tuple[Variable, ...]]:
        """A SELECT query without prologue and dataset, and the variables it projects."""

    def internal(self, letter: str) -> Variable:
        """A variable that no query can name."""
        self.made[letter] += 1
        return Variable(f".{letter}{self.made[letter] - 1}")

    # Groups

    def group(self) -> a.Pattern:
        pattern, condition = self.parts()
        return pattern if condition is None else a.Filter(condition, pattern)

    def parts(self) -> tuple[a.Pattern, e.Expression | None]:
        """A group's pattern and the conjunction of its own conditions."""
        self.enter("{")
        outer = self.block, self.aggregating
        self.aggregating = False
        build = Build()
        self._next_block()
        if self.texts[self.i] == "SELECT":
            build.join(self.select()[0])
            self.expect("}")
        else:
            self._elements(build)
        self.block, self.aggregating = outer
        self.depth -= 1
        return build.flush(), folded(e.And, tuple(build.conditions)) if build.conditions else None

    def _next_block(self) -> None:
        self.blocks += 1
        self.block = self.blocks

    def _elements(self, build: Build) -> None:
        texts, kinds = self.texts, self.kinds
        dot = True
        while True:
            text = texts[self.i]
            if text == "}":
                self.i += 1
                return
            element = self.elements.get(text) if kinds[self.i] == 5 or text == "{" else None
            if element is not None:
                if text != "FILTER":
                    build.flush()
                    build.length += 1
                    self.bounded(build.length, "patterns in one group")
                self.i += text != "{"
                element(self, build)
                if text != "FILTER":
                    self._next_block()
                self.accept(".")
                dot = True
                continue
            if not dot or text == "." or kinds[self.i] >= Kind.END:
                raise self.expected("'.' or '}'" if not dot else "a pattern or '}'")
            triples: list[Triple] = []
            dot = self.triples(triples)
            self.matched(build, triples)

    # Elements, in the order of the table below; their keyword is passed

    def _group_or_union(self, build: Build) -> None:
        groups = [self.group()]
        while self.accept("UNION"):
            groups.append(self.group())
        build.join(folded(a.Union, tuple(groups)))

    def _filter(self, build: Build) -> None:
        build.conditions.append(self.constraint())

    def _optional(self, build: Build) -> None:
        right, condition = self.parts()
        build.done = a.LeftJoin(build.flush(), right, condition)

    def _minus(self, build: Build) -> None:
        build.done = a.Minus(build.flush(), self.group())

    def _graph(self, build: Build) -> None:
        name = self.variable_or_iri()
        build.join(a.Graph(name, self.group()))

    def _service(self, build: Build) -> None:
        silent = self.accept("SILENT")
        name = self.variable_or_iri()
        outer, self.remote = self.remote, True
        build.join(a.Service(name, self.group(), silent))
        self.remote = outer

    def _bind(self, build: Build) -> None:
        start = self.i - 1
        expression, variable = self.named()
        assert variable is not None
        before = build.flush()
        if variable in visible(before, self.streams):
            raise self.error(f"BIND cannot assign {variable}: the patterns before it bind it", start)
        build.done = a.extended(before, variable, expression)

    def _values(self, build: Build) -> None:
        build.join(self.values())

    def values(self) -> a.Values:
        """VALUES behind its keyword, in a group or after the modifiers."""
        start = self.i - 1
        single = self.kinds[self.i] == Kind.VARIABLE
        variables = [self.variable()] if single else self._listed(self.variable)
        if len(set(variables)) < len(variables):
            raise self.error("VALUES names a variable twice", start)
        rows: list[tuple[Term | None, ...]] = []
        self.expect("{")
        while not self.accept("}"):
            start = self.i
            row = [self._datum()] if single else self._listed(self._datum)
            if len(row) != len(variables):
                raise self.error(f"{len(row)} values for {len(variables)} variables", start)
            rows.append(tuple(row))
        return a.Values(tuple(variables), tuple(rows))

    def _listed(self, read: Callable[[], _Read]) -> list[_Read]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(read())
        return found

    def _datum(self) -> Term | None:
        if self.accept("UNDEF"):
            return None
        if self.kinds[self.i] in (Kind.VARIABLE, Kind.BLANK):
            raise self.expected("an IRI, a literal, a triple term or UNDEF")
        return self.ground()

    def _window(self, build: Build) -> None:
        start = self.i - 1
        self._local(Feature.WINDOW_PATTERN, start)
        name = self.variable_or_iri()
        self.uses.append((start, name))
        build.join(a.Window(name, self.group()))

    def _stream(self, build: Build) -> None:
        """The window is declared in place."""
        start, label = self.i - 1, self.label()
        self._local(Feature.STREAM_PATTERN, start)
        self.uses.append((start, IRI(label)))
        stream = None if self.texts[self.i] == "[" else self.variable_or_iri()
        spec = self.window()
        stream = stream or self.variable_or_iri()
        if isinstance(stream, Variable):
            self.streams[label] = stream
        over = stream if isinstance(stream, Variable) else stream.value
        self.windows[label] = WindowClause(label, over, spec, False)
        build.join(a.Window(IRI(label), self.group()))

    def _local(self, feature: Feature, start: int) -> None:
        self.use(feature, start)
        if self.remote:
            raise self.error("a remote SERVICE cannot see this query's windows", start)

    elements: ClassVar[dict[str, Callable[[Any, Build], None]]] = {
        "{": _group_or_union,
        "FILTER": _filter,
        "OPTIONAL": _optional,
        "MINUS": _minus,
        "GRAPH": _graph,
        "SERVICE": _service,
        "BIND": _bind,
        "VALUES": _values,
        "WINDOW": _window,
        "STREAM": _stream,
    }
    """How each element of a group is read, by its first token."""

    # Triples and paths (sections 18.2.2.4 and 18.2.2.5)

    def triples(self, out: list[Triple], paths: bool = True) -> bool:
        """Triples parted by dots up to what is none; whether a dot stood last."""
        texts, kinds = self.texts, self.kinds
        while True:
            self.same_subject(out, paths)
            if texts[self.i] != ".":
                return False
            self.i += 1
            text = texts[self.i]
            if text == "}" or text == "{" or (kinds[self.i] == 5 and text in self.elements):
                return True
            if text == "." or kinds[self.i] >= Kind.END:
                raise self.expected("a pattern or '}'")

    def matched(self, build: Build, triples: Sequence[Triple]) -> None:
        """The triples as patterns of a group."""
        for triple in triples:
            verb = triple.predicate
            if isinstance(verb, IRI | Variable):
                subject = self._variable_or_term(triple.subject, triple.at)
                target = self._variable_or_term(triple.object, triple.at)
                build.triples.append(a.TriplePattern(subject, verb, target))
            else:
                self._path(build, triple, verb)

    def _variable_or_term(self, node: a.Node, at: int) -> a.Node:
        """A blank node is a variable that no query can name, within one basic graph pattern."""
        if isinstance(node, a.TripleTermPattern):
            parts = (node.subject, node.predicate, node.object)
            return a.triple_node(*(self._variable_or_term(part, at) for part in parts))
        if not isinstance(node, BlankNode):
            return node
        known = self.labels.get(node.label)
        if known is None:
            known = self.labels[node.label] = self.block, self.internal("b")
        if known[0] != self.block:
            raise self.error(
                f"the blank node _:{node.label} is used in two basic graph patterns",
                at,
                f"use a variable such as ?{node.label} instead",
            )
        return known[1]

    def _path(self, build: Build, triple: Triple, path: a.Path) -> None:
        """The steps of a path, joined by fresh variables; each end is named where it is first mentioned."""
        steps: list[a.Path] = []
        _flatten(path, False, steps)
        start: a.Node = triple.subject
        for place, step in enumerate(steps):
            end = triple.object if place + 1 == len(steps) else None
            if isinstance(step, a.Inverse):
                target = self.internal("b") if end is None else self._variable_or_term(end, triple.at)
                self._connect(build, target, step.path, self._variable_or_term(start, triple.at), triple.at)
            else:
                source = self._variable_or_term(start, triple.at)
                target = self.internal("b") if end is None else self._variable_or_term(end, triple.at)
                self._connect(build, source, step, target, triple.at)
            start = target

    def _connect(self, build: Build, subject: a.Node, path: a.Path, target: a.Node, at: int) -> None:
        if isinstance(path, a.Link):
            build.triples.append(a.TriplePattern(subject, path.iri, target))
            return
        build.join(a.PathPattern(subject, path, target))
        build.length += 1
        self.bounded(build.length, "paths in one group", at)


def _flatten(path: a.Path, inverse: bool, steps: list[a.Path]) -> None:
    """The steps of a path that is a sequence; ``^(a/b)`` is ``^b/^a``."""
    if isinstance(path, a.Inverse):
        _flatten(path.path, not inverse, steps)
    elif isinstance(path, a.Sequence):
        first, second = (path.right, path.left) if inverse else (path.left, path.right)
        _flatten(first, inverse, steps)
        _flatten(second, inverse, steps)
    else:
        steps.append(a.Inverse(path) if inverse else path)


def numbered(pattern: a.Pattern) -> a.Pattern:
    """The pattern with its internal variables numbered in the order of the algebra, conditions of a group
    after its patterns. EXISTS may stand in the text before what the algebra mentions first."""
    known: dict[Variable, Variable] = {}
    made: Counter[str] = Counter()

    def renamed(node: Any) -> Any:
        if isinstance(node, a.Filter):
            inner = renamed(node.pattern)
            return a.Filter(renamed(node.condition), inner)
        if not isinstance(node, Variable):
            return rebuilt(node, renamed)
        if node.internal and node not in known:
            letter = node.name[1]
            known[node] = Variable(f".{letter}{made[letter]}")
            made[letter] += 1
        return known.get(node, node)

    found: a.Pattern = renamed(pattern)
    return found
