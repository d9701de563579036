"""The store of facts against a plain model, whatever is pushed, ended and superseded; its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EX, EXAMPLES, SECOND, T0
from weir.fragments.protocol.annotation import FOREVER, Fact, TripleText
from weir.fragments.server import facts as facts_module
from weir.fragments.server.facts import FactStore, Retention

triples = st.tuples(
    st.sampled_from(["<a>", "<b>"]), st.sampled_from(["<p>", "<q>"]), st.sampled_from(["<x>", "<y>", "<z>"])
)
times = st.integers(0, 20)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, object]]:
    made: list[tuple[str, object]] = []
    for kind in draw(st.lists(st.sampled_from(["push", "push", "push", "replace", "end"]), max_size=12)):
        if kind == "end":
            made.append(("end", (draw(triples), draw(times))))
        else:
            batch = [
                Fact(*t, start, start + draw(st.integers(1, 10)))
                for t, start in draw(st.lists(st.tuples(triples, times), min_size=1, max_size=4))
            ]
            made.append((kind, batch))
    return made


class Model:
    """For each triple the set of ticks at which it holds."""

    def __init__(self) -> None:
        self.ticks: dict[TripleText, set[int]] = {}

    def apply(self, kind: str, value: object) -> None:
        if kind == "end":
            triple, at = value  # type: ignore[misc]
            self._cut(triple, at)
            return
        for fact in value if kind == "replace" else ():  # type: ignore[attr-defined]
            for triple in list(self.ticks):
                if triple[:2] == fact.triple[:2] and triple != fact.triple:
                    self._cut(triple, fact.start)
        for fact in value:  # type: ignore[attr-defined]
            self.ticks.setdefault(fact.triple, set()).update(range(fact.start, fact.end))

    def _cut(self, triple: TripleText, at: int) -> None:
        self.ticks[triple] = {tick for tick in self.ticks.get(triple, set()) if tick < at}

    def at(self, tick: int) -> list[TripleText]:
        return sorted(triple for triple, ticks in self.ticks.items() if tick in ticks)


def holding(store: FactStore, at: int) -> list[TripleText]:
    return sorted(f.triple for segment in store.segments for f in segment.facts() if f.start <= at < f.end)


@settings(max_examples=120 * EXAMPLES, deadline=None)
@given(steps(), st.booleans())
def test_history_holds_what_the_model_holds(program: list[tuple[str, object]], small: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if small:
            patch.setattr(facts_module, "_MERGE_EXPIRED", 2)
            patch.setattr(facts_module, "_MERGE_LIVE", 3)
            patch.setattr(facts_module, "SEGMENT_ROWS", 4)
        store = FactStore(Retention(history=True))
        model = Model()
        for number, (kind, value) in enumerate(program):
            model.apply(kind, value)
            if kind == "end":
                triple, at = value  # type: ignore[misc]
                store.end([triple], at, at)
            else:
                if kind == "replace":
                    store.supersede(value)  # type: ignore[arg-type]
                store.add(value, number)  # type: ignore[arg-type]
        for tick in range(-1, 32):
            assert holding(store, tick) == model.at(tick)
            near = {id(s) for s in store.upcoming(tick)}
            assert all(
                id(s) in near
                for s in store.segments
                if any(f.start < f.end and f.end > tick for f in s.facts())
            )
        rows = [(s, r, f) for s in store.segments for r, f in enumerate(s.facts()) if f.start < f.end]
        for segment, row, _ in rows:
            assert segment in list(store.numbered(int(segment.number[row])))


def test_a_fact_that_overlaps_an_equal_one_stretches_it() -> None:
    store = FactStore(Retention(history=True))
    triple = ("<a>", "<p>", "<x>")
    assert store.add([Fact(*triple, 0, 10)], 0) == 1
    assert store.add([Fact(*triple, 5, 15)], 5) == 0
    assert store.add([Fact(*triple, 15, 20)], 15) == 1
    assert [(f.start, f.end) for s in store.segments for f in s.facts()] == [(0, 15), (15, 20)]


def test_expired_facts_are_forgotten_without_history() -> None:
    store = FactStore(Retention())
    for version in range(100):
        start = T0 + version * SECOND
        store.add([Fact(f"<{EX}s>", f"<{EX}p>", f'"{version}"', start, start + SECOND)], start)
    assert len(store) <= 2


def test_facts_that_never_end_do_not_pile_up_segments() -> None:
    store = FactStore(Retention())
    for number in range(1000):
        store.add([Fact(f"<{EX}s{number}>", f"<{EX}p>", '"x"', T0 + number, FOREVER)], T0 + number)
    assert len(store) == 1000 and len(store.segments) < 70


def test_retention_bounds_history_by_number_and_by_age() -> None:
    for retention in (Retention(history=True, facts=500), Retention(history=True, age=50 * SECOND)):
        store = FactStore(retention)
        for version in range(1000):
            start = T0 + version * SECOND
            store.add([Fact(f"<{EX}s>", f"<{EX}p>", f'"{version}"', start, start + SECOND)], start)
        assert 40 <= len(store) <= 800
        newest = max(f.start for s in store.segments for f in s.facts())
        assert newest == T0 + 999 * SECOND


def test_an_instant_meets_few_segments_however_long_the_history() -> None:
    store = FactStore(Retention(history=True))
    for version in range(2000):
        start = T0 + version * SECOND
        store.add(
            [Fact(f"<{EX}s{n}>", f"<{EX}p>", f'"{version}"', start, start + SECOND) for n in range(20)], start
        )
    assert len(store) == 40_000 and len(store.segments) < 40
    now = T0 + 1999 * SECOND
    assert len(list(store.upcoming(now))) == 1
    assert sum(len(segment) for segment in store.upcoming(now)) <= 20
    for version in (3, 700, 1500):
        instant = T0 + version * SECOND + 1
        met = [s for s in store.segments if s.min_start <= instant < s.max_end]
        assert len(met) == 1
