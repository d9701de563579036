"""Patterns with variables inside triple terms, taken apart and as a whole query."""

from __future__ import annotations

from itertools import count

import pytest

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Builtin, Call
from weir.language.algebra.fold import walk
from weir.language.algebra.scope import certain
from weir.plan.triple_terms import has_triple_terms, unfolded
from weir.rdf.terms import IRI, TripleTerm, Variable
from weir.testing import Scenario

P, R = IRI("http://e/p"), IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies")
X, Y = Variable("x"), Variable("y")


def test_a_term_becomes_a_variable_with_a_test() -> None:
    bgp = a.BGP((a.TriplePattern(X, R, a.TripleTermPattern(X, P, Y)),))
    found = unfolded(bgp, count(1))
    term = Variable(".term1")
    assert has_triple_terms(bgp)
    leaf = next(node for node in walk(found) if isinstance(node, a.BGP))
    assert leaf == a.BGP((a.TriplePattern(X, R, term),))
    assert Call(Builtin.SAMETERM, (X, Call(Builtin.SUBJECT, (term,)))) in list(walk(found))
    assert certain(found) == {"x", "y", ".term1"}


def test_a_constant_stays_what_it_is() -> None:
    assert not has_triple_terms(a.BGP((a.TriplePattern(X, R, TripleTerm(P, P, P)),)))


QUERY = """PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
SELECT ?s ?v ?who FROM NAMED WINDOW <w> ON <s> [RANGE PT1S]
WHERE { WINDOW <w> { ?s :value ?v ~ ?r {| :by ?who |} } GRAPH :people { ?who a :Person } }"""

REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
STREAM = f"""0\t<http://e/a> <http://e/value> "5"@en--ltr .
0\t_:r {REIFIES} <<( <http://e/a> <http://e/value> "5"@en--ltr )>> .
0\t_:r <http://e/by> <http://e/ann> .
0\t_:q {REIFIES} <<( <http://e/a> <http://e/value> "6" )>> .
0\t_:q <http://e/by> <http://e/bob> .
"""


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_annotations_on_a_stream_join_with_a_graph(evaluator: str) -> None:
    people = "<http://e/ann> a <http://e/Person> . <http://e/bob> a <http://e/Person> ."
    scenario = Scenario(QUERY, graphs={"http://e/people": people}, evaluator=evaluator)
    scenario.lane("s").put(STREAM).end()
    (line,) = scenario.batch()
    assert line["bindings"] == {
        "s": {"type": "uri", "value": "http://e/a"},
        "v": {"type": "literal", "value": "5", "xml:lang": "en", "its:dir": "ltr"},
        "who": {"type": "uri", "value": "http://e/ann"},
    }
