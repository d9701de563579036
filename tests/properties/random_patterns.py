"""Random patterns, expressions and query forms over a vocabulary so small that everything joins often."""

from __future__ import annotations

from random import Random

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.query import Ask, Construct, Describe, Form, Select
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import WindowDeclaration
from weir.rdf.terms import IRI, RDF, XSD, Literal, Term, TripleTerm, Variable, triple_term

NODES: tuple[Term, ...] = (IRI("urn:a"), IRI("urn:b"), IRI("urn:c"))
VALUES: tuple[Term, ...] = (
    Literal("1", XSD + "integer"),
    Literal("2", XSD + "integer"),
    Literal("2.5", XSD + "decimal"),
    Literal("x"),
)
ODD: tuple[Term, ...] = (
    Literal("01", XSD + "integer"),
    Literal("abc", XSD + "integer"),
    Literal("1.0", XSD + "decimal"),
    Literal("2.0E0", XSD + "double"),
    Literal("NaN", XSD + "double"),
    Literal("true", XSD + "boolean"),
    Literal("1970-01-01T00:00:01Z", XSD + "dateTime"),
    Literal("x", "urn:type"),
    Literal.tagged("x", "en"),
    Literal.tagged("x", "en-gb"),
    Literal.tagged("x", "en", "ltr"),
    Literal.tagged("x", "en", "rtl"),
    Literal('a "b"\u2028\nc'),
    Literal(""),
)
"""Literals of other kinds, ill-typed ones, such as have a base direction or need escapes among them."""
PREDICATES = (IRI("urn:p"), IRI("urn:q"))
REIFIES = IRI(RDF + "reifies")
GRAPHS = (IRI("urn:g1"), IRI("urn:g2"))
NAMES = ("x", "y", "z", "v")


def node(rng: Random, constants: tuple[Term, ...]) -> a.Node:
    return rng.choice(constants) if rng.random() < 0.12 else Variable(rng.choice(NAMES))


def stated(rng: Random, depth: int = 1) -> TripleTerm:
    """A triple term, at times with another one inside."""
    inner = stated(rng, depth - 1) if depth and rng.random() < 0.2 else rng.choice((*NODES, *VALUES))
    found = triple_term(rng.choice(NODES[:2]), rng.choice(PREDICATES), inner)
    assert found is not None
    return found


def statement(rng: Random, depth: int = 1) -> a.Node:
    """A triple term of a pattern."""
    if rng.random() < 0.15:
        return stated(rng)
    target = node(rng, (*NODES, *VALUES))
    if depth and rng.random() < 0.2:
        target = statement(rng, depth - 1)
    predicate = rng.choice(PREDICATES) if rng.random() < 0.7 else Variable(rng.choice(NAMES))
    return a.triple_node(node(rng, NODES), predicate, target)


def triple_pattern(rng: Random) -> a.TriplePattern:
    if rng.random() < 0.08:
        predicate = REIFIES if rng.random() < 0.7 else rng.choice(PREDICATES)
        return a.TriplePattern(node(rng, NODES), predicate, statement(rng))
    predicate = rng.choice(PREDICATES) if rng.random() < 0.85 else Variable(rng.choice(NAMES))
    return a.TriplePattern(node(rng, NODES), predicate, node(rng, (*NODES, *VALUES)))


def bgp(rng: Random) -> a.BGP:
    return a.BGP(tuple(triple_pattern(rng) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3)))))


def path(rng: Random, depth: int = 2) -> a.Path:
    if depth == 0 or rng.random() < 0.3:
        return a.Link(rng.choice(PREDICATES))
    match rng.randrange(7):
        case 0:
            return a.Inverse(path(rng, depth - 1))
        case 1:
            return a.Sequence(path(rng, depth - 1), path(rng, depth - 1))
        case 2:
            return a.Alternative(path(rng, depth - 1), path(rng, depth - 1))
        case 3:
            return a.ZeroOrMore(path(rng, depth - 1))
        case 4:
            return a.OneOrMore(path(rng, depth - 1))
        case 5:
            return a.ZeroOrOne(path(rng, depth - 1))
        case _:
            return a.NegatedSet((rng.choice(PREDICATES),), ())


_UNARY = (
    e.Builtin.STR,
    e.Builtin.STR,
    e.Builtin.LANG,
    e.Builtin.DATATYPE,
    e.Builtin.STRLEN,
    e.Builtin.ISBLANK,
    e.Builtin.ISNUMERIC,
    e.Builtin.ABS,
    e.Builtin.SUBJECT,
    e.Builtin.OBJECT,
    e.Builtin.ISTRIPLE,
    e.Builtin.LANGDIR,
    e.Builtin.HASLANGDIR,
)


class Patterns:
    """Random patterns over some windows; ``depth`` bounds their nesting."""

    def __init__(self, rng: Random, declared: tuple[WindowDeclaration, ...]) -> None:
        self.rng = rng
        self.names = [window.name for window in declared if not window.in_default]
        self.fresh = 0
        self.static = False

    def source(self, inner: a.Pattern) -> a.Pattern:
        """The pattern on a window, a graph or the default graph; not on a window inside ``unstreamed``."""
        if self.static:
            named = self.rng.random() < 0.6
            return a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), inner) if named else inner
        chance = self.rng.random()
        if chance < 0.8 and not self.names:
            return inner
        if chance < 0.8:
            if self.rng.random() < 0.06:
                return a.Window(Variable("v"), inner)
            if self.rng.random() < 0.15:
                inner = a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), self.body(inner))
            return a.Window(IRI(self.rng.choice(self.names)), inner)
        if chance < 0.88:
            return a.Graph(self.rng.choice((*GRAPHS, Variable("v"))), inner)
        return inner

    def body(self, inner: a.Pattern) -> a.Pattern:
        """What stands inside GRAPH: the pattern, or one that can succeed where it does not match."""
        nothing = a.BGP(())
        match self.rng.randrange(10):
            case 0:
                return nothing
            case 1:
                return a.LeftJoin(nothing, inner)
            case 2:
                return a.Filter(e.Exists(inner, negated=True), nothing)
            case 3:
                count = self.new()
                inner = a.Group(inner, (), ((Variable(".a0"), e.Aggregate(e.Aggregation.COUNT, None)),))
                return a.Project(a.extended(inner, count, Variable(".a0")), (count,))
            case 4:
                return a.Union(inner, a.extended(nothing, self.new(), IRI("urn:a")))
        return inner

    def leaf(self) -> a.Pattern:
        chance = self.rng.random()
        if chance < 0.1:
            ends = node(self.rng, NODES), node(self.rng, NODES)
            return self.source(a.PathPattern(ends[0], path(self.rng), ends[1]))
        if chance < 0.15:
            names = tuple(Variable(name) for name in self.rng.sample(NAMES, self.rng.randrange(1, 3)))
            rows = tuple(
                tuple(self.rng.choice((*NODES, *VALUES, None, stated(self.rng))) for _ in names)
                for _ in range(self.rng.randrange(1, 4))
            )
            return a.Values(names, rows)
        return self.source(bgp(self.rng))

    def pattern(self, depth: int) -> a.Pattern:
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return self.leaf()
        match rng.randrange(12):
            case 0 | 1 | 2:
                return a.Join(self.pattern(depth - 1), self.pattern(depth - 1))
            case 3:
                condition = self.condition(depth - 1) if rng.random() < 0.3 else None
                return a.LeftJoin(self.pattern(depth - 1), self.pattern(depth - 1), condition)
            case 4:
                return a.Minus(self.pattern(depth - 1), self.pattern(depth - 1))
            case 5:
                return a.Union(self.pattern(depth - 1), self.pattern(depth - 1))
            case 6 | 7:
                return a.Filter(self.condition(depth - 1), self.pattern(depth - 1))
            case 8:
                inner = self.pattern(depth - 1)
                return a.extended(inner, self.new(), self.expression(2))
            case 9:
                return self.source(self.pattern(depth - 1))
            case _:
                return self.subquery(depth - 1)

    def unstreamed(self, depth: int) -> a.Pattern:
        """A pattern over static graphs or none, with an expression that may read variables bound outside."""
        before, self.static = self.static, True
        inner = a.BGP(()) if self.rng.random() < 0.15 else self.pattern(max(depth - 1, 0))
        if self.rng.random() < 0.7:
            inner = a.Filter(self.condition(max(depth - 1, 0)), inner)
        else:
            inner = a.extended(inner, self.new(), self.expression(2))
        self.static = before
        return inner

    def new(self) -> Variable:
        self.fresh += 1
        return Variable(f"n{self.fresh}")

    def subquery(self, depth: int) -> a.Pattern:
        inner = self.modified(self.pattern(depth))
        return inner

    def modified(self, inner: a.Pattern) -> a.Pattern:
        """Grouping and solution modifiers, in SPARQL's order."""
        rng = self.rng
        if rng.random() < 0.4:
            inner = self.grouped(inner)
        named = [variable for variable in dict.fromkeys(visible(inner)) if not variable.internal]
        ordered = rng.random() < 0.25 and bool(named)
        if ordered:
            keys_by = tuple(
                a.OrderKey(
                    self.expression(1) if rng.random() < 0.3 else rng.choice(named), rng.random() < 0.5
                )
                for _ in range(rng.randrange(1, 3))
            )
            inner = a.OrderBy(inner, keys_by)
        kept = tuple(rng.sample(named, rng.randrange(1, len(named) + 1))) if named else ()
        inner = a.Project(inner, kept)
        if rng.random() < 0.3:
            inner = a.Distinct(inner)
        if rng.random() < 0.15:
            inner = a.Slice(inner, rng.randrange(2), rng.randrange(1, 4))
        return inner

    def grouped(self, inner: a.Pattern) -> a.Pattern:
        """GROUP BY variables, aggregates under names of their own, at times HAVING."""
        rng = self.rng
        seen = [variable for variable in dict.fromkeys(visible(inner)) if not variable.internal]
        keys = tuple(rng.sample(seen, min(len(seen), rng.randrange(3))))
        found = tuple(dict.fromkeys(self.aggregate() for _ in range(rng.randrange(1, 3))))
        names = [Variable(f".a{place}") for place in range(len(found))]
        grouped: a.Pattern = a.Group(inner, keys, tuple(zip(names, found, strict=True)))
        if rng.random() < 0.2:
            bound = rng.choice((*VALUES, *names))
            grouped = a.Filter(e.Compare(rng.choice(list(e.Comparison)), names[0], bound), grouped)
        for name in names:
            grouped = a.extended(grouped, self.new(), name)
        return grouped

    def aggregate(self) -> e.Aggregate:
        rng = self.rng
        function = rng.choice(list(e.Aggregation))
        operand: e.Expression | None = Variable(rng.choice(NAMES))
        if function is e.Aggregation.COUNT and rng.random() < 0.4:
            operand = None
        elif rng.random() < 0.2:
            operand = self.expression(1)
        return e.Aggregate(function, operand, rng.random() < 0.3)

    # Expressions

    def condition(self, depth: int) -> e.Expression:
        rng = self.rng
        match rng.randrange(9):
            case 0 | 1 | 2:
                operator = rng.choice(list(e.Comparison))
                return e.Compare(operator, self.expression(1), self.expression(1))
            case 3:
                return e.Bound(Variable(rng.choice(NAMES)))
            case 4:
                return e.Or(self.condition(depth), self.condition(depth))
            case 5:
                return e.And(self.condition(depth), self.condition(depth))
            case 6:
                return e.Not(self.condition(depth))
            case 7:
                inner = self.unstreamed(depth) if rng.random() < 0.3 else self.pattern(max(depth - 1, 0))
                return e.Exists(inner, rng.random() < 0.5)
            case _:
                return e.In(self.expression(0), (self.expression(0), rng.choice(NODES)), rng.random() < 0.5)

    def expression(self, depth: int) -> e.Expression:
        rng = self.rng
        if depth == 0 or rng.random() < 0.5:
            if rng.random() < 0.7:
                return Variable(rng.choice(NAMES))
            return rng.choice((*NODES, *VALUES, rng.choice((*ODD, stated(rng)))))  # type: ignore[return-value]
        match rng.randrange(6):
            case 0 | 1:
                operator = rng.choice(list(e.Arithmetic))
                return e.Calculate(operator, self.expression(depth - 1), self.expression(depth - 1))
            case 2:
                return e.Call(rng.choice(_UNARY), (self.expression(depth - 1),))
            case 3:
                return e.Coalesce((self.expression(depth - 1), self.expression(depth - 1)))
            case 4:
                if rng.random() < 0.3:
                    return e.Call(rng.choice((e.Builtin.RAND, e.Builtin.BNODE, e.Builtin.NOW)))
                if rng.random() < 0.3:
                    parts = (self.expression(depth - 1), rng.choice(PREDICATES), self.expression(depth - 1))
                    return e.Call(e.Builtin.TRIPLE, parts)
                return e.Call(e.Builtin.ISIRI, (self.expression(depth - 1),))
            case _:
                return e.If(self.condition(0), self.expression(depth - 1), self.expression(depth - 1))


def form(rng: Random, pattern: a.Pattern) -> Form:
    named = tuple(v for v in visible(pattern) if not v.internal)
    chance = rng.random()
    if chance < 0.65 and named:
        return Select(named)
    if chance < 0.73:
        return Ask()
    if chance < 0.77 and named:
        return Describe((rng.choice(named),))
    if chance < 0.87 and named:
        # One triple that any solution can make: what short cuts take.
        return Construct((a.TriplePattern(rng.choice(named), PREDICATES[0], rng.choice(named)),))
    chosen = [*named, *NODES]
    template = tuple(
        a.TriplePattern(
            rng.choice(chosen) if rng.random() < 0.8 else Variable(".t0"),
            rng.choice((*PREDICATES, REIFIES)),
            rng.choice(chosen) if rng.random() < 0.9 else a.triple_node(*rng.choices(chosen, k=3)),
        )
        for _ in range(rng.randrange(1, 3))
    )
    return Construct(template)
