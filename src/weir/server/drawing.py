"""A query as plain values for those who draw it: its windows, its plan as a graph, its variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weir.errors import WeirError
from weir.explain.plans import operator_text
from weir.kernel.contract import Background
from weir.kernel.evaluators import choose_evaluator
from weir.kernel.interval.leaves import shown
from weir.language.algebra.expressions import Aggregation
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import Extend, Group, Service
from weir.language.algebra.query import Ask, Construct, Query, Select
from weir.language.algebra.windows import All, Elements, Now, Past, Range, Triples, WindowDeclaration
from weir.language.writing.windows import kind_text, report_text
from weir.linked.service import ServiceResolver
from weir.plan import nodes as p
from weir.plan.planner import plan_query
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Variable

_MS = 1_000
_KINDS: Mapping[type, str] = {
    p.PathPattern: "path",
    p.GraphNames: "names",
    p.Values: "values",
    p.Join: "join",
    p.LeftJoin: "optional",
    p.Minus: "minus",
    p.Union: "union",
    p.Extend: "bind",
    p.Group: "group",
    p.OrderBy: "order",
    p.Project: "project",
    p.Distinct: "distinct",
    p.Slice: "slice",
    p.Graph: "each",
    p.Service: "service",
    p.Static: "static",
}


def form_of(query: Query) -> str:
    """SELECT, CONSTRUCT, ASK or DESCRIBE."""
    match query.form:
        case Select():
            return "SELECT"
        case Construct():
            return "CONSTRUCT"
        case Ask():
            return "ASK"
    return "DESCRIBE"


def variables_of(query: Query) -> list[str]:
    return [each.name for each in query.form.variables] if isinstance(query.form, Select) else []


def counted(query: Query) -> list[str]:
    """The variables that are numbers whatever the data: counts, sums and averages."""
    nodes = list(walk(query.pattern))
    numbers = {
        variable.name
        for node in nodes
        if isinstance(node, Group)
        for variable, aggregate in node.aggregates
        if aggregate.function in (Aggregation.COUNT, Aggregation.SUM, Aggregation.AVG)
    }
    renamed = {node.variable.name for node in nodes if isinstance(node, Extend) and _is(node, numbers)}
    return [name for name in variables_of(query) if name in numbers | renamed]


def _is(node: Extend, names: set[str]) -> bool:
    return isinstance(node.expression, Variable) and node.expression.name in names


def services_of(pattern: Any) -> list[Service]:
    """Every SERVICE call of a pattern."""
    return [node for node in walk(pattern) if isinstance(node, Service)]


def windows_of(query: Query) -> list[dict[str, Any]]:
    """The windows; lengths in milliseconds, or items for windows that count."""
    return [
        {
            "name": window.name,
            "stream": str(window.stream) if isinstance(window.stream, Variable) else window.stream,
            "kind": type(window.kind).__name__.lower(),
            "width": _width(window),
            "step": _step(window),
            "report": report_text(window.semantics.report),
            "text": kind_text(window.kind),
        }
        for window in query.dataset.windows
    ]


def _width(window: WindowDeclaration) -> float | None:
    match window.kind:
        case Range(width, _):
            return width / _MS
        case Past(start, end, _):
            return (start - end) / _MS
        case Triples(count, _) | Elements(count, _):
            return count
        case Now():
            return 0
        case All():
            return None
    return None


def _step(window: WindowDeclaration) -> float | None:
    match window.kind:
        case Range(_, step) | Past(_, _, step):
            return None if step is None else step / _MS
        case Triples(_, step) | Elements(_, step):
            return step
    return None


def routing_of(query: Query, streams: Sequence[str]) -> tuple[str, str | None]:
    """The evaluator that a query gets, and why it is not the interval evaluator."""
    dictionary = Dictionary()
    services = ServiceResolver(dictionary)
    choice = choose_evaluator(query, Background(), dictionary, streams=tuple(streams), services=services)
    return choice.name, choice.reason


def plan_graph(query: Query, streams: Sequence[str]) -> dict[str, Any]:
    """Operators and what flows between them, from the leaves to what is sent out."""
    try:
        root = plan_query(query, streams).root
    except WeirError:
        return {"nodes": [], "edges": []}
    nodes: list[dict[str, Any]] = []
    edges: list[list[str]] = []

    def visit(plan: p.Plan) -> str:
        below = [visit(child) for child in p.children(plan)]
        label, kind = _described(plan)
        id = f"n{len(nodes) + 1}"
        nodes.append({"id": id, "label": label, "kind": kind, "rows": None})
        edges.extend([each, id] for each in below)
        return id

    last = visit(root)
    nodes.append({"id": "out", "label": query.semantics.r2s.name, "kind": "output", "rows": None})
    edges.append([last, "out"])
    return {"nodes": nodes, "edges": edges}


def _described(plan: p.Plan) -> tuple[str, str]:
    """A node's label and kind; leaves are named as the statistics of the evaluator name them."""
    if isinstance(plan, p.Match):
        return shown(plan.source, plan.pattern), "graph" if plan.source.window is None else "window"
    return operator_text(plan), _KINDS[type(plan)]
