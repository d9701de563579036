"""Which pattern of a conjunctive query comes next, and what it must agree with."""

from __future__ import annotations

from weir.kernel.matching.join_order import encode, link, order_steps
from weir.language import parse
from weir.plan.analysis.conjunctions import Conjunction, conjunction
from weir.rdf.ids.dictionary import Dictionary

HEAD = "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [TRIPLES 9] WHERE { WINDOW <w> { "


def asked(body: str) -> Conjunction:
    found = conjunction(parse(HEAD + body + " } }"))
    assert isinstance(found, Conjunction)
    return found


def order(*bodies: str) -> list[list[int]]:
    """The patterns of each query in the order of steps, counted from 0 in the query."""
    encoded, _ = encode([asked(body) for body in bodies], Dictionary())
    steps = order_steps(encoded).pattern
    return [
        [pattern - first for pattern in row.tolist() if pattern >= 0]
        for row, first in zip(steps, encoded.offsets.tolist(), strict=False)
    ]


def test_the_most_selective_pattern_comes_first():
    assert order("?x <p> ?y . <a> <p> ?x", "?x <p> <o> . ?x <q> ?y") == [[1, 0], [0, 1]]


def test_a_pattern_that_shares_a_variable_comes_before_one_that_does_not():
    assert order("<a> <p> ?x . ?y <q> <o> . ?x <r> ?z") == [[0, 2, 1]]


def test_the_order_in_which_a_query_is_written_does_not_matter():
    one, _ = encode([asked("?x <p> <o> . ?x <q> ?y"), asked("?a <q> ?b . ?a <p> <o>")], Dictionary())
    steps = order_steps(one)
    assert one.symbols[steps.pattern[0]].tolist() == one.symbols[steps.pattern[1]].tolist()
    assert steps.links[0].tolist() == steps.links[1].tolist()


def test_a_link_leads_to_the_first_place_of_the_variable():
    encoded, variables = encode([asked("<a> <p> ?x . ?x <q> ?x")], Dictionary())
    steps = order_steps(encoded)
    for place, expected in ((0, (0, 2)), (1, (-1, 0)), (2, (0, 2))):
        step, origin = link(steps.links[:, 1], place)
        assert (int(step[0]), int(origin[0])) == expected
    assert steps.columns[0, list(variables[0].values())].tolist() == [0]
