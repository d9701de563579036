"""Query forms and solution modifiers → algebra (SPARQL 1.1 sections 18.2.3 to 18.2.5), and the quadruple."""

from __future__ import annotations

from collections.abc import Sequence

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra import query as q
from weir.language.algebra.fold import folded
from weir.language.algebra.scope import mentioned
from weir.language.lowering.expressions import has_aggregate
from weir.language.lowering.patterns import EMPTY, PatternLowering, joined
from weir.language.presets import Preset
from weir.language.syntax import tree
from weir.language.syntax.lexer import Source
from weir.rdf.terms import IRI, BlankNode, Variable


def lower(unit: tree.Unit, source: Source, preset: Preset) -> q.Query:
    """The query that a syntax tree means in a dialect."""
    return _QueryLowering(source, preset, unit.settings.computed_every).query(unit)


class _QueryLowering(PatternLowering):
    def query(self, unit: tree.Unit) -> q.Query:
        default, named = self._declare(unit.dataset)
        form, pattern = self._body(unit.body)
        windows = tuple(self.windows.values())
        if self.in_place:
            windows = tuple(sorted(windows, key=lambda window: int(window.name[1:])))
        settings = unit.settings
        semantics = q.Semantics(
            settings.r2s or (self.preset.r2s if windows else q.R2S.RSTREAM),
            settings.previous or (self.preset.previous if windows else q.Previous.EVALUATION),
            settings.emit_after or 0,
            bool(settings.empty),
        )
        warnings = tuple(
            f"the window <{window.name}> is declared but not used"
            for window in windows
            if not window.in_default and window.name not in self.used
        )
        return q.Query(
            form,
            pattern,
            q.Dataset(default, named, windows),
            semantics,
            settings.output,
            self.preset.dialect,
            self.source.text,
            warnings,
        )

    def _declare(self, clauses: Sequence[tree.DatasetClause]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        default: dict[str, None] = {}
        named: dict[str, None] = {}
        self._one_tick([clause.window for clause in clauses if not isinstance(clause, tree.FromGraph)])
        for clause in clauses:
            match clause:
                case tree.FromGraph(_, graph, is_named):
                    (named if is_named else default)[graph.value] = None
                    continue
                case tree.FromWindow(at, name, stream, window, is_named):
                    label, in_default = name.value, not is_named
                case tree.FromStream(at, label, stream, window):
                    in_default = True
            if label in self.windows:
                raise self.error(at, f"the window <{label}> is declared twice")
            self.windows[label] = self.declare(label, stream.value, window, in_default)
        return tuple(default), tuple(named)

    def _one_tick(self, windows: Sequence[tree.WindowSpec]) -> None:
        """The tick that some windows name is that of all."""
        named = [window for window in windows if window.options.tick is not None]
        for window in named:
            if window.options.tick != named[0].options.tick:
                raise self.error(
                    window.at,
                    "the windows of a query name different ticks",
                    "a query has one tick: name it once, or the same in all of its windows",
                )
            assert window.options.tick is not None
            self.tick = window.options.tick

    # Forms

    def _body(self, body: tree.Body) -> tuple[q.Form, a.Pattern]:
        match body:
            case tree.Select():
                pattern, variables = self.select(body)
                return q.Select(variables), pattern
            case tree.Construct(_, template, where, modifiers):
                pattern = self._modified(self.group(where), modifiers)
                if template is None:
                    template = tuple(
                        triple
                        for block in where.elements
                        if isinstance(block, tree.Triples)
                        for triple in block.triples
                    )
                return q.Construct(self._template(template)), pattern
            case tree.Ask(_, where, modifiers):
                return q.Ask(), self._modified(self.group(where), modifiers)
            case tree.Describe(_, targets, described, modifiers):
                pattern = self._modified(EMPTY if described is None else self.group(described), modifiers)
                shown: tuple[IRI | Variable, ...]
                if targets is None:
                    shown = tuple(v for v in self.visible(pattern) if not v.internal)
                else:
                    shown = tuple(dict.fromkeys(targets))
                return q.Describe(shown), pattern

    def _template(self, triples: Sequence[tree.Triple]) -> tuple[a.TriplePattern, ...]:
        """Blank nodes of a template are new ones for each solution, whatever the pattern calls its own."""
        labels: dict[str, Variable] = {}

        def node(term: tree.TermNode | a.Node) -> a.Node:
            if isinstance(term, a.TripleTermPattern):
                return a.triple_node(node(term.subject), node(term.predicate), node(term.object))
            if isinstance(term, BlankNode):
                return labels.setdefault(term.label, Variable(f".t{len(labels)}"))
            return term

        found = []
        for triple in triples:
            predicate = triple.predicate
            assert isinstance(predicate, IRI | Variable)
            found.append(a.TriplePattern(node(triple.subject), predicate, node(triple.object)))
        return tuple(found)

    # Modifiers

    def select(self, node: tree.Select) -> tuple[a.Pattern, tuple[Variable, ...]]:
        pattern = self.group(node.where)
        modifiers = node.modifiers
        items = node.items
        if items is None:
            if modifiers.group_by or _aggregated(modifiers):
                raise self.error(node.at, "SELECT * cannot be grouped", "name the variables to select")
            pattern = self._modified(pattern, modifiers, ())
            variables = tuple(v for v in self.visible(pattern) if not v.internal)
        else:
            variables = tuple(dict.fromkeys([item.variable for item in items if item.variable is not None]))
            pattern = self._modified(pattern, modifiers, items)
        pattern = a.Project(pattern, variables)
        if node.distinct:
            pattern = a.Distinct(pattern)
        elif node.reduced:
            pattern = a.Reduced(pattern)
        return self._sliced(pattern, modifiers), variables

    def _sliced(self, pattern: a.Pattern, modifiers: tree.Modifiers) -> a.Pattern:
        if modifiers.limit is None and not modifiers.offset:
            return pattern
        return a.Slice(pattern, modifiers.offset or 0, modifiers.limit)

    def _modified(
        self, pattern: a.Pattern, modifiers: tree.Modifiers, items: Sequence[tree.Item] | None = None
    ) -> a.Pattern:
        """GROUP BY, HAVING, VALUES, expressions of SELECT and ORDER BY, in that order.

        Only SELECT passes ``items``; the other forms are sliced here, having no projection.
        """
        computed = [item for item in items or () if item.expression is not None]
        if not computed and modifiers == _NO_MODIFIERS:
            return pattern
        grouped = bool(modifiers.group_by) or _aggregated(modifiers) or _aggregates_in(computed)
        inner = self.visible(pattern) if computed or grouped else ()
        outer = self.aggregates
        if grouped:
            pattern = self._grouped(pattern, modifiers, items, inner)
        else:
            self.aggregates = None
            if modifiers.having:
                pattern = a.Filter(folded(e.And, self._all(modifiers.having)), pattern)
            pattern = self._with_values(pattern, modifiers)
            taken = set(inner)
            for item in computed:
                pattern = self._extend(pattern, item, taken)
            if modifiers.order_by:
                pattern = a.OrderBy(pattern, self._order_keys(modifiers))
        self.aggregates = outer
        return self._sliced(pattern, modifiers) if items is None else pattern

    def _with_values(self, pattern: a.Pattern, modifiers: tree.Modifiers) -> a.Pattern:
        values = modifiers.values
        return pattern if values is None else joined(pattern, a.Values(values.variables, values.rows))

    def _extend(self, pattern: a.Pattern, item: tree.Item, taken: set[Variable]) -> a.Pattern:
        variable = item.variable
        assert variable is not None and item.expression is not None
        if variable in taken:
            raise self.error(item.at, f"{variable} has a value already and cannot be assigned")
        taken.add(variable)
        return a.extended(pattern, variable, self.expression(item.expression))

    def _order_keys(self, modifiers: tree.Modifiers) -> tuple[a.OrderKey, ...]:
        return tuple(a.OrderKey(self.expression(o.expression), o.descending) for o in modifiers.order_by)

    # Groups (section 18.2.4.1)

    def _grouped(
        self,
        pattern: a.Pattern,
        modifiers: tree.Modifiers,
        items: Sequence[tree.Item] | None,
        inner: tuple[Variable, ...],
    ) -> a.Pattern:
        self.aggregates = None
        keys: list[Variable] = []
        taken = set(inner)
        for key in modifiers.group_by:
            if key.expression is None:
                assert key.variable is not None
                keys.append(key.variable)
                continue
            named = key.variable
            if named is None:
                named = Variable(f".k{self.key_count}")
                self.key_count += 1
            pattern = self._extend(pattern, tree.Item(key.at, named, key.expression), taken)
            keys.append(named)
        collected: dict[e.Aggregate, Variable] = {}
        self.aggregates = collected
        extensions: list[tuple[Variable, e.Expression]] = []
        known = set(keys)
        for item in items or ():
            self._item(item, known, taken, extensions)
        self.sampled = set(inner) - known
        conditions = self._all(modifiers.having)
        order = self._order_keys(modifiers)
        self.sampled = set()
        aggregates = tuple((variable, aggregate) for aggregate, variable in collected.items())
        pattern = a.Group(pattern, tuple(dict.fromkeys(keys)), aggregates)
        if conditions:
            pattern = a.Filter(folded(e.And, conditions), pattern)
        pattern = self._with_values(pattern, modifiers)
        for variable, expression in extensions:
            pattern = a.extended(pattern, variable, expression)
        return a.OrderBy(pattern, order) if order else pattern

    def _item(
        self,
        item: tree.Item,
        known: set[Variable],
        taken: set[Variable],
        extensions: list[tuple[Variable, e.Expression]],
    ) -> None:
        variable = item.variable
        assert variable is not None
        if item.expression is None:
            if variable not in known:
                raise self._ungrouped(item.at, variable)
            return
        expression = self.expression(item.expression)
        for read in mentioned(expression):
            if not read.internal and read not in known:
                raise self._ungrouped(item.at, read)
        if variable in known:
            raise self.error(item.at, f"{variable} has a value already and cannot be assigned")
        known.add(variable)
        extensions.append((variable, expression))

    def _ungrouped(self, at: int, variable: Variable) -> Exception:
        return self.error(
            at,
            f"{variable} is neither grouped by nor aggregated",
            f"add it to GROUP BY, or use an aggregate such as SAMPLE({variable})",
        )


_NO_MODIFIERS = tree.Modifiers()


def _aggregated(modifiers: tree.Modifiers) -> bool:
    return any(has_aggregate(condition) for condition in modifiers.having) or any(
        has_aggregate(order.expression) for order in modifiers.order_by
    )


def _aggregates_in(items: Sequence[tree.Item]) -> bool:
    return any(item.expression is not None and has_aggregate(item.expression) for item in items)
