"""Which queries share a channel, and how each reads it."""

from __future__ import annotations

import numpy as np

from weir.kernel.matching.channels import Channels
from weir.language import parse
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.rdf.ids.dictionary import Dictionary


def asked(select: str, body: str) -> Conjunction:
    text = (
        f"SELECT {select} FROM NAMED WINDOW <w> ON STREAM <s> [TRIPLES 9] WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    found = conjunction(parse(text))
    assert isinstance(found, Conjunction)
    return found


def channels(**queries: Conjunction) -> Channels:
    found = Channels(as_set=True)
    found.add(list(queries.items()), Dictionary())
    return found


def test_queries_equal_up_to_names_share_a_channel():
    found = channels(
        one=asked("*", "?a <p> ?b"), two=asked("?y ?x", "?x <p> ?y"), three=asked("*", "?a <q> ?b")
    )
    headers = found.headers
    assert headers["one"].channel == headers["two"].channel != headers["three"].channel
    assert headers["two"].columns == {"y": 1, "x": 0}
    assert found.members[headers["one"].channel] == 2


def test_a_query_that_leaves_a_variable_out_has_a_channel_of_its_own():
    found = channels(whole=asked("*", "?a <p> ?b"), part=asked("?a", "?a <p> ?b"))
    end = found.ends[0]
    assert found.by_node.plain[end] == found.headers["whole"].channel
    assert found.by_node.special.tolist() == [found.headers["part"].channel]
    assert found.by_node.kept.tolist() == [[True, False]]
    assert np.flatnonzero(found.by_node.whole).tolist() == [end]


def test_a_channel_goes_with_its_last_query():
    found = channels(one=asked("*", "?a <p> ?b"), two=asked("*", "?x <p> ?y"))
    found.drop(["one"])
    assert (len(found), int(found.members.sum()), len(found.matcher)) == (1, 1, 1)
    found.drop(["two"])
    assert (len(found), int(found.members.sum()), len(found.matcher), len(found.trie)) == (0, 0, 0, 0)
