"""From an expression to a columnar evaluator.

What a solution's bindings do not decide has become a column before: EXISTS, ``NOW()`` and ``f:timestamp`` are
read from internal variables that ``operators.context`` fills in. RAND, UUID, STRUUID and BNODE depend on the
whole solution; an expression with one of them is evaluated row by row there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.expressions import columnar, numeric
from weir.kernel.expressions.columnar import Node, Scalar, Solutions
from weir.kernel.expressions.numeric import Numbers
from weir.kernel.expressions.term_cache import TermClass, Terms
from weir.kernel.expressions.vector import TRUE
from weir.kernel.functions import Context
from weir.kernel.relations.relation import Relation
from weir.language.algebra import expressions as e
from weir.language.algebra.expressions import TIMESTAMP, Builtin
from weir.language.algebra.scope import mentioned, volatile, within
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import Variable

NOW = ".now"
"""The column that stands for ``NOW()``."""

_FEW = 4
"""Up to this many rows, going row by row costs less than the fixed price of columns."""


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A call of ``f:timestamp``, read from the column ``name``; arguments may read those before it."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to run. ``reads_time`` and ``timestamps`` say which columns it needs beyond
    its ``variables``; a ``volatile`` one cannot run on columns at all and draws for its ``place``."""

    expression: e.Expression
    variables: frozenset[str]
    volatile: bool
    reads_time: bool
    timestamps: tuple[Timestamp, ...]
    node: Node
    terms: Terms
    whole: Scalar
    place: str = ""

    @property
    def plain(self) -> bool:
        """Whether the columns of its variables decide it."""
        return not (self.volatile or self.reads_time or self.timestamps)

    def ids(self, relation: Relation) -> Ids:
        """The value's id for each row, 0 on error."""
        if len(relation) <= _FEW and self.plain:
            return np.array(self._row_by_row(relation), np.int64)
        return self.node(self._solutions(relation)).ids()

    def mask(self, relation: Relation) -> Mask:
        """Where the effective boolean value is true: what FILTER keeps."""
        if len(relation) <= _FEW and self.plain:
            effective = self.terms.effective
            return np.array([bool(each) and effective(each) == TRUE for each in self._row_by_row(relation)])
        return np.asarray(self.node(self._solutions(relation)).truth() == TRUE)

    def _solutions(self, relation: Relation) -> Solutions:
        self.terms.refresh()
        return Solutions(relation.columns, len(relation), self.terms)

    def _row_by_row(self, relation: Relation) -> list[int]:
        """The value's id for each of a few rows, as a slab of one message has them."""
        names, length = self.whole.names, len(relation)
        if not names:
            return self.whole.values([()] * length)
        none = [0] * length
        columns = [relation.columns[name].tolist() if name in relation.columns else none for name in names]
        return self.whole.values(list(zip(*columns, strict=True)))


def compile(
    expression: e.Expression,
    terms: Terms,
    *,
    place: str = "",
    written: e.Expression | None = None,
) -> Compiled:
    """A columnar evaluator of the expression, whose ids are those of ``terms``.

    ``place`` is the variable that is bound (none in a filter), and ``written`` the expression before EXISTS
    was replaced: where RAND and its like occur, their draws depend on both.
    """
    builder = _Builder(terms, Context())
    draws = volatile(expression)
    node = columnar.column(".volatile") if draws else builder.build(expression)
    variables = frozenset(variable.name for variable in mentioned(expression))
    return Compiled(
        expression,
        variables,
        draws,
        builder.reads_time,
        tuple(builder.timestamps),
        node,
        terms,
        Scalar(expression, sorted(variables), terms, builder.context, strict=False),
        f"{place} {(written if written is not None else expression)!r}" if draws else "",
    )


@dataclass(slots=True)
class _Builder:
    terms: Terms
    context: Context
    reads_time: bool = False
    timestamps: list[Timestamp] = field(default_factory=list)

    def build(self, expression: e.Expression) -> Node:
        """The node that evaluates an expression."""
        variables = {variable.name for variable in mentioned(expression)}
        if len(variables) == 1 and _scalar_only(expression):
            # Once per distinct id, and no term is made but the outcome.
            (name,) = variables
            scalar = Scalar(expression, (name,), self.terms, self.context, strict=False)
            return columnar.call(scalar, (columnar.column(name),))
        match expression:
            case Variable(name):
                return columnar.column(name)
            case e.Or():
                return columnar.either(self._all(_flat(e.Or, expression)))
            case e.And():
                return columnar.both(self._all(_flat(e.And, expression)))
            case e.Not(operand):
                return columnar.negation(self.build(operand))
            case e.Compare(operator, left, right):
                scalar = self._scalar(e.Compare(operator, _FIRST, _SECOND), 2)
                return columnar.comparison(operator, self.build(left), self.build(right), scalar)
            case e.In(operand, choices, negated):
                equals = self._scalar(e.Compare(e.Comparison.EQ, _FIRST, _SECOND), 2)
                return columnar.member(self.build(operand), self._all(choices), equals, negated=negated)
            case e.Calculate(operation, left, right):
                scalar = self._scalar(e.Calculate(operation, _FIRST, _SECOND), 2)
                return columnar.calculation(operation, self.build(left), self.build(right), scalar)
            case e.Negate(operand) | e.Plus(operand):
                function = numeric.negate if isinstance(expression, e.Negate) else numeric.plus
                scalar = self._scalar(type(expression)(_FIRST), 1)
                return columnar.numeric_function(function, self.build(operand), scalar)
            case e.Bound(variable):
                return columnar.bound(variable.name)
            case e.If(condition, then, otherwise):
                return columnar.choice(self.build(condition), self.build(then), self.build(otherwise))
            case e.Coalesce(choices):
                return columnar.coalesce(self._all(choices))
            case e.Call():
                return self._call(expression)
            case e.FunctionCall():
                return self._function_call(expression)
            case e.Exists():
                raise EvaluationError(
                    "EXISTS in an expression that was not prepared: it must be a column by now"
                )
            case _:
                return columnar.constant(self.terms.encode_constant(expression), self.terms)

    def _scalar(self, template: e.Expression, count: int) -> Scalar:
        names = [variable.name for variable in _placeholders(count)]
        return Scalar(template, names, self.terms, self.context, strict=True)

    def _all(self, expressions: Sequence[e.Expression]) -> tuple[Node, ...]:
        return tuple(self.build(each) for each in expressions)

    def _call(self, expression: e.Call) -> Node:
        function = expression.function
        if function is Builtin.NOW:
            self.reads_time = True
            return columnar.column(NOW)
        arguments = self._all(expression.arguments)
        scalar = self._scalar(e.Call(function, _placeholders(len(arguments))), len(arguments))
        return _COLUMNAR.get(function, columnar.call)(scalar, arguments)

    def _function_call(self, expression: e.FunctionCall) -> Node:
        arguments = self._all(expression.arguments)
        if expression.function.value == TIMESTAMP and len(arguments) == 3:
            name = f".timestamp{len(self.timestamps)}"
            self.timestamps.append(Timestamp(name, arguments))
            return columnar.column(name)
        template = e.FunctionCall(expression.function, _placeholders(len(arguments)))
        return columnar.call(self._scalar(template, len(arguments)), arguments)


def _placeholders(count: int) -> tuple[Variable, ...]:
    return tuple(Variable(str(place)) for place in range(count))


_FIRST, _SECOND = _placeholders(2)


def _numeric(function: Callable[[Numbers], Numbers]) -> Columnar:
    return lambda scalar, arguments: columnar.numeric_function(function, arguments[0], scalar)


def _is_class(*classes: TermClass) -> Columnar:
    return lambda scalar, arguments: columnar.is_class(arguments[0], classes)


Columnar = Callable[[Scalar, tuple[Node, ...]], Node]

_COLUMNAR: dict[Builtin, Columnar] = {
    Builtin.ABS: _numeric(numeric.absolute),
    Builtin.CEIL: _numeric(numeric.ceiling),
    Builtin.FLOOR: _numeric(numeric.floor),
    Builtin.ROUND: _numeric(numeric.round_half_up),
    Builtin.SAMETERM: lambda scalar, arguments: columnar.same_term(*arguments),
    Builtin.ISNUMERIC: lambda scalar, arguments: columnar.is_numeric(*arguments),
    Builtin.ISIRI: _is_class(TermClass.IRI),
    Builtin.ISBLANK: _is_class(TermClass.BLANK),
    Builtin.ISTRIPLE: _is_class(TermClass.TRIPLE),
    Builtin.ISLITERAL: _is_class(
        *(set(TermClass) - {TermClass.IRI, TermClass.BLANK, TermClass.TRIPLE, TermClass.UNBOUND})
    ),
}
"""The built-ins that have a columnar way; all others go through ``kernel.functions.builtins``."""


def _scalar_only(expression: e.Expression) -> bool:
    """Whether some part has no columnar way, and none depends on more than variables."""
    parts = list(within(expression))
    if any(isinstance(part, e.Exists) for part in parts):
        return False
    calls = [part.function for part in parts if isinstance(part, e.Call)]
    named = [part.function.value for part in parts if isinstance(part, e.FunctionCall)]
    if Builtin.NOW in calls or TIMESTAMP in named:
        return False
    return bool(named) or any(function not in _COLUMNAR for function in calls)


def _flat(kind: type[e.Or] | type[e.And], expression: e.Expression) -> list[e.Expression]:
    if isinstance(expression, kind):
        return _flat(kind, expression.left) + _flat(kind, expression.right)
    return [expression]
