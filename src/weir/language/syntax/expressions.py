"""Expressions (SPARQL 1.1 grammar, rules 110 to 128) by precedence climbing."""

from __future__ import annotations

from abc import abstractmethod
from typing import cast

from weir.language.algebra import expressions as e
from weir.language.algebra.expressions import Aggregation, Arithmetic, Builtin, Comparison, Expression
from weir.language.algebra.fold import folded
from weir.language.algebra.patterns import Pattern
from weir.language.syntax.lexer import Kind
from weir.language.syntax.triples import TripleParser
from weir.rdf.terms import IRI, Variable

_OR, _AND, _COMPARE, _ADD, _MULTIPLY = range(5)
_LEVELS = {
    "||": _OR,
    "&&": _AND,
    **{comparison.value: _COMPARE for comparison in Comparison},
    "IN": _COMPARE,
    "NOT": _COMPARE,
    "+": _ADD,
    "-": _ADD,
    "*": _MULTIPLY,
    "/": _MULTIPLY,
}
_COMPARISONS = {comparison.value: comparison for comparison in Comparison}
_ARITHMETIC = {operator.value: operator for operator in Arithmetic}
_BUILTINS = {builtin.value: builtin for builtin in Builtin} | {"URI": Builtin.IRI, "ISURI": Builtin.ISIRI}
_AGGREGATES = {aggregation.value: aggregation for aggregation in Aggregation}

_ANY = 1_000_000
_ARITIES: dict[Builtin, tuple[int, int]] = {
    **dict.fromkeys((Builtin.RAND, Builtin.NOW, Builtin.UUID, Builtin.STRUUID), (0, 0)),
    Builtin.BNODE: (0, 1),
    Builtin.CONCAT: (0, _ANY),
    **dict.fromkeys(
        (
            Builtin.LANGMATCHES,
            Builtin.CONTAINS,
            Builtin.STRSTARTS,
            Builtin.STRENDS,
            Builtin.STRBEFORE,
            Builtin.STRAFTER,
            Builtin.STRLANG,
            Builtin.STRDT,
            Builtin.SAMETERM,
        ),
        (2, 2),
    ),
    **dict.fromkeys((Builtin.TRIPLE, Builtin.STRLANGDIR), (3, 3)),
    Builtin.REGEX: (2, 3),
    Builtin.SUBSTR: (2, 3),
    Builtin.REPLACE: (3, 4),
    Builtin.IRI: (1, 2),
}
_ONE = (1, 1)


class ExpressionParser(TripleParser):
    """Reads expressions; a bracket costs three frames of the stack.

    ``aggregating`` says whether aggregates may stand here. They are part of the expression until their query
    level is read (``ModifierParser``). ``tests`` says that there is an EXISTS in the text.
    """

    aggregating = False
    tests = False

    @abstractmethod
    def group(self) -> Pattern:
        """A pattern in braces, for EXISTS."""

    def expression(self, level: int = _OR) -> Expression:
        """An expression whose operators bind at least as tightly as ``level``."""
        left = self._unary()
        ceiling = _MULTIPLY
        length = 0
        while True:
            operator = self.texts[self.i]
            binding = _LEVELS.get(operator)
            if binding is None or not level <= binding <= ceiling:
                return left
            if binding == _OR:
                left = folded(e.Or, self._operands(left, operator, _AND))
            elif binding == _AND:
                left = folded(e.And, self._operands(left, operator, _COMPARE))
            elif binding == _COMPARE:
                left = self._comparison(left, operator)
                ceiling = _AND
            else:
                self.i += 1
                length += 1
                self.bounded(length, "operators in one chain")
                right = self.expression(binding + 1)
                left = e.Calculate(_ARITHMETIC[operator], left, right)

    def _operands(self, first: Expression, operator: str, level: int) -> tuple[Expression, ...]:
        operands = [first]
        while self.accept(operator):
            operands.append(self.expression(level))
        return tuple(operands)

    def _comparison(self, left: Expression, operator: str) -> Expression:
        self.i += 1
        if operator == "NOT":
            self.expect("IN")
            return e.In(left, self.arguments(), True)
        if operator == "IN":
            return e.In(left, self.arguments(), False)
        return e.Compare(_COMPARISONS[operator], left, self.expression(_ADD))

    def _unary(self) -> Expression:
        text = self.texts[self.i]
        if self.kinds[self.i] != Kind.MARK or text in ("(", "<<("):
            return self.primary()
        if text == "!":
            self.enter("!")
            operand = self._unary()
            self.depth -= 1
            return e.Not(operand)
        if text in "+-":
            if self.signed():
                return self.literal()
            self.i += 1
            return e.Negate(self.primary()) if text == "-" else e.Plus(self.primary())
        raise self.expected("an expression")

    def primary(self) -> Expression:
        """A bracketed expression, a call, or a term."""
        kind = self.kinds[self.i]
        if kind == Kind.VARIABLE:
            return self.variable()
        if kind == Kind.WORD:
            if self.texts[self.i] in ("TRUE", "FALSE"):
                return self.literal()
            return self.call()
        if kind == Kind.PREFIXED or kind == Kind.IRI:
            iri = self.iri()
            if self.texts[self.i] == "(":
                distinct = self.texts[self.i + 1] == "DISTINCT"
                return e.FunctionCall(iri, self.arguments(True), distinct)
            return iri
        if self.texts[self.i] == "(":
            return self.bracketed()
        if self.texts[self.i] == "<<(":
            return self._triple()
        if kind in (Kind.STRING, Kind.LONG, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE):
            return self.literal()
        if kind == Kind.MARK and self.texts[self.i] in "+-" and self.signed():
            return self.literal()
        raise self.expected("an expression")

    def _triple(self) -> Expression:
        """``<<( … )>>`` in an expression: TRIPLE of its parts, of which the first is no literal."""
        self.enter("<<(")
        subject = self.variable_or_iri()
        predicate = self.verb(False)
        object: Expression
        if self.texts[self.i] == "<<(":
            object = self._triple()
        elif self.kinds[self.i] in (Kind.VARIABLE, Kind.PREFIXED, Kind.IRI):
            object = self.variable_or_iri()
        else:
            object = self.literal()
        self.leave(")>>")
        assert isinstance(predicate, IRI | Variable)
        return e.Call(Builtin.TRIPLE, (subject, predicate, object))

    def bracketed(self) -> Expression:
        self.enter("(")
        inner = self.expression()
        self.leave(")", "')' or an operator")
        return inner

    def named(self, *, bare: bool = False) -> tuple[Expression, Variable | None]:
        """``(expression AS ?name)``; the name may be missing from a ``bare`` one."""
        self.enter("(")
        expression = self.expression()
        variable = None
        if not bare or self.texts[self.i] == "AS":
            self.expect("AS")
            variable = self.variable()
        self.leave(")")
        return expression, variable

    def arguments(self, distinct: bool = False) -> tuple[Expression, ...]:
        """``(a, b, …)``, possibly empty, with DISTINCT passed over where it may stand."""
        self.enter("(")
        found: list[Expression] = []
        if self.texts[self.i] != ")":
            if distinct:
                self.accept("DISTINCT")
            found.append(self.expression())
            while self.accept(","):
                found.append(self.expression())
        self.leave(")", "')', ',' or an operator")
        return tuple(found)

    def constraint(self) -> Expression:
        """What FILTER, HAVING and ORDER BY take without further brackets."""
        kind = self.kinds[self.i]
        if self.texts[self.i] == "(":
            return self.bracketed()
        if kind == Kind.WORD:
            return self.call()
        if kind == Kind.PREFIXED or kind == Kind.IRI:
            call = self.primary()
            if isinstance(call, e.FunctionCall):
                return call
            raise self.expected("'(' with the function's arguments")
        raise self.expected("a condition in brackets or a call", "write FILTER (…)")

    def call(self) -> Expression:
        """A built-in function, an aggregate or EXISTS."""
        start, name = self.i, self.texts[self.i]
        builtin = _BUILTINS.get(name)
        if builtin is not None:
            self.i += 1
            low, high = _ARITIES.get(builtin, _ONE)
            given = self.arguments()
            if not low <= len(given) <= high:
                wants = f"{low}" if low == high else f"{low} to {high}"
                raise self.error(f"{name} takes {wants} arguments, not {len(given)}", start)
            if builtin is Builtin.IRI and len(given) == 1 and self.base is not None:
                given = (*given, IRI(self.base))  # what a relative reference is resolved against
            return e.Call(builtin, given)
        if name in _AGGREGATES:
            return self.aggregate()
        if name == "EXISTS" or (name == "NOT" and self.texts[self.i + 1] == "EXISTS"):
            self.i += 1 if name == "EXISTS" else 2
            self.tests = True
            return e.Exists(self.group(), name == "NOT")
        if name == "BOUND":
            self.i += 1
            self.expect("(")
            variable = self.variable()
            self.expect(")")
            return e.Bound(variable)
        if name == "COALESCE":
            self.i += 1
            return e.Coalesce(self.arguments())
        if name == "IF":
            self.i += 1
            given = self.arguments()
            if len(given) != 3:
                raise self.error(f"IF takes 3 arguments, not {len(given)}", start)
            return e.If(*given)
        raise self.expected("an expression")

    @property
    def at_aggregate(self) -> bool:
        return self.kinds[self.i] == Kind.WORD and self.texts[self.i] in _AGGREGATES

    def aggregate(self) -> Expression:
        """``COUNT(DISTINCT ?x)`` and its like."""
        function = _AGGREGATES[self.texts[self.i]]
        if not self.aggregating:
            raise self.error(
                f"the aggregate {function.value} may not stand here",
                None,
                "aggregates stand in SELECT, HAVING and ORDER BY, and not in one another",
            )
        self.i += 1
        self.enter("(")
        self.aggregating = False
        distinct = self.accept("DISTINCT")
        operand: Expression | None = None
        if not (function is Aggregation.COUNT and self.accept("*")):
            operand = self.expression()
        separator = " "
        if function is Aggregation.GROUP_CONCAT and self.accept(";"):
            self.expect("SEPARATOR")
            self.expect("=")
            separator = self.string()
        self.leave(")")
        self.aggregating = True
        return cast(Expression, e.Aggregate(function, operand, distinct, separator))
