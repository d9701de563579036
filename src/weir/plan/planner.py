"""Planning a query: build, then one ordered tuple of rewrites, each a stage that can be printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.errors import UsageError
from weir.language.algebra.query import Query
from weir.language.algebra.windows import WindowDeclaration
from weir.plan import nodes as p
from weir.plan.analysis.ticks import Looking, looking
from weir.plan.build import Builder
from weir.plan.rules import StaticParts, hoist_optionals, push_filters
from weir.rdf.terms import Variable


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """``root`` computes Γ(τ), ``looking`` says when; ``stages`` are the plans on the way there, by name."""

    query: Query
    root: p.Plan
    windows: tuple[p.WindowPlan, ...]
    streams: tuple[str, ...]
    looking: Looking
    stages: tuple[tuple[str, p.Plan], ...] = ()


def plan_query(query: Query, streams: Sequence[str] = ()) -> QueryPlan:
    """The plan of a query; ``streams`` are those registered, for windows over a variable stream."""
    by_name = {declared.name: _windows(declared, streams) for declared in query.dataset.windows}
    windows = tuple(window for found in by_name.values() for window in found)
    if len({window.declaration.semantics.tick for window in windows}) > 1:
        raise UsageError("the windows of a query have different ticks", hint="a query has one tick")
    nameable = tuple(window.name for window in query.dataset.named_windows if not window.unnamed)
    plan = Builder(by_name, nameable).build(query.pattern, p.Source())
    stages = [("algebra", plan)]
    for name, rule in (("filters first", push_filters), ("joins flattened", hoist_optionals)):
        plan = rule(plan)
        stages.append((name, plan))
    plan = StaticParts(streamed_default=bool(query.dataset.default_windows)).marked(plan)
    stages.append(("static parts", plan))
    read = tuple(dict.fromkeys(window.stream for window in windows))
    return QueryPlan(query, plan, windows, read, looking(query), tuple(stages))


def _windows(declared: WindowDeclaration, streams: Sequence[str]) -> tuple[p.WindowPlan, ...]:
    if not isinstance(declared.stream, Variable):
        return (p.WindowPlan(declared.name, declared.stream, declared),)
    return tuple(p.WindowPlan(f"{declared.name} {stream}", stream, declared) for stream in sorted(streams))
