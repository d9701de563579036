"""Planning a query: build, then one ordered tuple of rewrites, each a stage that can be printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.errors import UsageError
from weir.language.algebra.query import Query
from weir.language.algebra.windows import WindowDeclaration
from weir.plan import nodes as p
from weir.plan.analysis.ticks import Looking, looking
from weir.plan.build import Builder, Instance
from weir.plan.rules.filters import push_filters
from weir.plan.rules.optionals import hoist_optionals
from weir.plan.rules.static import StaticParts
from weir.rdf.terms import Variable


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A declared window on one stream; ``name`` is what sources refer to."""

    name: str
    stream: str
    declaration: WindowDeclaration


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """``root`` computes Γ(τ), ``looking`` says when; ``stages`` are the plans on the way there, by name."""

    query: Query
    root: p.Plan
    windows: tuple[WindowPlan, ...]
    streams: tuple[str, ...]
    looking: Looking
    stages: tuple[tuple[str, p.Plan], ...] = ()

    @property
    def default_windows(self) -> tuple[WindowPlan, ...]:
        """The windows whose content is part of the default graph."""
        return tuple(window for window in self.windows if window.declaration.in_default)


def plan_query(query: Query, streams: Sequence[str] = ()) -> QueryPlan:
    """The plan of a query; ``streams`` are those registered, for windows over a variable stream."""
    windows: list[WindowPlan] = []
    instances: dict[str, tuple[Instance, ...]] = {}
    for declaration in query.dataset.windows:
        found = _instances(declaration, streams)
        instances[declaration.name] = found
        windows.extend(WindowPlan(each.name, each.stream, declaration) for each in found)
    if len({window.declaration.semantics.tick for window in windows}) > 1:
        raise UsageError("the windows of a query have different ticks", hint="a query has one tick")
    nameable = tuple(window.name for window in query.dataset.named_windows if not window.name.startswith("."))
    plan = Builder(instances, nameable).build(query.pattern, p.Source())
    stages = [("algebra", plan)]
    for name, rule in (("filters first", push_filters), ("joins flattened", hoist_optionals)):
        plan = rule(plan)
        stages.append((name, plan))
    plan = StaticParts(streamed_default=bool(query.dataset.default_windows)).marked(plan)
    stages.append(("static parts", plan))
    read = tuple(dict.fromkeys(window.stream for window in windows))
    return QueryPlan(query, plan, tuple(windows), read, looking(query), tuple(stages))


def _instances(declaration: WindowDeclaration, streams: Sequence[str]) -> tuple[Instance, ...]:
    if not isinstance(declaration.stream, Variable):
        return (Instance(declaration.name, declaration.stream),)
    return tuple(
        Instance(f"{declaration.name} {stream}", stream, declaration.stream.name)
        for stream in sorted(streams)
    )
