"""The plan of a query as text: its operators as a tree, its windows in words, what has to be kept."""

from __future__ import annotations

from weir.language.algebra import patterns as a
from weir.language.algebra import windows as w
from weir.language.syntax.durations import written
from weir.language.writing.expressions import ExpressionWriter
from weir.language.writing.terms import Terms
from weir.plan import nodes as p
from weir.plan.analysis.bind_joins import Asked
from weir.plan.planner import QueryPlan


def plan_text(plan: QueryPlan) -> str:
    """The operators, one a line, operands indented below; leaves say where they read."""
    writer = _Writer(Terms({}))
    writer.show(plan.root, 0)
    return "\n".join(writer.lines)


def service_text(asked: Asked) -> str:
    """By what an endpoint is asked, with a warning where it may be asked for everything."""
    name = Terms({}).node(asked.service.name)
    always, sometimes = _names(asked.always), _names(asked.sometimes)
    if always:
        also = f", and by {sometimes} where a row binds it" if sometimes else ""
        return f"{name} is asked by {always}{also}"
    if sometimes:
        return (
            f"{name} is asked by {sometimes} where a row binds it\n"
            f"warning: a row that binds none of them asks {name} for everything that the pattern matches"
        )
    return (
        f"{name} is asked for everything that the pattern matches\n"
        "warning: nothing beside it binds a variable of the pattern; bind one, or give it a cache\n"
        "an answer that the endpoint cuts is read in pages"
    )


def operator_text(plan: p.Plan) -> str:
    """One operator without its operands."""
    return _Writer(Terms({})).line(plan)


class _Writer(ExpressionWriter):
    def inline(self, pattern: a.Pattern) -> str:
        return "{ … }"

    def show(self, plan: p.Plan, depth: int) -> None:
        while isinstance(plan, p.Join) and len(plan.parts) == 1 and not plan.conditions:
            plan = plan.parts[0]
        self.lines.append("  " * depth + self.line(plan))
        for formula in p.formulas(plan):
            self._tests(formula, depth + 1)
        for child in p.children(plan):
            self.show(child, depth + 1)

    def _tests(self, formula: p.Formula, depth: int) -> None:
        for test in formula.tests:
            put_in = f" for each {_names(test.outer)}" if test.outer else ""
            self.lines.append("  " * depth + f"?{test.name} says whether there is{put_in}")
            self.show(test.plan, depth + 1)

    def line(self, plan: p.Plan) -> str:
        node = self.terms.node
        match plan:
            case p.Match(source, triple):
                return f"{_place(source)}: {' '.join(map(node, triple.nodes))}"
            case p.PathPattern(source, subject, path, object):
                return f"{_place(source)}: {node(subject)} {self.terms.path(path)} {node(object)}"
            case p.GraphNames(source):
                return f"name of {_place(source)}"
            case p.Values(variables, rows):
                return f"{len(rows)} inline row{'s' * (len(rows) != 1)} of {_names(variables) or 'nothing'}"
            case p.Join(parts, conditions):
                kept = "".join(f", where {self.expression(each.expression)}" for each in conditions)
                return ("join" if len(parts) > 1 else "rows") + kept
            case p.LeftJoin(_, _, condition):
                return "optional" + (
                    "" if condition is None else f", if {self.expression(condition.expression)}"
                )
            case p.Minus():
                return "minus"
            case p.Union():
                return "union"
            case p.Extend(_, bindings):
                values = [f"?{name} := {self.expression(formula.expression)}" for name, formula in bindings]
                return f"bind {', '.join(values)}"
            case p.Group(_, keys, aggregates):
                made = ", ".join(f"?{name} := {self.aggregate(each)}" for name, each in aggregates)
                return f"group by {_names(keys) or 'nothing'}" + (f": {made}" if made else "")
            case p.OrderBy(_, order):
                shown = [
                    f"{self.expression(each.expression)}{' descending' * each.descending}" for each in order
                ]
                return f"order by {', '.join(shown)}"
            case p.Project(_, variables):
                return f"project {_names(variables) or 'nothing'}"
            case p.Distinct():
                return "distinct"
            case p.Slice(_, offset, limit, _):
                return f"rows from {offset}" + ("" if limit is None else f", at most {limit}")
            case p.Graph(source, _, variable, _):
                within = "" if source.window is None else f" of window <{source.window}>"
                return f"for each graph ?{variable}{within}"
            case p.Service(name):
                return f"service {node(name)}, asked for the rows beside it"
            case p.Static():
                return "static part, evaluated once and indexed"


def _names(names: tuple[str, ...]) -> str:
    return " ".join(f"?{name}" for name in names)


def _place(source: p.Source) -> str:
    graph = "" if source.graph is None else f"graph {source.graph}"
    if source.window is not None:
        return f"window <{source.window}>" + (f", {graph}" if graph else "")
    return graph or "default graph"


# Windows in words


def windows_text(plan: QueryPlan) -> str:
    """For each window: what it holds, when it is looked at, and what is kept of its stream for it."""
    if not plan.windows:
        return "none: the query is evaluated once"
    lines: list[str] = []
    for window in plan.windows:
        declared = window.declaration
        where = "part of the default graph" if declared.in_default else "named"
        lines.append(f"<{window.name}> on <{window.stream}>, {where}")
        bag = declared.semantics.content is w.Content.BAG
        content = "bag: each occurrence of a triple counts" if bag else "graph: equal triples count once"
        lines.append(f"    holds    {_holds(declared.kind, declared)}, as a {content}")
        lines.append(f"    seen     {_seen(declared)}")
        lines.append(f"    keeps    {_keeps(plan, window)}")
    if plan.looking.reason is not None:
        costs = (
            "costs what BATCH does" if plan.looking.tick.kind is w.TickKind.BATCH else "is more than BATCH"
        )
        lines.append(f"TICK CHANGE {costs}: {plan.looking.reason}")
    return "\n".join(lines)


def _holds(kind: w.WindowKind, window: w.WindowDeclaration) -> str:
    ends = " (after the open up to the close)" * (window.semantics.bounds is w.Bounds.OPEN_CLOSED)
    match kind:
        case w.Range(width, None):
            return f"the last {written(width)} up to each message"
        case w.Range(width, step) if step == width:
            return f"{written(width)} at a time, one stretch after the other{ends}"
        case w.Range(width, step):
            assert step is not None
            return f"the last {written(width)} every {written(step)}{ends}"
        case w.Past(start, end, step):
            every = "at each message" if step is None else f"every {written(step)}"
            return f"what came between {written(start)} and {written(end)} ago, {every}{ends}"
        case w.Now():
            return "the messages of the current timestamp"
        case w.All():
            return "everything so far"
        case w.Triples(count, step) | w.Elements(count, step):
            what = "triples" if isinstance(kind, w.Triples) else "messages"
            return f"the {count} latest {what}" + ("" if step is None else f" after every {step}")


def _seen(window: w.WindowDeclaration) -> str:
    report, tick = window.semantics.report, window.semantics.tick
    when = [text for text, given in _reports(report, window.kind) if given]
    text = " and ".join(when)
    if report.non_empty:
        text += ", unless it is empty"
    if tick.kind is w.TickKind.TUPLE:
        text += "; message by message"
    elif tick.kind is w.TickKind.CHANGE:
        text += "; when a row leaves or a graph changes, too" if report.content_change else ""
    elif tick.kind is w.TickKind.TIME and tick.every is not None:
        text += f"; at the next multiple of {written(tick.every)}"
    if window.semantics.lateness:
        text += f"; messages may be {written(window.semantics.lateness)} late"
    return text


def _reports(report: w.Report, kind: w.WindowKind) -> list[tuple[str, bool]]:
    silent = not report.window_close and not report.content_change and report.periodic is None
    steps = w.closes(kind)
    every = "" if report.periodic is None else written(report.periodic)
    return [
        ("at each close", report.window_close or (silent and steps)),
        ("whenever a message comes", report.content_change or (silent and not steps)),
        (f"every {every}" + (" as it closed last" if report.closed else ""), report.periodic is not None),
    ]


def _keeps(plan: QueryPlan, window: p.WindowPlan) -> str:
    """An estimate of the state: how many patterns read the window, and for how long a triple is kept."""
    patterns = {
        (node.source.graph, node.pattern)
        for node in p.below(plan.root)
        if isinstance(node, p.Match)
        and (
            node.source.window == window.name or (window.declaration.in_default and node.source == p.Source())
        )
    }
    count = len(patterns)
    if not count:
        return "no triples, only the times of messages"
    what = f"the triples of {count} pattern{'s' * (count != 1)}"
    match window.declaration.kind:
        case w.Now():
            return f"{what}, of one timestamp"
        case w.All():
            once = window.declaration.semantics.content is w.Content.GRAPH
            return f"{what}, for ever{' (each distinct one once)' if once else ': without bound'}"
        case w.Range(width, step):
            return f"{what}, of {written(width + (step or 0))} at most"
        case w.Past(start, _, step):
            return f"{what}, of {written(start + (step or 0))} at most"
        case w.Triples(number, step):
            return f"{what}, at most {number + (step or 0):,} of them"
        case w.Elements(number, step):
            return f"{what}, of {number + (step or 0):,} messages at most"


def parts_text(plan: QueryPlan) -> str:
    """How many parts of the plan are streamed, static and remote."""
    nodes = list(p.below(plan.root, closed=(p.Static,)))
    kinds = {
        "stream patterns": p.Match | p.PathPattern | p.GraphNames,
        "static parts": p.Static,
        "service calls": p.Service,
    }
    return ", ".join(f"{sum(isinstance(n, kind) for n in nodes)} {name}" for name, kind in kinds.items())
