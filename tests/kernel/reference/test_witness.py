"""Random static queries beside pyoxigraph, the second witness.

Only what both define alike: its store is a set and rewrites literals, so data are IRIs and canonical
integers; it lets AS hide a variable in scope, takes no zero-length path from a term outside the graph
and counts what both sides of ``p|q`` connect once (18.4), and does not substitute into the paths of EXISTS
(18.6).
"""

from __future__ import annotations

import os
from collections import Counter

import pyoxigraph as ox
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from reference_kit import evaluate_query, static_of
from weir.errors import SyntaxError as WeirSyntaxError
from weir.language import parse
from weir.rdf.terms import IRI, XSD, Literal, Term, Triple

EXAMPLES = int(150 * float(os.environ.get("WEIR_EXAMPLES", "1")))

NODES = ["urn:a", "urn:b", "urn:c"]
PREDICATES = ["urn:p", "urn:q"]
VARIABLES = ["?x", "?y", "?z"]

objects = st.one_of(
    st.sampled_from(NODES).map(IRI), st.integers(0, 2).map(lambda n: Literal(str(n), XSD + "integer"))
)
triples = st.tuples(st.sampled_from(NODES).map(IRI), st.sampled_from(PREDICATES).map(IRI), objects)

subject = st.sampled_from([*VARIABLES, *VARIABLES, "<urn:a>", "_:n"])
predicate = st.sampled_from(["<urn:p>", "<urn:q>", "<urn:p>", "?z"])
object_ = st.sampled_from([*VARIABLES, *VARIABLES, "<urn:b>", "1"])
PATHS = """
<urn:p>+ <urn:p>* <urn:p>? <urn:p>/<urn:q> ^<urn:p> !<urn:p> !^<urn:q> <urn:p>/<urn:p>*
(<urn:p>/<urn:q>)* (<urn:p>|^<urn:q>)+
"""
path = st.sampled_from(PATHS.split())
ends = st.permutations(VARIABLES)
plain = st.tuples(subject, predicate, object_).map(" ".join)
step = st.one_of(plain, plain, st.tuples(ends, path).map(lambda t: f"{t[0][0]} {t[1]} {t[0][1]}"))
steps = st.lists(step, min_size=1, max_size=2).map(" . ".join)
operand = st.sampled_from([*VARIABLES, "1", "<urn:a>", "?x + 1", "2"])
condition = st.one_of(
    st.tuples(operand, st.sampled_from(["=", "!=", "<", ">"]), operand).map(" ".join),
    st.sampled_from(["BOUND(?x)", "!BOUND(?y)", "isIRI(?z)", "?x IN (1, <urn:a>)", "?y NOT IN (?x, 0)"]),
    st.sampled_from(["COALESCE(?x, 1) = 1", "IF(BOUND(?x), ?x = 1, true)", "?x = 1 || ?y = 2", "!(?x = ?y)"]),
)


def group(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map(lambda t: f"{t[0]} OPTIONAL {{ {t[1]} }}"),
        st.tuples(inner, inner).map(lambda t: f"{{ {t[0]} }} UNION {{ {t[1]} }}"),
        st.tuples(inner, inner).map(lambda t: f"{t[0]} MINUS {{ {t[1]} }}"),
        st.tuples(inner, condition).map(lambda t: f"{t[0]} FILTER({t[1]})"),
        st.tuples(inner, inner, condition).map(lambda t: f"{t[0]} OPTIONAL {{ {t[1]} FILTER({t[2]}) }}"),
        st.tuples(inner, plain).map(lambda t: f"{t[0]} FILTER NOT EXISTS {{ {t[1]} }}"),
        st.tuples(inner, operand).map(lambda t: f"{{ {t[0]} }} BIND({t[1]} AS ?new)"),
        inner.map(lambda text: f"{{ {text} }} VALUES (?x ?y) {{ (1 UNDEF) (<urn:a> <urn:b>) }}"),
        inner.map(lambda text: f"{{ SELECT DISTINCT ?x {{ {text} }} }}"),
        inner.map(lambda text: f"{{ SELECT ?x (COUNT(?y) AS ?n) {{ {text} }} GROUP BY ?x }}"),
        inner.map(lambda text: f"{{ SELECT (SUM(?x) AS ?n) (COUNT(*) AS ?m) {{ {text} }} }}"),
    )


patterns = st.recursive(steps, group, max_leaves=3)


def as_ox(term: Term) -> ox.NamedNode | ox.Literal:
    if isinstance(term, IRI):
        return ox.NamedNode(term.value)
    assert isinstance(term, Literal)
    return ox.Literal(term.lexical, datatype=ox.NamedNode(term.datatype))


@given(st.lists(triples, max_size=6), patterns)
@settings(max_examples=EXAMPLES, deadline=None)
def test_both_give_the_same_solutions(data: list[Triple], pattern: str) -> None:
    text = f"SELECT ?x ?y ?z ?n ?m {{ {pattern} }}"
    note(text)
    store = ox.Store()
    for s, p, o in data:
        store.add(ox.Quad(as_ox(s), as_ox(p), as_ox(o)))
    try:
        expected = Counter(
            tuple(None if row[v] is None else str(row[v]) for v in ("x", "y", "z", "n", "m"))
            for row in store.query(text)
        )
    except SyntaxError:
        assume(False)
    try:
        query = parse(text, "sparql")
    except WeirSyntaxError:
        assume(False)
    found = Counter(
        tuple(None if row.get(v) is None else str(row[v]) for v in ("x", "y", "z", "n", "m"))
        for row in evaluate_query(query, static_of(data))
    )
    assert found == expected
