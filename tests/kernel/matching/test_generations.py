"""Sets that began at different times become one as soon as both show the same."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import Slab
from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.generations import Generation, absorb, raise_levels
from weir.language import parse
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI

DICTIONARY = Dictionary()
TEXT = "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [RANGE PT2S] WHERE {{ WINDOW <w> {{ ?x <{name}> ?y }} }}"
SECOND = 1_000_000


def generation(name: str, since: int) -> Generation:
    query = parse(TEXT.format(name=name))
    found = conjunction(query)
    assert isinstance(found, Conjunction)
    each = Generation(ConjunctiveSet(found.window, query.semantics), since)
    each.set.add([(name, found)], DICTIONARY)
    return each


def slab(*seconds: int) -> Slab:
    count = len(seconds)
    terms = [np.full(count, DICTIONARY.encode(IRI(name))) for name in ("a", "p", "b")]
    none = np.zeros(count, np.int64)
    batch = Messages(
        np.array(seconds) * SECOND, np.ones(count, np.int64), np.arange(count), none, *terms, none
    )
    return Slab({"s": batch}, through=max(seconds) * SECOND)


def advanced(generations: list[Generation], slabs: list[Slab]) -> list[Generation]:
    before = [each.received for each in generations]
    for each, part in zip(generations, slabs, strict=True):
        each.set.advance(part)
    raise_levels(generations, before)
    return absorb(generations, DICTIONARY, settled=9)


def test_the_elder_takes_over_once_what_the_younger_did_not_see_has_gone():
    elder, younger = generation("p", 0), generation("q", 1)
    elder.set.advance(slab(1))
    younger.level = elder.received
    generations = advanced([elder, younger], [slab(2), slab(2)])
    assert len(generations) == 2
    generations = advanced(generations, [slab(6, 7), slab(6, 7)])
    assert [sorted(each.set.channels.queries) for each in generations] == [["p", "q"]]


def test_who_got_less_than_the_eldest_has_to_wait():
    elder, alike, late = generations = [generation(name, since) for since, name in enumerate("pqr")]
    before = [each.received for each in generations]
    for each, part in zip(generations, [slab(1, 2), slab(1, 2), slab(2)], strict=True):
        each.set.advance(part)
    raise_levels(generations, before)
    assert [each.level for each in generations] == [(0, 0), (0, 0), elder.received]
    assert alike.received == elder.received != late.received


def test_a_set_without_queries_goes():
    elder, younger = generation("p", 0), generation("q", 1)
    elder.set.drop(["p"])
    assert absorb([elder, younger], DICTIONARY, settled=0) == [younger]
