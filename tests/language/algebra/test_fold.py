"""Going through the algebra: every node is met, and a rewrite reaches it."""

from __future__ import annotations

from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import (
    deeper_than,
    folded,
    mapped,
    parts,
    path_predicates,
    patterns,
    rebuilt,
    walk,
)
from weir.rdf.terms import IRI, Variable

TEXT = """
SELECT ?x WHERE {
  ?x <http://e/p> ?y . OPTIONAL { ?y <http://e/q> ?z }
  FILTER (?y > 3 && NOT EXISTS { GRAPH <http://e/g> { ?x <http://e/r> ?w } })
}
"""


def test_parts_are_the_values_of_the_fields() -> None:
    assert list(parts(a.Graph(IRI("g"), a.BGP(())))) == [IRI("g"), a.BGP(())]
    assert list(parts((1, 2))) == [1, 2]
    assert list(parts(IRI)) == []


def test_walk_meets_every_triple_pattern_also_inside_exists() -> None:
    predicates = [node.predicate for node in walk(parse(TEXT).pattern) if isinstance(node, a.TriplePattern)]
    assert sorted(map(str, predicates)) == ["<http://e/p>", "<http://e/q>", "<http://e/r>"]


def test_walk_does_not_enter_what_is_closed() -> None:
    found = list(walk(parse(TEXT).pattern, closed=(e.Exists,)))
    assert any(isinstance(node, e.Exists) for node in found)
    assert not any(isinstance(node, a.Graph) for node in found)


def test_what_does_not_change_is_the_same_object() -> None:
    pattern = parse(TEXT).pattern
    assert rebuilt(pattern, lambda part: part) is pattern


def test_mapped_reaches_the_patterns_of_exists() -> None:
    def elsewhere(pattern: a.Pattern) -> a.Pattern:
        changed = mapped(pattern, elsewhere)
        return a.Graph(IRI("http://e/h"), changed.pattern) if isinstance(changed, a.Graph) else changed

    pattern = elsewhere(parse(TEXT).pattern)
    assert [each.name for each in patterns(pattern) if isinstance(each, a.Graph)] == [IRI("http://e/h")]


def test_rebuilt_renames_a_variable_everywhere() -> None:
    def renamed(node: object) -> object:
        return Variable("v") if node == Variable("y") else rebuilt(node, renamed)

    names = {node.name for node in walk(renamed(parse(TEXT).pattern)) if isinstance(node, Variable)}
    assert names == {"x", "v", "z", "w"}


def test_what_a_path_follows() -> None:
    def path(text: str) -> a.Path:
        pattern = parse(f"SELECT * {{ ?x {text} ?y }}").pattern
        return next(node.path for node in walk(pattern) if isinstance(node, a.PathPattern))

    p, q = IRI("http://e/p"), IRI("http://e/q")
    assert path_predicates(path("(<http://e/p>|^<http://e/q>/<http://e/p>)+")) == (p, q)
    assert path_predicates(path("!<http://e/p>")) is None


def test_what_is_long_is_not_deep() -> None:
    many = " ".join(f"(?y + {n} AS ?x{n})" for n in range(2000))
    found = parse(f"SELECT {many} {{ ?a ?p ?y }}").pattern
    assert not deeper_than(found, 4) and deeper_than(found, 3)


def test_what_is_nested_is_deep() -> None:
    body = "?x ?p ?y"
    for _ in range(30):
        body = f"{{ {body} FILTER (?x > 1) }} UNION {{ ?x ?q ?y }}"
    found = parse(f"SELECT * {{ {body} }}").pattern
    assert deeper_than(found, 60) and not deeper_than(found, 70)


def test_long_chains_of_an_associative_operator_are_balanced() -> None:
    found = folded(e.Or, tuple(Variable(f"v{n}") for n in range(5000)))
    assert sum(isinstance(node, Variable) for node in walk(found)) == 5000
    assert not deeper_than(a.Filter(found, a.BGP(())), 80)
