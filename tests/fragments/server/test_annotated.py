"""A fragment of annotated facts is what a scan of their annotation quads finds, for every annotation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fragments_kit import ANNOTATIONS, EX, EXAMPLES, SECOND, T0, annotate
from weir.fragments.protocol.annotation import (
    FOREVER,
    Annotation,
    Fact,
    Labeling,
    Method,
    Quad,
    QuadPattern,
    time_text,
)
from weir.fragments.server import Dataset
from weir.fragments.server.annotated import Names

ADDRESS = "http://weir.test/d"
triples = st.tuples(
    st.sampled_from([f"<{EX}a>", f"<{EX}b>"]),
    st.sampled_from([f"<{EX}p>", f"<{EX}q>"]),
    st.sampled_from([f"<{EX}a>", '"x"', '"y \\"&=+%"@en', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>']),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Fact]:
    facts: list[Fact] = []
    for triple in draw(st.lists(triples, max_size=7)):
        start = draw(st.integers(0, 6))
        fact = Fact(*triple, T0 + start * SECOND, T0 + (start + draw(st.integers(1, 4))) * SECOND)
        if not any(f.triple == triple and f.start < fact.end and fact.start < f.end for f in facts):
            facts.append(fact)
    return facts


def written(dataset: Dataset, at: int | None) -> list[Quad]:
    """Every annotation quad, from the facts themselves and their numbers."""
    names = Names(dataset.prefix, ADDRESS)
    kinds = {Method.SINGLETON: "property", Method.GRAPHS: "graph", Method.REIFICATION: "statement"}
    quads: list[Quad] = []
    for segment in dataset.store.segments:
        for number, fact in zip(segment.number.tolist(), segment.facts(), strict=True):
            if at is not None and not fact.start <= at < fact.end:
                continue
            method = dataset.annotation.method
            node = (
                names.implicit(fact.triple)
                if method is Method.IMPLICIT
                else f"<{dataset.prefix}{kinds[method]}:{number}>"
            )
            quads += annotate(fact, dataset.annotation, node, f"<{dataset.prefix}interval:{number}>")
    return list(dict.fromkeys(quads))


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@settings(max_examples=30 * EXAMPLES, deadline=None)
@given(st.data(), histories(), st.integers(-1, 11), st.booleans())
def test_any_pattern_finds_what_a_scan_finds(
    annotation: Annotation, data: st.DataObject, facts: list[Fact], tick: int, timed: bool
) -> None:
    now = T0 + tick * SECOND
    dataset = Dataset("d", annotation=annotation)
    dataset.push(facts, T0)
    interval = annotation.labeling is Labeling.INTERVAL
    instant = now if interval and timed else None
    quads = written(dataset, None if interval and not timed else now)
    everything = written(dataset, None) or [("<a>", "<b>", "<c>", "")]
    source = data.draw(st.sampled_from(everything))
    mask = data.draw(st.tuples(*[st.booleans()] * 4))
    s, p, o, g = (part if keep else None for part, keep in zip(source, mask, strict=True))
    pattern: QuadPattern = (s, p, o, g)
    selection = dataset.select([pattern], now, instant, ADDRESS)
    expected = [q for q in quads if all(t is None or t == x for t, x in zip(pattern, q, strict=True))]
    assert sorted(selection.page(0, 10_000)) == sorted(expected)
    assert selection.total == len(expected)
    paged = [quad for low in range(0, selection.total, 2) for quad in selection.page(low, 2)]
    assert sorted(paged) == sorted(expected)


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@settings(max_examples=15 * EXAMPLES, deadline=None)
@given(histories(), st.integers(-1, 11))
def test_nothing_changes_before_the_selection_says(
    annotation: Annotation, facts: list[Fact], tick: int
) -> None:
    """What is valid stays the same until ``changes``, and is different then."""
    dataset = Dataset("d", annotation=annotation)
    dataset.push(facts, T0)
    if annotation.labeling is not Labeling.EXPIRATION:
        return
    now = T0 + tick * SECOND
    pattern: QuadPattern = (None, None, None, None)
    selection = dataset.select([pattern], now, None, ADDRESS)
    before = sorted(selection.page(0, 10_000))
    if selection.changes == FOREVER:
        assert sorted(dataset.select([pattern], T0 + 99 * SECOND, None, ADDRESS).page(0, 99)) == before
        return
    just_before = dataset.select([pattern], selection.changes - 1, None, ADDRESS)
    after = dataset.select([pattern], selection.changes, None, ADDRESS)
    assert sorted(just_before.page(0, 10_000)) == before != sorted(after.page(0, 10_000))


def test_times_match_to_the_letter() -> None:
    dataset = Dataset("d")
    dataset.push([Fact("<a>", "<p>", "<x>", T0, T0 + SECOND)], T0)
    end = time_text(T0 + SECOND)
    assert dataset.select([(None, None, end, None)], T0, None, ADDRESS).total == 1
    other = end.replace("Z", "+00:00")
    assert dataset.select([(None, None, other, None)], T0, None, ADDRESS).total == 0
