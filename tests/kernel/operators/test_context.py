"""Expressions that change in time: rows are cut where their value changes, bags stay bags."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bags import INDICES, Bag, bag_at, check_well_formed, relation_of, relations, thorough
from weir.errors import EvaluationError
from weir.kernel.expressions import Compiled, compile
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import Context, holds, value_or_none
from weir.kernel.functions.scalar import Draws, solution_text
from weir.kernel.operators.context import Surroundings, each_index, extend, extend_by, filter_by, instants
from weir.kernel.operators.inputs.input import Present, RelationInput
from weir.kernel.relations.relation import Relation, rename
from weir.kernel.windows.instants import Instants
from weir.language.algebra.expressions import (
    TIMESTAMP,
    Arithmetic,
    Builtin,
    Calculate,
    Call,
    Compare,
    Comparison,
    Expression,
    FunctionCall,
)
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, XSD, Literal, Term, Variable
from weir.rdf.xsd.moments import datetime_literal

DICTIONARY = Dictionary()


TERMS = Terms(DICTIONARY)


TIMES = np.array([0, 1_000_000, 1_500_000, 1_500_001, 86_400_000_000])


IDS = [DICTIONARY.encode(term) for term in (IRI("a"), IRI("b"), Literal("1", XSD + "integer"))]


ROWS = relations(("x", "y"), ids=st.sampled_from(IDS))


X, Y = Variable("x"), Variable("y")


HALF = Literal("0.5", XSD + "double")


RAND = Call(Builtin.RAND)


LATER = Compare(Comparison.GT, Call(Builtin.NOW), Literal("1970-01-01T00:00:01Z", XSD + "dateTime"))


STAMP = FunctionCall(IRI(TIMESTAMP), (X, IRI("p"), Y))


def term(identifier: int) -> Term:
    return TERMS.term(identifier)


def solutions(bag: Bag) -> list[dict[str, Term]]:
    return [{name: term(value) for name, value in solution} for solution in bag.elements()]


def as_bag(rows: list[dict[str, Term]]) -> Bag:
    return Counter(frozenset((name, DICTIONARY.encode(value)) for name, value in row.items()) for row in rows)


def context_at(index: int, stamped: Relation | None = None) -> Context:
    def timestamp(subject: Term, predicate: Term, object: Term) -> int | None:
        assert stamped is not None
        sought = [DICTIONARY.encode(each) for each in (subject, predicate, object)]
        found = [
            int(stamped.columns["t"][row])
            for row in range(len(stamped))
            if stamped.start[row] <= index < stamped.end[row]
            and [int(stamped.columns[name][row]) for name in "spo"] == sought
        ]
        return max(found, default=None)

    return Context(now=int(TIMES[index]), timestamp=timestamp)


def around(query: str = "", timed: Relation | None = None) -> Surroundings:
    """The evaluation times, and triples ``s p o`` with the time ``t``."""
    present = Present(Instants(TIMES, np.ones(len(TIMES), np.bool_)))
    if timed is None:
        return Surroundings(present, query)
    names = {"s": "subject", "p": "predicate", "o": "object", "t": "time"}
    rows = rename(timed, names)
    return Surroundings(present, query, [RelationInput("t", rows.variables, lambda: rows, len(present))])


def compiled(expression: Expression, place: str = "") -> Compiled:
    return compile(expression, TERMS, place=place)


def test_instants_are_those_of_now() -> None:
    assert [term(i) for i in instants(TIMES).tolist()] == [datetime_literal(t) for t in TIMES.tolist()]


@thorough
@given(ROWS)
def test_now_in_filters_and_binds(relation: Relation) -> None:
    kept = filter_by(relation, compiled(LATER), around())
    bound = extend_by(relation, [("now", compiled(Call(Builtin.NOW)))], around())
    assert set(kept.columns) == {"x", "y"} and set(bound.columns) == {"x", "y", "now"}
    for index in range(INDICES):
        rows = solutions(bag_at(relation, index))
        context = context_at(index)
        assert bag_at(kept, index) == as_bag([row for row in rows if holds(LATER, row, context)])
        now = datetime_literal(int(TIMES[index]))
        assert bag_at(bound, index) == as_bag([{**row, "now": now} for row in rows])


@st.composite
def stamped_triples(draw: st.DrawFn) -> Relation:
    table = draw(relations(("s", "o"), ids=st.sampled_from(IDS), unbound=False))
    times = draw(st.lists(st.sampled_from([1_000, 2_000, 2_500]), min_size=len(table), max_size=len(table)))
    predicate = np.full(len(table), DICTIONARY.encode(IRI("p")), np.int64)
    return table.having("p", predicate).having("t", np.array(times, np.int64))


@thorough
@given(ROWS, stamped_triples())
def test_timestamps(relation: Relation, stamped: Relation) -> None:
    for expression in (STAMP, Calculate(Arithmetic.ADD, STAMP, RAND)):
        place = "t"
        result = extend_by(relation, [("t", compiled(expression, place))], around(timed=stamped))
        check_well_formed(result)
        for index in range(INDICES):
            context = context_at(index, stamped)
            rows = []
            for row, name in identified(solutions(bag_at(relation, index))):
                context.draws = Draws(f" {context.now} {name}", f"t {expression!r}")
                value = value_or_none(expression, row, context)
                rows.append(row if value is None else {**row, "t": value})
            assert bag_at(result, index) == as_bag(rows)


def test_each_timestamp_is_looked_up_for_itself() -> None:
    a, b, p = IDS[0], IDS[1], DICTIONARY.encode(IRI("p"))
    stamped = relation_of("spot", [((a, p, b, 1_000), 0, 3), ((b, p, a, 2_000), 1, 4)])
    back = FunctionCall(IRI(TIMESTAMP), (Y, IRI("p"), X))
    both = Calculate(Arithmetic.ADD, STAMP, back)
    relation = relation_of(("x", "y"), [((a, b), 0, 5)])
    bindings = [("t", compiled(STAMP)), ("u", compiled(back)), ("v", compiled(both))]
    result = extend_by(relation, bindings, around(timed=stamped))
    shown = [
        {name: term(value).lexical for name, value in next(iter(bag_at(result, k))) if name in "tuv"}
        for k in range(INDICES)
    ]
    assert shown == [{"t": "1"}, *[{"t": "1", "u": "2", "v": "3"}] * 2, {"u": "2"}, {}]


def identified(rows: list[dict[str, Term]]) -> list[tuple[dict[str, Term], str]]:
    seen: Counter[str] = Counter()
    out = []
    for row in rows:
        text = solution_text(row)
        seen[text] += 1
        out.append((row, f"{text} #{seen[text]}"))
    return out


@thorough
@given(ROWS)
def test_draws_depend_on_query_time_and_solution(relation: Relation) -> None:
    """A run of BINDs draws for the solution before it: BNODE("a") is one node in both."""
    node = Call(Builtin.BNODE, (Literal("a"),))
    run: list[tuple[str, Expression]] = [("r", RAND), ("b", node), ("c", node), ("u", Call(Builtin.UUID))]
    bindings = [(name, compiled(expression, name)) for name, expression in run]
    result = extend_by(relation, bindings, around("q"))
    for index in range(INDICES):
        rows = []
        for row, name in identified(solutions(bag_at(relation, index))):
            extended = dict(row)
            for variable, expression in run:
                draws = Draws(f"q {TIMES[index]} {name}", f"{variable} {expression!r}")
                value = value_or_none(expression, extended, Context(draws=draws))
                assert value is not None
                extended[variable] = value
            rows.append(extended)
        assert bag_at(result, index) == as_bag(rows)
        assert all(row["b"] == row["c"] for row in solutions(bag_at(result, index)))


@thorough
@given(ROWS, st.booleans())
def test_draws_in_filters(relation: Relation, anonymous: bool) -> None:
    condition = Compare(Comparison.LT, RAND, HALF)
    result = filter_by(relation, compiled(condition), around("q"), anonymous=anonymous)
    for index in range(INDICES):
        rows = []
        for row, name in identified(solutions(bag_at(relation, index))):
            identity = name.rpartition(" #")[0] if anonymous else name
            draws = Draws(f"q {TIMES[index]} {identity}", f" {condition!r}")
            if holds(condition, row, Context(draws=draws)):
                rows.append(row)
        assert bag_at(result, index) == as_bag(rows)


def test_an_expansion_that_explodes_is_refused() -> None:
    relation = relation_of(("x",), [((IDS[0],), 0, 5)])
    with pytest.raises(EvaluationError, match="evaluation time"):
        each_index(relation, limit=4)


def test_a_plain_filter_cuts_nothing() -> None:
    relation = relation_of(("x",), [((IDS[0],), 0, 5), ((IDS[1],), 0, 5)])
    kept = filter_by(relation, compiled(Compare(Comparison.EQ, X, IRI("a"))), around())
    assert (kept.start.tolist(), kept.end.tolist()) == ([0], [5])


TWO = relation_of(("x",), [((1,), 0, 4), ((2,), 2, 3)])


def test_an_extended_row_keeps_its_interval() -> None:
    extended = extend(TWO, "z", np.array([7, 0]))
    assert (extended.columns["z"].tolist(), extended.optional) == ([7, 0], {"z"})
    assert (extended.start.tolist(), extended.end.tolist()) == ([0, 2], [4, 3])


def test_a_bound_variable_is_not_bound_again() -> None:
    with pytest.raises(EvaluationError, match="already bound"):
        extend(TWO, "x", np.array([1, 1]))


def test_what_depends_on_the_time_cuts_a_row_at_every_index() -> None:
    rows = relation_of(("x",), [((IDS[0],), 0, 3)])
    bindings = [("now", compiled(Call(Builtin.NOW), "now")), ("y", compiled(X, "y"))]
    bound = extend_by(rows, bindings, around())
    assert (bound.start.tolist(), bound.end.tolist()) == ([0, 1, 2], [1, 2, 3])
    assert len(set(bound.columns["now"].tolist())) == 3 and len(set(bound.columns["y"].tolist())) == 1
