"""From an expression to a columnar evaluator.

What a solution's bindings do not decide has become a column before: EXISTS, ``NOW()`` and ``f:timestamp`` are
read from internal variables that ``operators.evaluate`` fills in. RAND, UUID, STRUUID and BNODE depend on the
whole solution; an expression with one of them is evaluated row by row there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weir.errors import EvaluationError
from weir.kernel.expressions import arithmetic
from weir.kernel.expressions import columnar as nodes
from weir.kernel.expressions.columnar import Frame, Node
from weir.kernel.expressions.fallback import Rows, Scalar
from weir.kernel.expressions.numeric import Numbers
from weir.kernel.expressions.termcache import TermClass, Terms
from weir.kernel.expressions.vector import TRUE
from weir.kernel.functions import Context
from weir.kernel.functions.inspection import is_volatile, variables_of, walk
from weir.kernel.functions.scalar import TIMESTAMP
from weir.kernel.interval.relation import Relation
from weir.language.algebra.expressions import (
    And,
    Bound,
    Builtin,
    Calculate,
    Call,
    Coalesce,
    Compare,
    Comparison,
    Exists,
    Expression,
    FunctionCall,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
)
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable

NOW = ".now"
"""The column that stands for ``NOW()``."""

_FEW = 4
"""Up to this many rows, going row by row costs less than the fixed price of columns."""

Functions = Mapping[str, Callable[..., Term]]
"""Extension functions by IRI; each depends on nothing but its arguments."""


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A call of ``f:timestamp``, read from the column ``name``; arguments may read those before it."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to run. ``reads_time`` and ``timestamps`` say which columns it needs beyond
    its ``variables``; a ``volatile`` one cannot run on columns at all and draws for its ``place``."""

    expression: Expression
    variables: frozenset[str]
    volatile: bool
    reads_time: bool
    timestamps: tuple[Timestamp, ...]
    node: Node
    terms: Terms
    rows: Rows
    place: str = ""

    @property
    def plain(self) -> bool:
        """Whether the columns of its variables decide it."""
        return not (self.volatile or self.reads_time or self.timestamps)

    def ids(self, relation: Relation) -> Ids:
        """The value's id for each row, 0 on error."""
        if len(relation) <= _FEW and self.plain:
            rows = self.rows.of(relation)
            return np.array([self.rows.identifier(row) for row in rows], np.int64)
        return self.node.evaluate(self._frame(relation)).ids()

    def mask(self, relation: Relation) -> Mask:
        """Where the effective boolean value is true: what FILTER keeps."""
        if len(relation) <= _FEW and self.plain:
            return np.array([self.rows.holds(row) for row in self.rows.of(relation)], np.bool_)
        return np.asarray(self.node.evaluate(self._frame(relation)).truth() == TRUE)

    def _frame(self, relation: Relation) -> Frame:
        self.terms.refresh()
        return Frame(relation.columns, len(relation), self.terms)


def compile(
    expression: Expression,
    terms: Terms,
    functions: Functions | None = None,
    *,
    place: str = "",
    written: Expression | None = None,
) -> Compiled:
    """A columnar evaluator of the expression, whose ids are those of ``terms``.

    ``place`` is the variable that is bound (none in a filter), and ``written`` the expression before EXISTS
    was replaced: where RAND and its like occur, their draws depend on both.
    """
    builder = _Builder(terms, Context(functions=functions or {}))
    volatile = is_volatile(expression)
    node = nodes.Column(".volatile") if volatile else builder.build(expression)
    return Compiled(
        expression,
        variables_of(expression),
        volatile,
        builder.reads_time,
        tuple(builder.timestamps),
        node,
        terms,
        Rows(expression, terms, builder.context),
        f"{place} {(written if written is not None else expression)!r}" if volatile else "",
    )


_NUMERIC: dict[Builtin, Callable[[Numbers], Numbers]] = {
    Builtin.ABS: arithmetic.absolute,
    Builtin.CEIL: arithmetic.ceiling,
    Builtin.FLOOR: arithmetic.floor,
    Builtin.ROUND: arithmetic.round_half_up,
}

_CLASSES: dict[Builtin, frozenset[TermClass]] = {
    Builtin.ISIRI: frozenset({TermClass.IRI}),
    Builtin.ISBLANK: frozenset({TermClass.BLANK}),
    Builtin.ISLITERAL: frozenset(TermClass) - {TermClass.IRI, TermClass.BLANK, TermClass.UNBOUND},
}


@dataclass(slots=True)
class _Builder:
    terms: Terms
    context: Context
    reads_time: bool = False
    timestamps: list[Timestamp] = field(default_factory=list)

    def build(self, expression: Expression) -> Node:
        variables = variables_of(expression)
        if len(variables) == 1 and _scalar_only(expression):
            # Once per distinct id, and no term is made but the outcome.
            (name,) = variables
            scalar = Scalar(expression, (name,), self.terms, self.context, strict=False)
            return nodes.Applied(scalar, (nodes.Column(name),))
        return _BUILDERS[type(expression)](self, expression)

    def scalar(self, template: Expression, count: int) -> Scalar:
        names = [variable.name for variable in _placeholders(count)]
        return Scalar(template, names, self.terms, self.context, strict=True)

    def all(self, expressions: tuple[Expression, ...]) -> tuple[Node, ...]:
        return tuple(self.build(each) for each in expressions)

    def constant(self, term: Term) -> Node:
        return nodes.Constant.of(self.terms.encode_constant(term), self.terms)

    def compared(self, expression: Compare) -> Node:
        left, right = self.build(expression.left), self.build(expression.right)
        return nodes.Compared(expression.operator, left, right, self._comparer(expression.operator))

    def _comparer(self, operator: Comparison) -> Scalar:
        return self.scalar(Compare(operator, _FIRST, _SECOND), 2)

    def among(self, expression: In) -> Node:
        operand = self.build(expression.operand)
        equality = nodes.Compared(Comparison.EQ, operand, operand, self._comparer(Comparison.EQ))
        return nodes.Among(operand, self.all(expression.choices), equality, expression.negated)

    def calculated(self, expression: Calculate) -> Node:
        left, right = self.build(expression.left), self.build(expression.right)
        scalar = self.scalar(Calculate(expression.operator, _FIRST, _SECOND), 2)
        return nodes.Calculated(expression.operator, left, right, scalar)

    def call(self, expression: Call) -> Node:
        function = expression.function
        if function is Builtin.NOW:
            self.reads_time = True
            return nodes.Column(NOW)
        arguments = self.all(expression.arguments)
        scalar = self.scalar(Call(function, _placeholders(len(arguments))), len(arguments))
        if function in _NUMERIC and len(arguments) == 1:
            return nodes.Numeric(_NUMERIC[function], arguments[0], scalar)
        if function is Builtin.SAMETERM:
            return nodes.SameTerm(*arguments)
        if function is Builtin.ISNUMERIC:
            return nodes.IsNumeric(*arguments)
        if function in _CLASSES:
            return nodes.IsOfClass(arguments[0], _CLASSES[function])
        return nodes.Applied(scalar, arguments)

    def function(self, expression: FunctionCall) -> Node:
        if expression.function.value == TIMESTAMP and len(expression.arguments) == 3:
            triple = self.all(expression.arguments)
            name = f".timestamp{len(self.timestamps)}"
            self.timestamps.append(Timestamp(name, triple))
            return nodes.Column(name)
        arguments = self.all(expression.arguments)
        template = FunctionCall(expression.function, _placeholders(len(arguments)))
        return nodes.Applied(self.scalar(template, len(arguments)), arguments)

    def exists(self, expression: Exists) -> Node:
        raise EvaluationError("EXISTS in an expression that was not prepared: it must be a column by now")


def _placeholders(count: int) -> tuple[Variable, ...]:
    return tuple(Variable(str(place)) for place in range(count))


_FIRST, _SECOND = _placeholders(2)


_COLUMNAR = frozenset({*_NUMERIC, *_CLASSES, Builtin.SAMETERM, Builtin.ISNUMERIC})


def _scalar_only(expression: Expression) -> bool:
    """Whether some part has no columnar way, and none depends on more than variables."""
    parts = list(walk(expression))
    if any(isinstance(part, Exists) for part in parts):
        return False
    calls = [part.function for part in parts if isinstance(part, Call)]
    named = [part.function.value for part in parts if isinstance(part, FunctionCall)]
    if Builtin.NOW in calls or TIMESTAMP in named:
        return False
    return bool(named) or any(function not in _COLUMNAR for function in calls)


def _flat(kind: type[Or] | type[And], expression: Expression) -> list[Expression]:
    if isinstance(expression, kind):
        return _flat(kind, expression.left) + _flat(kind, expression.right)
    return [expression]


_BUILDERS: dict[type, Callable[[_Builder, Any], Node]] = {
    IRI: _Builder.constant,
    Literal: _Builder.constant,
    BlankNode: _Builder.constant,
    Variable: lambda _, expression: nodes.Column(expression.name),
    Or: lambda builder, expression: nodes.Either(builder.all(tuple(_flat(Or, expression)))),
    And: lambda builder, expression: nodes.Both(builder.all(tuple(_flat(And, expression)))),
    Not: lambda builder, expression: nodes.Negation(builder.build(expression.operand)),
    Compare: _Builder.compared,
    Calculate: _Builder.calculated,
    Negate: lambda builder, expression: nodes.Numeric(
        arithmetic.negate, builder.build(expression.operand), builder.scalar(Negate(_FIRST), 1)
    ),
    Plus: lambda builder, expression: nodes.Numeric(
        arithmetic.plus, builder.build(expression.operand), builder.scalar(Plus(_FIRST), 1)
    ),
    In: _Builder.among,
    Exists: _Builder.exists,
    Bound: lambda _, expression: nodes.IsBound(expression.variable.name),
    If: lambda builder, expression: nodes.Chosen(
        builder.build(expression.condition),
        builder.build(expression.then),
        builder.build(expression.otherwise),
    ),
    Coalesce: lambda builder, expression: nodes.First(builder.all(expression.choices)),
    Call: _Builder.call,
    FunctionCall: _Builder.function,
}
