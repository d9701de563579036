"""SELECT and solution modifiers (SPARQL 1.1 grammar, rules 9 and 18 to 28), as algebra (18.2.4, 18.2.5).

Once a query level is read, its aggregates are known: they are taken out of the expressions, and a variable
stands for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Expression
from weir.language.algebra.fold import folded, rebuilt
from weir.language.algebra.scope import mentioned, visible, within
from weir.language.presets import Feature
from weir.language.syntax.lexer import Kind
from weir.language.syntax.patterns import PatternParser, joined
from weir.rdf.terms import Variable

_LARGEST = 2**63
_Read = TypeVar("_Read")


class Item(NamedTuple):
    """One entry of a SELECT clause or of GROUP BY, at a token; a bare key without a name has no variable."""

    at: int
    variable: Variable | None
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class Modifiers:
    """Solution modifiers, and the VALUES clause that may follow them."""

    group_by: tuple[Item, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[a.OrderKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
    values: a.Values | None = None

    @property
    def grouped(self) -> bool:
        """Whether they make groups."""
        expressions = (*self.having, *(key.expression for key in self.order_by))
        return bool(self.group_by) or any(map(has_aggregate, expressions))


_NO_MODIFIERS = Modifiers()


def has_aggregate(expression: Expression) -> bool:
    """Whether an aggregate of this query level stands in the expression."""
    return any(isinstance(part, e.Aggregate) for part in within(expression))


class ModifierParser(PatternParser):
    """Reads what stands around a pattern, and builds it."""

    def items(self) -> tuple[Item, ...] | None:
        """What SELECT lists; None is ``*``."""
        if self.accept("*"):
            return None
        self.aggregating = True
        found = self._several(self._item, "'*', a variable or an expression in brackets")
        self.aggregating = False
        return found

    def _item(self) -> Item | None:
        at = self.i
        if self.kinds[at] == 1:
            return Item(at, self.variable())
        if self.texts[at] == "(":
            expression, variable = self.named()
            return Item(at, variable, expression)
        return self._bare_aggregate() if self.at_aggregate else None

    def _several(self, read: Callable[[], _Read | None], what: str) -> tuple[_Read, ...]:
        """As many as there are, at least one."""
        found: list[_Read] = []
        while (one := read()) is not None:
            found.append(one)
        if not found:
            raise self.expected(what)
        return tuple(found)

    def _bare_aggregate(self) -> Item:
        """CQELS-QL's ``count(distinct ?x) as ?n``."""
        at = self.i
        if not self.may_use(Feature.BARE_AGGREGATE):
            raise self.error(
                "an aggregate in SELECT stands in brackets",
                at,
                f"write ({self.tokens.written(at)}(…) AS ?name); only CQELS-QL leaves the brackets out",
            )
        self.use(Feature.BARE_AGGREGATE)
        expression = self.aggregate()
        self.expect("AS")
        return Item(at, self.variable(), expression)

    def modifiers(self) -> Modifiers:
        if self.kinds[self.i] != Kind.WORD:
            return _NO_MODIFIERS
        group_by: tuple[Item, ...] = ()
        having: list[Expression] = []
        order_by: tuple[a.OrderKey, ...] = ()
        bounds: dict[str, int] = {}
        if self.accept("GROUP"):
            self.expect("BY")
            group_by = self._several(self._key, "a variable or an expression to group by")
        self.aggregating = True
        if self.accept("HAVING"):
            having.append(self.constraint())
            while self._at_constraint():
                having.append(self.constraint())
        if self.accept("ORDER"):
            self.expect("BY")
            order_by = self._several(self._order, "a variable or an expression to order by")
        self.aggregating = False
        while (word := self.texts[self.i]) in ("LIMIT", "OFFSET"):
            if word in bounds:
                raise self.error(f"{word} is given twice")
            self.i += 1
            bounds[word] = self._natural()
        values = self.values() if self.accept("VALUES") else None
        return Modifiers(group_by, tuple(having), order_by, bounds.get("LIMIT"), bounds.get("OFFSET"), values)

    def _natural(self) -> int:
        text = self.texts[self.i]
        if self.kinds[self.i] != Kind.INTEGER:
            raise self.expected("a whole number")
        if len(text) > 19 or int(text) >= _LARGEST:
            raise self.error("the number is too large")
        self.i += 1
        return int(text)

    def _at_constraint(self) -> bool:
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.WORD:
            return text not in ("ORDER", "LIMIT", "OFFSET", "VALUES", "HAVING", "ASC", "DESC")
        return text == "(" or kind in (Kind.PREFIXED, Kind.IRI)

    def _key(self) -> Item | None:
        at = self.i
        if self.kinds[at] == Kind.VARIABLE:
            return Item(at, self.variable())
        if self.texts[at] == "(":
            expression, variable = self.named(bare=True)
            return Item(at, variable, expression)
        return Item(at, None, self.constraint()) if self._at_constraint() else None

    def _order(self) -> a.OrderKey | None:
        if self.kinds[self.i] == Kind.VARIABLE:
            return a.OrderKey(self.variable())
        if self.texts[self.i] in ("ASC", "DESC"):
            self.i += 1
            descending = self.texts[self.i - 1] == "DESC"
            return a.OrderKey(self.bracketed(), descending)
        return a.OrderKey(self.constraint()) if self._at_constraint() else None

    # Algebra

    def projected(
        self, start: int, items: Sequence[Item] | None, pattern: a.Pattern, modifiers: Modifiers
    ) -> a.Project:
        """A SELECT that begins at a token."""
        if items is None:
            if modifiers.grouped:
                raise self.error("SELECT * cannot be grouped", start, "name the variables to select")
            pattern = self.modified(pattern, modifiers)
            return a.Project(pattern, self.seen(pattern))
        variables = dict.fromkeys([item.variable for item in items if item.variable is not None])
        return a.Project(self.modified(pattern, modifiers, items), tuple(variables))

    def seen(self, pattern: a.Pattern) -> tuple[Variable, ...]:
        """What ``*`` stands for."""
        return tuple(variable for variable in visible(pattern, self.streams) if not variable.internal)

    def sliced(self, pattern: a.Pattern, modifiers: Modifiers) -> a.Pattern:
        if modifiers.limit is None and not modifiers.offset:
            return pattern
        return a.Slice(pattern, modifiers.offset or 0, modifiers.limit)

    def modified(self, pattern: a.Pattern, modifiers: Modifiers, items: Sequence[Item] = ()) -> a.Pattern:
        """GROUP BY, HAVING, VALUES, expressions of SELECT and ORDER BY, in that order."""
        computed = [item for item in items if item.expression is not None]
        if not computed and modifiers is _NO_MODIFIERS:
            return pattern
        if modifiers.grouped or any(has_aggregate(item.expression) for item in computed if item.expression):
            return self._grouped(pattern, modifiers, items)
        taken = set(visible(pattern, self.streams) if computed else ())
        pattern = _kept(pattern, modifiers.having, modifiers.values)
        for item in computed:
            pattern = self._extended(pattern, item, taken)
        return a.OrderBy(pattern, modifiers.order_by) if modifiers.order_by else pattern

    def _extended(self, pattern: a.Pattern, item: Item, taken: set[Variable]) -> a.Pattern:
        variable = item.variable
        assert variable is not None and item.expression is not None
        if variable in taken:
            raise self._assigned(item.at, variable)
        taken.add(variable)
        return a.extended(pattern, variable, item.expression)

    def _grouped(self, pattern: a.Pattern, modifiers: Modifiers, items: Sequence[Item]) -> a.Pattern:
        """Section 18.2.4.1."""
        inner = visible(pattern, self.streams)
        keys: list[Variable] = []
        taken = set(inner)
        for key in modifiers.group_by:
            named = key.variable or self.internal("k")
            if key.expression is not None:
                pattern = self._extended(pattern, key._replace(variable=named), taken)
            keys.append(named)
        made: dict[e.Aggregate, Variable] = {}
        known = set(keys)
        extensions: list[tuple[Variable, Expression]] = []
        for item in items:
            self._computed(item, known, made, extensions)
        sampled = set(inner) - known
        conditions = [self._without_aggregates(each, made, sampled) for each in modifiers.having]
        order = tuple(
            a.OrderKey(self._without_aggregates(key.expression, made, sampled), key.descending)
            for key in modifiers.order_by
        )
        aggregates = tuple((variable, aggregate) for aggregate, variable in made.items())
        pattern = a.Group(pattern, tuple(dict.fromkeys(keys)), aggregates)
        pattern = _kept(pattern, conditions, modifiers.values)
        for variable, expression in extensions:
            pattern = a.extended(pattern, variable, expression)
        return a.OrderBy(pattern, order) if order else pattern

    def _without_aggregates(
        self, expression: Expression, made: dict[e.Aggregate, Variable], sampled: Collection[Variable] = ()
    ) -> Expression:
        """The expression over solutions of the group; equal aggregates share a variable of those ``made``.

        In HAVING and ORDER BY a variable that is neither key nor aggregated, one of ``sampled``, stands for
        one of its values, SAMPLE (18.2.4.1).
        """

        def change(node: Any) -> Any:
            if isinstance(node, Variable) and node in sampled:
                node = e.Aggregate(e.Aggregation.SAMPLE, node)
            if isinstance(node, e.Exists):
                return node
            if not isinstance(node, e.Aggregate):
                return rebuilt(node, change)
            if node not in made:
                made[node] = self.internal("a")
            return made[node]

        found: Expression = change(expression)
        return found

    def _computed(
        self,
        item: Item,
        known: set[Variable],
        made: dict[e.Aggregate, Variable],
        extensions: list[tuple[Variable, Expression]],
    ) -> None:
        """An item over a group: what it reads is a key, an aggregate, or an item before it."""
        variable = item.variable
        assert variable is not None
        if item.expression is None:
            if variable not in known:
                raise self._ungrouped(item.at, variable)
            return
        expression = self._without_aggregates(item.expression, made)
        for read in mentioned(expression):
            if not read.internal and read not in known:
                raise self._ungrouped(item.at, read)
        if variable in known:
            raise self._assigned(item.at, variable)
        known.add(variable)
        extensions.append((variable, expression))

    def _assigned(self, at: int, variable: Variable) -> Exception:
        return self.error(f"{variable} has a value already and cannot be assigned", at)

    def _ungrouped(self, at: int, variable: Variable) -> Exception:
        return self.error(
            f"{variable} is neither grouped by nor aggregated",
            at,
            f"add it to GROUP BY, or use an aggregate such as SAMPLE({variable})",
        )


def _kept(pattern: a.Pattern, conditions: Sequence[Expression], values: a.Values | None) -> a.Pattern:
    """HAVING, and VALUES after the modifiers."""
    if conditions:
        pattern = a.Filter(folded(e.And, tuple(conditions)), pattern)
    return pattern if values is None else joined(pattern, values)
