"""The stages of a query as text: ast, algebra, dataset, semantics."""

from __future__ import annotations

from collections.abc import Sequence

from weir.language.algebra import patterns as a
from weir.language.algebra.fold import parts
from weir.language.algebra.query import Construct, Describe, Query, Select
from weir.language.algebra.windows import AlignedTo, AtFirst, Range, StartAt, WindowDeclaration, closes
from weir.language.syntax.durations import written, written_instant
from weir.language.syntax.outline import outline
from weir.language.writing.dialects import write
from weir.language.writing.expressions import ExpressionWriter
from weir.language.writing.terms import Terms
from weir.language.writing.windows import kind_text, report_text, tick_text
from weir.rdf.terms import Variable


def stages(query: Query) -> dict[str, str]:
    """Each stage's name and text, in order. The query's own text is read again for its syntax tree."""
    return {
        "ast": outline(query.text or write(query), query.dialect) or type(query.form).__name__,
        "algebra": algebra_text(query),
        "dataset": dataset_text(query),
        "semantics": semantics_text(query),
    }


# The algebra


class _AlgebraWriter(ExpressionWriter):
    """One operator a line, operands indented below it."""

    def inline(self, pattern: a.Pattern) -> str:
        outer, self.lines = self.lines, []
        self.pattern(pattern, 0)
        text = " ".join(line.strip() for line in self.lines)
        self.lines = outer
        return f"{{ {text} }}"

    def pattern(self, pattern: a.Pattern, depth: int) -> None:
        self.lines.append("  " * depth + f"{type(pattern).__name__} {self._detail(pattern)}".rstrip())
        below = "  " * (depth + 1)
        match pattern:
            case a.BGP(triples):
                self.lines += [below + self.triple(triple) for triple in triples]
            case a.Values(_, rows):
                self.lines += [f"{below}({' '.join(map(self.terms.node, row))})" for row in rows]
        for part in parts(pattern):
            if isinstance(part, a.Pattern):
                self.pattern(part, depth + 1)

    def _detail(self, pattern: a.Pattern) -> str:
        """What an operator has beside its operands."""
        match pattern:
            case a.PathPattern(subject, path, end):
                return f"{self.node(subject)} {self.terms.path(path)} {self.node(end)}"
            case a.Values(variables, _):
                return f"({' '.join(map(self.node, variables))})"
            case a.Filter(condition, _) | a.LeftJoin(_, _, condition) if condition is not None:
                return self.expression(condition)
            case a.Graph(name, _) | a.Window(name, _):
                return self.node(name)
            case a.Service(name, _, silent):
                return f"{'silent ' if silent else ''}{self.node(name)}"
            case a.Extend(_, bindings):
                return ", ".join(f"{self.node(name)} := {self.expression(value)}" for name, value in bindings)
            case a.Group(_, keys, aggregates):
                made = [f"{self.node(variable)} := {self.aggregate(found)}" for variable, found in aggregates]
                return ", ".join([*map(self.node, keys), *made])
            case a.OrderBy(_, order):
                ways = [("DESC" if key.descending else "ASC", key.expression) for key in order]
                return ", ".join(f"{way}({self.expression(by)})" for way, by in ways)
            case a.Project(_, variables):
                return " ".join(map(self.node, variables))
            case a.Slice(_, offset, limit):
                return f"offset {offset} limit {'none' if limit is None else limit}"
        return ""

    def node(self, node: a.Node) -> str:
        return f"?{node.name}" if isinstance(node, Variable) else self.terms.node(node)

    def triple(self, triple: a.TriplePattern) -> str:
        return " ".join(map(self.node, triple.nodes))


def algebra_text(query: Query) -> str:
    """Form and algebra expression, an operator a line; internal variables start with a dot."""
    writer, form = _AlgebraWriter(Terms({})), query.form
    listed: Sequence[a.Node] = form.variables if isinstance(form, Select) else ()
    listed = form.targets if isinstance(form, Describe) else listed
    writer.lines.append(f"{type(form).__name__} {' '.join(map(writer.node, listed))}".rstrip())
    if isinstance(form, Construct):
        writer.lines += [f"  {writer.triple(triple)}" for triple in form.template]
    writer.pattern(query.pattern, 0)
    return "\n".join(writer.lines)


# Dataset and semantics


def dataset_text(query: Query) -> str:
    """The RSP-QL dataset SDS: default graph, named graphs, named windows on streams."""
    dataset = query.dataset
    default = [f"<{graph}>" for graph in dataset.default]
    default += [_window(window) for window in dataset.default_windows]
    if dataset.windows or not (dataset.default or dataset.named):
        default.insert(0, "the default graph given at registration")
    lines = ["G0 = " + " ∪ ".join(default or ["{}"])]
    lines += [f"(<{graph}>, the graph <{graph}>)" for graph in dataset.named]
    lines += [f"(<{window.name}>, {_window(window)})" for window in dataset.named_windows]
    return "\n".join(lines)


def _window(window: WindowDeclaration) -> str:
    kind = window.kind
    over = str(window.stream) if isinstance(window.stream, Variable) else f"<{window.stream}>"
    if isinstance(kind, Range):
        step = "every message" if kind.step is None else written(kind.step)
        return f"W(α={written(kind.range)}, β={step})({over})"
    return f"W({kind_text(kind)})({over})"


def semantics_text(query: Query) -> str:
    """Evaluation times and what is sent out, every option named."""
    semantics = query.semantics
    lines = [
        f"dialect     {query.dialect.value}",
        f"output      {'-' if query.output is None else query.output}",
        f"operator    {semantics.r2s.name}",
        f"previous    {semantics.previous.value}",
        f"emit after  {written(semantics.emit_after)}",
        f"empty       {'reported' if semantics.report_empty else 'not reported'}",
    ]
    if not query.dataset.windows:
        lines.append("evaluated   once")
    for window in query.dataset.windows:
        lines += _window_semantics(window)
    lines += [f"warning     {warning}" for warning in query.warnings]
    return "\n".join(lines)


def _window_semantics(window: WindowDeclaration) -> list[str]:
    """One option a line; t0 and bounds only where the window has a grid for them."""
    given = window.semantics
    lines = [
        f"window      <{window.name}>" + (" in the default graph" if window.in_default else ""),
        f"  report    {report_text(given.report)}",
        f"  content   {given.content.value}",
        f"  tick      {tick_text(given.tick)}",
        f"  lateness  {written(given.lateness)}",
        f"  ahead     {written(given.ahead)}",
    ]
    if given.times_distinct:
        lines.append("  times     DISTINCT")
    if closes(window.kind) or given.start is not None or given.report.periodic is not None:
        lines += [f"  t0        {_start(window)}", f"  bounds    {given.bounds.value}"]
    return lines


def _start(window: WindowDeclaration) -> str:
    match window.semantics.start:
        case StartAt(instant):
            return written_instant(instant)
        case AlignedTo(duration):
            return f"aligned to multiples of {written(duration)} since 1970"
        case AtFirst():
            return "the time of the first message"
    return "aligned to multiples of the step since 1970"
