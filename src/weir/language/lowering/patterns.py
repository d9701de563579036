"""Groups → patterns (SPARQL 1.1 section 18.2.2).

Internal variables are numbered in the order in which the algebra first mentions them, conditions of a
group after its patterns, so that equal algebra has equal names whatever text it came from.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra import windows as w
from weir.language.algebra.fold import folded
from weir.language.algebra.scope import visible
from weir.language.lowering.expressions import ExpressionLowering
from weir.language.presets import Preset
from weir.language.syntax import tree
from weir.language.syntax.cursor import CHAIN
from weir.language.syntax.lexer import Source
from weir.rdf.terms import IRI, BlankNode, Variable

EMPTY = a.BGP(())


def joined(left: a.Pattern | None, right: a.Pattern) -> a.Pattern:
    """Join, without the empty pattern (section 18.2.2.8)."""
    if left is None or left == EMPTY:
        return right
    return left if right == EMPTY else a.Join(left, right)


class _Build:
    """A group under construction: what is done, and the triples not yet joined to it."""

    __slots__ = ("done", "length", "triples")

    def __init__(self) -> None:
        self.done: a.Pattern | None = None
        self.triples: list[a.TriplePattern] = []
        self.length = 0

    def flush(self) -> a.Pattern | None:
        if self.triples:
            self.done = joined(self.done, a.BGP(tuple(self.triples)))
            self.triples = []
        return self.done

    def join(self, pattern: a.Pattern) -> None:
        self.done = joined(self.flush(), pattern)


class PatternLowering(ExpressionLowering):
    """Lowers patterns; ``windows`` are the declared ones, by name."""

    def __init__(self, source: Source, preset: Preset, every: int | None) -> None:
        super().__init__(source)
        self.preset = preset
        self.every = every
        self.tick = preset.tick
        self.windows: dict[str, w.WindowDeclaration] = {}
        self.streams: dict[str, Variable] = {}
        self.used: set[str] = set()
        self.in_place = False
        self.remote = False
        self.internal = 0
        self.key_count = 0
        self.block = 0
        self.labels: dict[str, tuple[int, Variable]] = {}

    @abstractmethod
    def select(self, node: tree.Select) -> tuple[a.Pattern, tuple[Variable, ...]]:
        """A SELECT query and the variables it projects."""

    def visible(self, pattern: a.Pattern | None) -> tuple[Variable, ...]:
        return () if pattern is None else visible(pattern, self.streams)

    # Groups

    def group(self, node: tree.Group) -> a.Pattern:
        pattern, condition = self.parts(node)
        return pattern if condition is None else a.Filter(condition, pattern)

    def parts(self, node: tree.Group) -> tuple[a.Pattern, e.Expression | None]:
        """A group's pattern and the conjunction of its own conditions, which act on the whole group."""
        build = _Build()
        conditions: list[e.Expression] = []
        self.block += 1
        for element in node.elements:
            if isinstance(element, tree.Triples):
                for triple in element.triples:
                    self._triple(build, triple)
            elif isinstance(element, tree.Filter):
                conditions.append(element.condition)
            else:
                build.flush()
                build.length += 1
                if build.length > CHAIN:
                    raise self.error(element.at, f"more than {CHAIN} patterns in one group")
                self._element(build, element)
                self.block += 1
        pattern = build.flush()
        condition = folded(e.And, self._all(conditions)) if conditions else None
        return (EMPTY if pattern is None else pattern), condition

    def _element(self, build: _Build, element: tree.Element) -> None:
        match element:
            case tree.Group():
                build.join(self.group(element))
            case tree.Union(_, groups):
                build.join(folded(a.Union, tuple([self.group(branch) for branch in groups])))
            case tree.Optional(_, group):
                right, condition = self.parts(group)
                build.done = a.LeftJoin(build.done or EMPTY, right, condition)
            case tree.Minus(_, group):
                build.done = a.Minus(build.done or EMPTY, self.group(group))
            case tree.Graph(_, name, group):
                build.join(a.Graph(name, self.group(group)))
            case tree.Service():
                build.join(self._service(element))
            case tree.Window():
                build.join(self._window(element))
            case tree.Stream():
                build.join(self._stream(element))
            case tree.Bind(at, expression, variable):
                if variable in self.visible(build.done):
                    raise self.error(at, f"BIND cannot assign {variable}: the patterns before it bind it")
                build.done = a.extended(build.done or EMPTY, variable, self.expression(expression))
            case tree.Values(_, variables, rows):
                build.join(a.Values(variables, rows))
            case tree.SubSelect(_, select):
                outer, self.aggregates = self.aggregates, None
                build.join(self.select(select)[0])
                self.aggregates = outer

    def _service(self, element: tree.Service) -> a.Pattern:
        outer, self.remote = self.remote, True
        pattern = self.group(element.group)
        self.remote = outer
        return a.Service(element.name, pattern, element.silent)

    # Windows

    def _local(self, at: int) -> None:
        if self.remote:
            raise self.error(at, "a remote SERVICE cannot see this query's windows")

    def _window(self, element: tree.Window) -> a.Pattern:
        self._local(element.at)
        name = element.name
        if isinstance(name, IRI):
            declared = self.windows.get(name.value)
            if declared is None or declared.in_default:
                raise self._undeclared(element.at, name, declared is not None)
            self.used.add(name.value)
        else:
            if all(window.in_default for window in self.windows.values()):
                raise self.error(element.at, f"WINDOW {name} has no named window to range over")
            self.used.update(self.windows)
        return a.Window(name, self.group(element.group))

    def _undeclared(self, at: int, name: IRI, in_default: bool) -> Exception:
        if in_default:
            return self.error(
                at,
                f"the window {name} is part of the default graph and cannot be named",
                f"declare it with FROM NAMED WINDOW {name}, or drop WINDOW around the pattern",
            )
        named = [f"<{window.name}>" for window in self.windows.values() if not window.in_default]
        known = f"declared are {', '.join(named)}" if named else "no window is declared"
        hint = f"{known}; add FROM NAMED WINDOW {name} ON <stream> [RANGE PT10S STEP PT5S]"
        return self.error(at, f"the window {name} is not declared", hint)

    def _stream(self, element: tree.Stream) -> a.Pattern:
        self._local(element.at)
        label, stream = element.label, element.stream
        if isinstance(stream, Variable):
            self.streams[label] = stream
        over = stream if isinstance(stream, Variable) else stream.value
        self.windows[label] = self.declare(label, over, element.window)
        self.used.add(label)
        self.in_place = True
        return a.Window(IRI(label), self.group(element.group))

    def declare(
        self, name: str, stream: str | Variable, spec: tree.WindowSpec, in_default: bool = False
    ) -> w.WindowDeclaration:
        """A window clause as a declaration: what the text leaves unsaid comes from the preset. C-SPARQL's
        COMPUTED EVERY is a periodic report of each window; the tick is the query's."""
        kind = window_kind(spec.shape, self.preset.tumbling)
        options = spec.options
        report, said = self.preset.report_of(kind, self.every), options.report
        if said is not None:
            when = said.window_close or said.content_change or said.periodic is not None
            report = said if when else replace(report, non_empty=True)
        if (report.window_close or report.closed) and not w.closes(kind):
            raise self.error(
                spec.at,
                "a window without a step has no close to report",
                "use REPORT CONTENT CHANGE, or give the window a STEP",
            )
        semantics = w.WindowSemantics(report, self.preset.content, self.tick)
        given = {name: getattr(options, name) for name in options.__slots__ if name != "report"}
        semantics = replace(semantics, **{name: said for name, said in given.items() if said is not None})
        return w.WindowDeclaration(name, stream, kind, semantics, in_default)

    # Triples and paths (sections 18.2.2.4 and 18.2.2.5)

    def fresh(self) -> Variable:
        self.internal += 1
        return Variable(f".b{self.internal - 1}")

    def node(self, node: tree.TermNode | a.Node, at: int) -> a.Node:
        """A blank node is a variable that no query can name, within one basic graph pattern."""
        if isinstance(node, a.TripleTermPattern):
            return a.triple_node(
                *(self.node(each, at) for each in (node.subject, node.predicate, node.object))
            )
        if not isinstance(node, BlankNode):
            return node
        known = self.labels.get(node.label)
        if known is None:
            variable = self.fresh()
            self.labels[node.label] = (self.block, variable)
            return variable
        if known[0] != self.block:
            raise self.error(
                at,
                f"the blank node _:{node.label} is used in two basic graph patterns",
                f"use a variable such as ?{node.label} instead",
            )
        return known[1]

    def _triple(self, build: _Build, triple: tree.Triple) -> None:
        predicate = triple.predicate
        if isinstance(predicate, IRI | Variable):
            subject = self.node(triple.subject, triple.at)
            build.triples.append(a.TriplePattern(subject, predicate, self.node(triple.object, triple.at)))
        else:
            self._path(build, triple, predicate)

    def _path(self, build: _Build, triple: tree.Triple, path: a.Path) -> None:
        """The steps of a path, joined by fresh variables; each end is named where it is first mentioned."""
        steps: list[a.Path] = []
        _flatten(path, False, steps)
        start: tree.TermNode | a.Node = triple.subject
        for place, step in enumerate(steps):
            end = triple.object if place + 1 == len(steps) else None
            if isinstance(step, a.Inverse):
                target = self.fresh() if end is None else self.node(end, triple.at)
                self._step(build, target, step.path, self.node(start, triple.at), triple.at)
            else:
                source = self.node(start, triple.at)
                target = self.fresh() if end is None else self.node(end, triple.at)
                self._step(build, source, step, target, triple.at)
            start = target

    def _step(self, build: _Build, subject: a.Node, path: a.Path, target: a.Node, at: int) -> None:
        if isinstance(path, a.Link):
            build.triples.append(a.TriplePattern(subject, path.iri, target))
            return
        build.join(a.PathPattern(subject, path, target))
        build.length += 1
        if build.length > CHAIN:
            raise self.error(at, f"more than {CHAIN} paths in one group")


def window_kind(shape: tree.WindowShape, tumbling: bool) -> w.WindowKind:
    """The kind of a window; ``tumbling`` decides what a range without a step is."""
    if not isinstance(shape, tree.RangeWindow):
        return shape
    step = shape.range if shape.step is None and tumbling else shape.step
    return w.Range(shape.range, None if shape.each else step)


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
