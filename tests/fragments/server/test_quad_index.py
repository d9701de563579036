"""The sorted index finds for any pattern what a scan finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import EXAMPLES
from weir.fragments.protocol.annotation import Quad, QuadPattern
from weir.fragments.server.quad_index import Index, Run

terms = st.sampled_from([f"<t{n}>" for n in range(6)])
graphs = st.sampled_from(["", "", "<g1>", "<g2>"])
quads = st.lists(st.tuples(terms, terms, terms, graphs), max_size=30)
patterns = st.tuples(
    st.none() | terms, st.none() | terms, st.none() | terms, st.none() | graphs | st.just("<none>")
)


def scan(data: list[Quad], pattern: QuadPattern) -> list[Quad]:
    return [q for q in data if all(t is None or t == part for t, part in zip(pattern, q, strict=True))]


@settings(max_examples=150 * EXAMPLES, deadline=None)
@given(quads, patterns)
def test_a_pattern_finds_what_a_scan_finds(data: list[Quad], pattern: QuadPattern) -> None:
    index = Index.build(data)
    run = index.find(pattern)
    found = [] if run is None else index.slice(run, 0, len(data))
    assert sorted(found) == sorted(scan(data, pattern))


@settings(max_examples=60 * EXAMPLES, deadline=None)
@given(quads, patterns, st.integers(1, 5))
def test_pages_are_disjoint_and_complete(data: list[Quad], pattern: QuadPattern, size: int) -> None:
    index = Index.build(data, distinct=True)
    run = index.find(pattern) or Run("spog", 0, 0)
    length = run.high - run.low
    paged = [quad for low in range(0, length, size) for quad in index.slice(run, low, low + size)]
    assert len(paged) == length
    assert sorted(paged) == sorted(set(scan(data, pattern)))


def test_equal_quads_are_kept_unless_told_otherwise() -> None:
    data: list[Quad] = [("<a>", "<b>", "<c>", "")] * 3
    assert Index.build(data).length == 3
    assert Index.build(data, distinct=True).length == 1


def test_an_empty_index_finds_nothing() -> None:
    assert Index.build([]).find((None, None, None, None)) is None
    assert Index.build([]).find(("<a>", None, None, "")) is None
