"""From a plan to operators that run. Static parts are evaluated here, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count, groupby

import numpy as np

from weir.kernel.contract import Lack, NotCovered
from weir.kernel.expressions import compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.active_graph import Graph, PathPattern
from weir.kernel.operators.context import Surroundings
from weir.kernel.operators.filter import Exists, Extend, Filter
from weir.kernel.operators.group_by import Group, Measure
from weir.kernel.operators.inputs.input import Present, StaticInput
from weir.kernel.operators.inputs.pattern_inputs import PatternInputs
from weir.kernel.operators.join import Join, Policy, Router, TooLarge, reduce_windows
from weir.kernel.operators.left_join import LeftJoin, Minus
from weir.kernel.operators.modifiers import Distinct, OrderBy, Slice
from weir.kernel.operators.operator import Operator, Project, Scan, Union, Values
from weir.kernel.operators.remote_service import Answered, Service
from weir.kernel.operators.row_counts import RowCounts
from weir.kernel.service_calls import Calls
from weir.kernel.windows.instants import HIGHEST, LOWEST, Instants
from weir.kernel.windows.stream_state import Streams
from weir.language.algebra import patterns as a
from weir.language.algebra import scope
from weir.language.algebra.expressions import Aggregate
from weir.language.algebra.scope import has_exists, timely, volatile
from weir.plan import nodes as p
from weir.plan.analysis.bind_joins import asked_by_keys, distributed
from weir.plan.analysis.variables import certain, draws, joinable, marks, possible, reads
from weir.rdf.terms import Variable

VIEW_LIMIT = 4_000_000
"""Static parts whose join would have more rows are kept apart and joined when rows ask for it."""


class Compiler:
    """Operators for one present: a query's slabs, or the one slab of its static parts."""

    def __init__(
        self,
        leaves: PatternInputs,
        router: Router,
        around: Surroundings,
        terms: Terms,
        calls: Calls | None = None,
        counts: RowCounts | None = None,
    ) -> None:
        self.leaves = leaves
        self.counts = RowCounts() if counts is None else counts
        self.calls = calls
        self.router = router
        self.around = around
        self.terms = terms
        self.present = leaves.present
        self.views: list[tuple[str, int]] = []
        self._numbers = count(1)
        self._occurrences: Counter[int] = Counter()
        self._services: list[Service] = []
        self._groups: list[Group] = []

    def compile(self, plan: p.Plan) -> Operator:
        """The operator of a plan; what it gives is counted."""
        made = self._made(plan)
        held = made.give() if isinstance(made, Scan) else made
        if isinstance(held, StaticInput):
            self.counts.hold(plan, len(held))
        elif isinstance(held, Values):
            self.counts.hold(plan, len(held.rows))
        elif isinstance(held, Operator):
            self.counts.watch(plan, made)
        return made

    def _made(self, plan: p.Plan) -> Operator:
        match plan:
            case p.Match(source, pattern):
                nodes = (pattern.subject, pattern.predicate, pattern.object, source.graph)
                names = dict.fromkeys(node.name for node in nodes if isinstance(node, Variable))
                return Scan(tuple(names), self.leaves.match(source, pattern))
            case p.GraphNames(source):
                return Scan(tuple(possible(plan)), self.leaves.names(source))
            case p.PathPattern():
                return PathPattern(plan, self.leaves, self.present)
            case p.Parameters(variables, _, table, places):
                return Values(variables, table.rows[:, places], self.present)
            case p.Values(variables, rows):
                encoded = [
                    [0 if term is None else self.leaves.dictionary.encode(term) for term in row]
                    for row in rows
                ]
                return Values(variables, encoded, self.present)
            case p.Static(inner):
                return self._static(inner)
            case p.Join():
                return self._joined(plan)
            case p.LeftJoin(left, right, condition):
                check = None if condition is None else self._filter(condition, anonymous=True)
                one = self.compile(left)
                if isinstance(right, p.Service):
                    return self._service(one, right, optional=True, check=check)
                two = self.compile(right)
                nested = two.nests and _probes(right) and joinable(right, possible(left))
                return LeftJoin(one, two, check, nested=nested)
            case p.Minus(left, right) if (keyed := asked_by_keys(left, right)) is not None:
                return Minus(self.compile(left), self.compile(keyed), nested=False)
            case p.Minus(left, right):
                one, two = self.compile(left), self.compile(right)
                nested = two.nests and _probes(right) and joinable(right, possible(left))
                return Minus(one, two, nested=nested and bool(certain(left) & certain(right)))
            case p.Union(parts):
                return Union([self.compile(part) for part in parts])
            case p.Extend():
                return self._bind(plan)
            case p.Group(inner, keys, aggregates):
                before = len(self._services)
                group = self._grouped(self.compile(inner), keys, aggregates)
                services = self._services[before:]
                return Answered(group, services, self.present) if services and not keys else group
            case p.OrderBy():
                return self._ordered(plan)
            case p.Project(inner, variables):
                return Project(self.compile(inner), variables)
            case p.Distinct(inner):
                return Distinct(self.compile(inner), ordered=_is_ordered(inner))
            case p.Slice(inner, offset, limit, ordered):
                return Slice(self.compile(inner), offset, limit, self.terms, ordered=ordered)
            case p.Graph():
                return self._each(plan)
            case p.Service():
                return self._federated(p.Join((plan,)))

    # Joins and conditions

    def _joined(self, plan: p.Join) -> Operator:
        branches = distributed(plan)
        if branches is not None:
            return self.compile(branches)
        if any(isinstance(part, p.Service) for part in plan.parts):
            return self._federated(plan)
        parts: list[tuple[str, Operator]] = []
        conditions = list(plan.conditions)
        waiting = list(plan.parts)
        while waiting:
            part = waiting.pop(0)
            try:
                operator = self._small(part)
            except TooLarge:
                # A static join with too large a result: its parts take part one by one.
                if not isinstance(part, p.Static) or not isinstance(part.plan, p.Join):
                    raise
                waiting = [p.Static(each) for each in part.plan.parts] + waiting
                conditions += part.plan.conditions
                continue
            parts.append((_shown(part), operator))
        filters = [self._filter(condition) for condition in conditions]
        reduce_windows([operator for _, operator in parts])
        if len(parts) == 1 and not filters:
            return parts[0][1]
        return Join(parts, filters, self.present, self.router)

    def _small(self, part: p.Plan) -> Operator:
        """The operator of a part. A static join of patterns in files is no smaller than the largest of them,
        for they are reduced by what they share, so it is not tried where that is too large."""
        whole = part.plan if isinstance(part, p.Static) else None
        if isinstance(whole, p.Join) and not any(each.tests for each in whole.conditions):
            for each in whole.parts:
                leaf = self.leaves.match(each.source, each.pattern)() if isinstance(each, p.Match) else None
                if isinstance(leaf, StaticInput) and leaf.stored and len(leaf) > VIEW_LIMIT:
                    raise TooLarge(f"join with {leaf.name}: more than {VIEW_LIMIT} rows")
        return self.compile(part)

    def _federated(self, plan: p.Join) -> Operator:
        """Everything else first: its rows say what to ask the endpoints for."""
        others = tuple(part for part in plan.parts if not isinstance(part, p.Service))
        bound = certain(p.Join(others))
        early = tuple(
            condition
            for condition in plan.conditions
            if reads(condition) <= bound and not volatile(condition.expression)
        )
        operator = self.compile(p.Join(others, early) if others else p.UNIT)
        late = [condition for condition in plan.conditions if not others or condition not in early]
        waiting = [part for part in plan.parts if isinstance(part, p.Service)]
        while waiting:
            operator = self._service(operator, waiting.pop(0))
            # What no SERVICE still to come can bind is decided before it is asked.
            open_names = frozenset(v.name for part in waiting for v in scope.visible(part))
            ready = [each for each in late if not waiting or not reads(each) & open_names]
            late = [each for each in late if each not in ready]
            if ready:
                filters = [self._filter(condition) for condition in ready]
                operator = Join([("service", operator)], filters, self.present, self.router)
        return operator

    def _service(
        self,
        left: Operator,
        service: a.Service,
        *,
        optional: bool = False,
        check: Filter | None = None,
    ) -> Operator:
        if self.calls is None:
            raise NotCovered(Lack.NO_ENDPOINTS)
        number = self.calls.place(service)
        self._occurrences[number] += 1
        made = Service(
            left,
            service,
            self.present,
            self.calls,
            self.leaves.dictionary,
            f"{number}.{self._occurrences[number]}",
            optional,
            check,
        )
        self._services.append(made)
        self.counts.watch(service, made)
        return made

    def _filter(self, formula: p.Formula, place: str = "", *, anonymous: bool = False) -> Filter:
        """A condition or value ready to run; ``place`` is the variable that it binds."""
        probes = [self._probe(test.name, test.plan, test.outer) for test in formula.tests]
        compiled = compile(formula.expression, self.terms, place=place, written=formula.written)
        if compiled.timestamps or (compiled.volatile and timely(formula.expression)):
            self.around.timed = self.around.timed or self.leaves.timed()
        return Filter(compiled, probes, self.around, reads(formula), anonymous=anonymous)

    def _probe(self, name: str, plan: p.Plan, outer: tuple[str, ...]) -> Exists:
        if draws(plan):
            raise NotCovered(Lack.DRAWS_IN_EXISTS)
        operator = self.compile(plan)
        # The graph that an enclosing GRAPH ?g is at is an outer value like any other.
        graphs = marks(plan)
        if graphs:
            outer = (*(outer or sorted(possible(plan))), *sorted(graphs))
        if outer and not operator.nests:
            raise NotCovered(Lack.NESTED_SERVICE)
        return Exists(name, operator, outer or None)

    # Other operators

    def _bind(self, plan: p.Extend) -> Operator:
        operator = self.compile(plan.plan)
        checks = [(name, self._filter(formula, name)) for name, formula in plan.bindings]
        if any(volatile(formula.expression) for _, formula in plan.bindings):
            # RAND and its like draw for the solution as it was before all of them.
            bound = {name for name, _ in plan.bindings}
            if any(bound & possible(test.plan) for _, formula in plan.bindings for test in formula.tests):
                raise NotCovered(Lack.DRAWS_BESIDE_EXISTS)
            return Extend(operator, checks)
        # EXISTS may look at a variable that is bound right before it.
        for tested, run in groupby(checks, key=lambda each: bool(each[1].probes)):
            bindings = list(run)
            for some in [[each] for each in bindings] if tested else [bindings]:
                operator = Extend(operator, some)
        return operator

    def _grouped(
        self, inner: Operator, keys: tuple[str, ...], aggregates: Sequence[tuple[str, Aggregate]]
    ) -> Operator:
        measures: list[Measure] = []
        bindings: list[tuple[str, Filter]] = []
        for name, aggregate in aggregates:
            operand = aggregate.operand
            column: str | None = None
            if isinstance(operand, Variable) and operand.name in inner.variables:
                column = operand.name
            elif operand is not None:
                if has_exists(operand):
                    raise NotCovered(Lack.DRAWS_WITH_EXISTS)
                column = f".operand{next(self._numbers)}"
                bindings.append((column, self._filter(p.Formula(operand), name)))
            measures.append(Measure(name, aggregate, column))
        if bindings:
            inner = Extend(inner, bindings)
        made = Group(inner, keys, measures, self.present, self.terms)
        # What SERVICE is asked for depends on the instants there are.
        made.linear &= not self._services
        self._groups.append(made)
        return made

    @property
    def keeps_totals(self) -> bool:
        """Whether some group goes on from the evaluation before."""
        return any(each.linear for each in self._groups)

    def forget_totals(self) -> None:
        """What windows hold has been replaced."""
        for each in self._groups:
            each.forget()

    def _ordered(self, plan: p.OrderBy) -> Operator:
        inner = self.compile(plan.plan)
        keys = []
        bindings: list[tuple[str, Filter]] = []
        for key in plan.keys:
            if has_exists(key.expression):
                raise NotCovered(Lack.DRAWS_WITH_EXISTS)
            if isinstance(key.expression, Variable):
                keys.append((key, key.expression.name))
            else:
                column = f".order{next(self._numbers)}"
                bindings.append((column, self._filter(p.Formula(key.expression), anonymous=True)))
                keys.append((key, column))
        visible = plan.visible
        if visible is None:
            visible = tuple(name for name in inner.variables if not name.startswith("."))
        if bindings:
            inner = Extend(inner, bindings)
        return OrderBy(inner, keys, visible, self.terms)

    def _each(self, plan: p.Graph) -> Operator:
        if draws(plan.plan):
            raise NotCovered(Lack.DRAWS_IN_GRAPH)
        named = self.leaves.names(type(plan.source)(plan.source.window, Variable(plan.name)))
        inner = self.compile(plan.plan)
        if not inner.nests:
            raise NotCovered(Lack.NESTED_SERVICE)
        return Graph(named, inner, plan.name, plan.variable)

    # Static parts

    def _static(self, plan: p.Plan) -> Operator:
        """A view; a single pattern is its own."""
        if isinstance(plan, p.Match):
            return self.compile(plan)
        times = np.append(LOWEST, self.leaves.graphs.changes())
        present = Present(Instants(times, np.ones(len(times), np.bool_)))
        leaves = PatternInputs(present, self.leaves.graphs, Streams(), self.leaves.dictionary)
        router = Router(Policy.COST, Counter(), VIEW_LIMIT)
        inner = Compiler(
            leaves, router, Surroundings(present, self.around.query), self.terms, None, self.counts
        )
        rows = inner.compile(plan).run()
        view = rows.keep(name for name in rows.columns if not name.startswith(".order"))
        name = f"view {len(self.views) + 1}"
        self.views.append((name, len(view)))
        ends = np.append(times, HIGHEST)
        found = StaticInput(name, self.present, view.during(ends[view.start], ends[view.end]))
        return Scan(view.variables, lambda: found)


def _probes(plan: p.Plan) -> bool:
    """Whether a plan evaluated for given rows costs about what it finds, and gives the same as a join."""
    tested = isinstance(plan, p.Extend) and any(formula.tests for formula in p.formulas(plan))
    if tested or isinstance(plan, p.Graph | p.Slice):
        return False
    return not draws(plan) and all(_probes(child) for child in p.children(plan))


def _is_ordered(plan: p.Plan) -> bool:
    while isinstance(plan, p.Slice | p.Distinct):
        plan = plan.plan
    if isinstance(plan, p.Project):
        plan = plan.plan
    return isinstance(plan, p.OrderBy)


def _shown(plan: p.Plan) -> str:
    return type(plan).__name__.lower()
