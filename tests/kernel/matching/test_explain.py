"""``explain --all``: states, templates and sharing as text."""

from __future__ import annotations

from weir.kernel.background import Background
from weir.kernel.matching.explain import explain_all
from weir.kernel.matching.shared import SharedEvaluator
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary

HEAD = "SELECT * FROM NAMED WINDOW <w> ON STREAM <s> [TRIPLES 100 CONTENT BAG] WHERE { WINDOW <w> "
QUERIES = {
    "q1": HEAD + "{ ?x1 <b> <c> . ?x1 <d> <e> } }",
    "q2": HEAD + "{ ?x2 <b> <c> . ?x2 <d> <e> . <a> <d> ?x2 } }",
    "q3": HEAD + "{ ?y <b> <c> . ?y <d> <e> } }",
    "q4": HEAD + "{ ?y <b> <f> . ?y <d> <g> } }",
    "hot": HEAD + "{ ?r <value> ?v FILTER (?v > 20) } }",
    "hotter": HEAD + "{ ?reading <value> ?value FILTER (?value > 30) } }",
    "first": HEAD + "{ ?r <value> ?v } } LIMIT 1",
}

SHOWN = """7 queries

conjunctions on <s> [TRIPLES 100 REPORT CONTENT CHANGE CONTENT BAG], RSTREAM
  4 queries, 3 different up to the names of variables; equal ones are evaluated once
  automaton: 11 states; 9 triple patterns share 5 machines
  steps: 7 of the different queries share 7 nodes
  templates: 2, with the number of their queries
         3  (?1 # #) (?1 # #)   m1m2 → SS
         1  (# # ?1) (?1 # #) (?1 # #)   m1m2 → OS, m1m3 → OS, m2m3 → SS

template of 2 queries: 2 different, evaluated once
  hot, hotter

evaluated singly: 1 query
  first: ORDER BY, LIMIT or OFFSET
"""


def test_the_whole_set_is_shown():
    shared = SharedEvaluator(Background(), Dictionary(), streams=("s",))
    shared.add({name: parse(text) for name, text in QUERIES.items()})
    assert explain_all(shared) == SHOWN
