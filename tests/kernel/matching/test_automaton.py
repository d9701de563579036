"""The automaton: Figure 2's machines, the eight pattern kinds, and every match that a scan would find."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.kernel.matching.automaton import ANY, Matcher

EXAMPLES = int(100 * float(os.environ.get("WEIR_EXAMPLES", "1")))
A, B, C, D, E = 1, 2, 3, 4, 5

Q1 = [(ANY, B, C), (ANY, D, E)]
Q2 = [(ANY, B, C), (ANY, D, E), (A, D, ANY)]

term = st.integers(1, 4)
graph = st.integers(0, 2)
symbol = st.sampled_from([ANY, 1, 2, 3, 4])
pattern = st.tuples(symbol, symbol, symbol, st.sampled_from([ANY, ANY, 1, 2]))
quad = st.tuples(term, term, term, graph)


def columns(quads):
    return [np.array([q[place] for q in quads], np.int64) for place in range(4)]


def matched(matcher, *given):
    """The matches of columns, which come by row."""
    rows, machines = matcher.match(*given)
    assert (np.diff(rows) >= 0).all()
    return list(zip(rows.tolist(), machines.tolist(), strict=True))


def scan(patterns, quads):
    return {
        (row, place)
        for row, quad_ in enumerate(quads)
        for place, pattern_ in enumerate(patterns)
        if all(wanted in (ANY, term_) for wanted, term_ in zip(pattern_, quad_, strict=True))
    }


def test_figure_2_combines_five_machines_into_three():
    matcher = Matcher()
    q1, q2 = matcher.add(Q1), matcher.add(Q2)
    assert q2.tolist()[:2] == q1.tolist()
    assert len(set(q2.tolist())) == len(matcher) == 3
    assert matcher.states == 9


def test_figure_2_triple_abc_reaches_m1_alone():
    matcher = Matcher()
    m1, _ = matcher.add(Q1).tolist()
    matcher.add(Q2)
    assert matched(matcher, np.array([A]), np.array([B]), np.array([C])) == [(0, m1)]


def test_the_eight_pattern_kinds():
    kinds = [(s, p, o) for s in (A, ANY) for p in (B, ANY) for o in (C, ANY)]
    matcher = Matcher()
    ids = matcher.add(kinds)
    triples = np.array([(s, p, o) for s in (A, 9) for p in (B, 9) for o in (C, 9)])
    rows, machines = matcher.match(*triples.T.copy())
    expected = {
        (row, ids[place])
        for row, triple in enumerate(triples.tolist())
        for place, kind in enumerate(kinds)
        if all(k in (ANY, t) for k, t in zip(kind, triple, strict=True))
    }
    assert set(zip(rows.tolist(), machines.tolist(), strict=True)) == expected


def test_a_graph_constant_is_a_fourth_transition():
    matcher = Matcher()
    anywhere, in_seven = matcher.add([(A, B, ANY, ANY), (A, B, ANY, 7)]).tolist()
    one = np.array([A, A]), np.array([B, B]), np.array([C, C])
    assert sorted(matched(matcher, *one, np.array([7, 0]))) == [(0, anywhere), (0, in_seven), (1, anywhere)]
    assert {machine for _, machine in matched(matcher, *one)} == {anywhere}


def test_adding_one_query_leaves_the_others_ids_and_touches_only_its_states():
    rng = np.random.default_rng(1)
    many = rng.integers(1, 500, (4000, 3))
    matcher = Matcher()
    before = matcher.add(many)
    states = matcher.states
    added = matcher.add([(700, 701, ANY)])
    assert matcher.states == states + 3
    assert added[0] not in before
    assert np.array_equal(matcher.add(many), before)


def test_an_empty_automaton_matches_nothing():
    matcher = Matcher()
    assert matcher.add([]).tolist() == []
    assert not matcher.mask(np.array([A]), np.array([B]), np.array([C])).any()
    assert matcher.mask(*[np.empty(0, np.int64)] * 3).tolist() == []


def test_a_pattern_without_constants_matches_everything():
    matcher = Matcher()
    matcher.add([(ANY, ANY, ANY)])
    assert matcher.mask(np.array([A, -B]), np.array([B, C]), np.array([C, -D])).all()


def test_equal_patterns_share_one_machine_until_the_last_reference_goes():
    matcher = Matcher()
    first, second = matcher.add([(A, B, ANY)]), matcher.add([(A, B, ANY)])
    assert first.tolist() == second.tolist()
    matcher.drop(first)
    assert len(matcher) == 1
    matcher.drop(second)
    assert (len(matcher), matcher.states) == (0, 1)


@given(st.lists(pattern, max_size=12), st.lists(quad, max_size=12))
@settings(max_examples=EXAMPLES, deadline=None)
def test_matches_are_those_of_a_scan(patterns, quads):
    matcher = Matcher()
    ids = matcher.add(np.array(patterns, np.int64).reshape(-1, 4))
    found = matched(matcher, *columns(quads))
    expected = {(row, int(ids[place])) for row, place in scan(patterns, quads)}
    assert len(found) == len(set(found))
    assert set(found) == expected
    mask = matcher.mask(*columns(quads))
    assert set(np.flatnonzero(mask).tolist()) == {row for row, _ in expected}


@given(
    st.lists(st.lists(pattern, min_size=1, max_size=4), min_size=1, max_size=8),
    st.lists(st.tuples(st.booleans(), st.integers(0, 7)), max_size=30),
    st.lists(quad, min_size=1, max_size=8),
)
@settings(max_examples=EXAMPLES, deadline=None)
def test_coming_and_going_leaves_what_a_new_automaton_of_the_rest_would_be(queries, moves, quads):
    matcher = Matcher()
    live: list[tuple[list, np.ndarray]] = []
    for adds, which in moves:
        if adds or not live:
            query = queries[which % len(queries)]
            live.append((query, matcher.add(query)))
        else:
            _, ids = live.pop(which % len(live))
            matcher.drop(ids)
    fresh = Matcher()
    for query, _ in live:
        fresh.add(query)
    assert (len(matcher), matcher.states) == (len(fresh), fresh.states)
    found = set(matched(matcher, *columns(quads)))
    expected = set()
    for query, ids in live:
        assert [matcher.pattern(m) for m in ids.tolist()] == query
        expected |= {(row, int(ids[place])) for row, place in scan(query, quads)}
    assert found == expected


def test_the_table_holds_many_pairs_that_come_and_go():
    rng = np.random.default_rng(7)
    matcher = Matcher()
    kept = matcher.add(rng.integers(1, 30, (300, 3)))
    for _ in range(20):
        passing = matcher.add(rng.integers(1, 2**62, (200, 3)))
        matcher.drop(passing)
    assert matcher.bound < 4 * (300 + 200)
    assert len(matcher) == len(set(kept.tolist()))


def test_a_walk_makes_room_for_many_matches():
    matcher = Matcher()
    kinds = [(s, p, o) for s in (A, ANY) for p in (B, ANY) for o in (C, ANY)]
    ids = matcher.add(kinds)
    count = 5_000
    rows, machines = matcher.match(*(np.full(count, term_) for term_ in (A, B, C)))
    assert rows.tolist() == np.repeat(np.arange(count), len(kinds)).tolist()
    assert set(machines.reshape(count, -1).sum(axis=1).tolist()) == {int(ids.sum())}
