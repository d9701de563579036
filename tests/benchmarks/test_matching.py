"""The matching benchmark's parts: data and queries repeat, and all systems count the same results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba", reason="the benchmark's HashMat is compiled with numba (extra: bench)")

from weir.language import parse
from weir_bench.data.energy import TRIPLES_PER_READING, energy
from weir_bench.matching import benchmark as matching
from weir_bench.matching.queries import Workload, query, text, walks
from weir_bench.matching.registering import adding_to
from weir_bench.matching.systems import (
    Data,
    Speed,
    build_hashmat,
    build_set,
    build_stringmat,
    mean,
    run_one_by_one,
)
from weir_bench.report import Report

SMALL = Workload(queries=60, window=40)


@pytest.fixture(scope="module")
def data() -> Data:
    return Data(energy(1500))


def test_the_stream_repeats_and_is_a_prefix_of_a_longer_one():
    one, two = energy(1000), energy(1000)
    assert one.terms.equals(two.terms)
    assert np.array_equal(one.object, two.object)
    assert len(one) == 1000 == TRIPLES_PER_READING * 100
    assert one.lines()[0].startswith("1407110400000\t<http://energy.example/reading/0> <http://www.w3.org/")


def test_walks_repeat_and_have_at_most_the_patterns_asked_for(data):
    found = walks(data.energy, SMALL)
    assert found == walks(data.energy, SMALL)
    assert found != walks(data.energy, replace(SMALL, seed=4))
    assert {len(patterns) for patterns in found} == {1, 2, 3}


def test_the_text_of_a_walk_is_its_query(data):
    for number, patterns in enumerate(walks(data.energy, SMALL)[:20]):
        parsed = parse(text(patterns, 40, f"http://energy.example/q{number}"))
        assert replace(parsed, output=None) == query(patterns, 40)


@pytest.mark.parametrize("window", [10, 40, 200])
def test_all_systems_count_the_same(data, window):
    """The paper's algorithm, its kinder variant, both on texts, Weir's set, and every query alone."""
    found = walks(data.energy, replace(SMALL, window=window, backward=0.2, constant=0.5))
    parsed = [query(patterns, window) for patterns in found]
    count = 1200
    hashmat, stringmat = build_hashmat(parsed), build_stringmat(parsed, data)
    counted = set()
    for mat, triples in ((hashmat, data.triples[:count]), (stringmat, data.coded[:count])):
        for pinned in (False, True):
            room = mat.prepare(triples, window)
            counted.add(mat.run(triples, window, room, pinned=pinned).results)
    # Equal solutions that come where others go are no news to ISTREAM; the paper reports them.
    news = build_set(parsed).advance(data.slab(0, count)).delivered
    assert news == round(run_one_by_one(found, data, window, count).results * count)
    (results,) = counted
    assert 0.99 * results <= news <= results


def test_queries_are_chosen_for_equal_results():
    rates = np.random.default_rng(1).exponential(0.01, 5000) ** 2
    for count in (100, 300, 1000):
        chosen = matching.choose(rates, count, 0.1)
        assert len(set(chosen.tolist())) == count
        assert rates[chosen].sum() == pytest.approx(0.1, rel=0.5)
    with pytest.raises(ValueError, match="too few"):
        matching.choose(rates, 4000, 0.001)


def test_adding_one_query_touches_only_its_own_states(monkeypatch):
    monkeypatch.setattr(matching, "energy", lambda count: energy(20_000))
    report = Report("matching")
    bench = matching._Bench(report, quick=True)
    bench.adding_one()
    figures = report.figures["adding one"]
    assert figures["states made"] <= 3 * figures["patterns"]
    assert figures["nodes made"] <= figures["patterns"]


def test_a_query_is_registered_beside_others_that_run(data) -> None:
    found = walks(data.energy, replace(SMALL, queries=60))
    told = adding_to(found, 40, 30)
    assert told["one more"] >= 0 and min(told["batch with them"], told["batch after"]) > 0


def test_the_mean_is_that_of_times() -> None:
    assert mean([Speed(1.0, 2.0), Speed(3.0, 2.0)]) == Speed(1.5, 2.0)
