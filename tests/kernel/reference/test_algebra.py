"""The algebra where the W3C tests are silent: bags, ties, EXISTS, seeds, paths over bags, endpoints."""

from __future__ import annotations

import pytest

from reference_kit import evaluate_query, run, static_of
from weir.errors import EvaluationError, RemoteError
from weir.kernel.reference import Message
from weir.kernel.reference.algebra import identities
from weir.language import parse
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple


def iri(name: str) -> IRI:
    return IRI(f"urn:{name}")


def triples(*texts: str) -> list[Triple]:
    """``"a p b"`` is a triple of IRIs; digits are integers, a leading underscore a blank node."""
    return [tuple(term(part) for part in text.split()) for text in texts]  # type: ignore[misc]


def term(part: str) -> Term:
    if part.isdigit():
        return Literal(part, XSD + "integer")
    return BlankNode(part[1:]) if part.startswith("_") else iri(part)


def rows(text: str, *data: str, named: dict[str, list[Triple]] | None = None, endpoint=None) -> list[str]:
    """Results as words: the values of the selected variables, dots where unbound."""
    query = parse(f"PREFIX : <urn:> {text}", "sparql")
    found = evaluate_query(query, static_of(triples(*data), named), endpoint=endpoint)
    names = [variable.name for variable in query.form.variables]
    return [" ".join(short(row.get(name)) for name in names) for row in found]


def short(value: Term | None) -> str:
    if value is None:
        return "."
    return (
        value.value.removeprefix("urn:") if isinstance(value, IRI) else str(getattr(value, "lexical", value))
    )


def test_order_by_ties_follow_what_is_projected() -> None:
    data = ("a p 1", "b p 1", "c p 0", "a q 9", "b q 8")
    assert rows("SELECT ?s { ?s :p ?v } ORDER BY DESC(?v)", *data) == ["a", "b", "c"]
    # ?o is not projected and breaks no tie; ?s does
    assert rows("SELECT ?s { ?s :p ?v ; :q ?o } ORDER BY ?v LIMIT 1", *data) == ["a"]


def test_limit_without_order_is_canonical() -> None:
    assert rows("SELECT ?o { ?s :p ?o } LIMIT 2", "a p 9", "a p 10", "a p b") == ["b", "10"]
    assert rows("SELECT ?o { ?s :p ?o } OFFSET 2", "a p 9", "a p 10", "a p b") == ["9"]


def test_a_subquerys_order_is_not_the_outer_one() -> None:
    inner = "{ SELECT ?o { ?s :p ?o } ORDER BY DESC(?o) LIMIT 2 }"
    assert rows(f"SELECT ?o {inner} LIMIT 1", "a p 1", "a p 2", "a p 3") == ["2"]


def test_exists_sees_the_current_solution_in_its_filters() -> None:
    data = ("a p 1", "b p 5", "x limit 3")
    assert rows("SELECT ?s { ?s :p ?v FILTER EXISTS { ?x :limit ?m FILTER(?v > ?m) } }", *data) == ["b"]


def test_exists_under_optional_keeps_the_substitution() -> None:
    # ?x is 1 from outside: the OPTIONAL inside cannot bind it otherwise, and does not fail
    data = ("a p 1", "a q b", "b r 2")
    assert rows("SELECT ?s { ?s :p ?x FILTER EXISTS { ?s :q ?t OPTIONAL { ?t :r ?x } } }", *data) == ["a"]


def test_exists_does_not_reach_what_a_subquery_hides() -> None:
    data = ("a p 1", "b p 2", "c q 1")
    hidden = "SELECT ?s { ?s :p ?x FILTER EXISTS { SELECT ?y { ?y :q ?x } } }"
    shown = "SELECT ?s { ?s :p ?x FILTER EXISTS { SELECT ?x { ?y :q ?x } } }"
    assert rows(hidden, *data) == ["a", "b"]
    assert rows(shown, *data) == ["a"]


def test_minus_needs_a_shared_variable() -> None:
    assert rows("SELECT ?s { ?s :p ?o MINUS { ?x :q ?y } }", "a p b", "c q d") == ["a"]
    assert rows("SELECT ?s { ?s :p ?o MINUS { ?s :q ?y } }", "a p b", "a q d") == []


def test_bnode_with_a_label_is_one_node_a_solution() -> None:
    found = rows(
        "SELECT (sameTerm(?x, ?y) AS ?same) (STRLEN(STR(?o)) AS ?n) { "
        "?s :p ?o BIND(BNODE('l') AS ?x) BIND(BNODE('l') AS ?y) }",
        "a p 1",
        "a p 2",
    )
    assert found == ["true 1", "true 1"]


def test_bnode_differs_between_solutions_and_draws_between_places() -> None:
    text = "SELECT (COUNT(DISTINCT ?b) AS ?n) { ?s :p ?o BIND(BNODE('l') AS ?b) }"
    assert rows(text, "a p 1", "a p 2") == ["2"]
    # two equal solutions are two solutions
    twice = "SELECT (COUNT(DISTINCT ?u) AS ?n) { { ?s :p 1 } UNION { ?s :p 1 } BIND(UUID() AS ?u) }"
    assert rows(twice, "a p 1") == ["2"]
    assert rows("SELECT (?x = ?y AS ?same) { BIND(RAND() AS ?x) BIND(RAND() AS ?y) }") == ["false"]


def test_draws_repeat() -> None:
    text = "SELECT (RAND() AS ?r) (UUID() AS ?u) (BNODE() AS ?b) { ?s :p ?o } ORDER BY ?s"
    assert rows(text, "a p 1", "b p 2") == rows(text, "a p 1", "b p 2")


def test_order_by_rand_is_a_shuffle_that_repeats() -> None:
    data = [f"a p {n}" for n in range(20)]
    found = rows("SELECT ?o { ?s :p ?o } ORDER BY RAND()", *data)
    assert sorted(found, key=int) == [str(n) for n in range(20)]
    assert found != sorted(found)
    assert found == rows("SELECT ?o { ?s :p ?o } ORDER BY RAND()", *data)


def test_construct_makes_new_blank_nodes_for_each_solution() -> None:
    query = parse("PREFIX : <urn:> CONSTRUCT { _:b :of ?s ; :with [] } WHERE { ?s :p ?o }", "sparql")
    graph = evaluate_query(query, static_of(triples("a p 1", "a p 2", "b p 1")))
    assert len(graph) == 6
    assert len({subject for subject, _, _ in graph}) == 3
    assert graph == evaluate_query(query, static_of(triples("a p 1", "a p 2", "b p 1")))


def test_construct_is_a_set_without_ill_formed_triples() -> None:
    query = parse(
        "PREFIX : <urn:> CONSTRUCT { ?o :of :x . :x :y :z . ?s :q ?none } WHERE { ?s :p ?o }", "sparql"
    )
    graph = evaluate_query(query, static_of(triples("a p 1", "a p b", "b p c")))
    assert set(graph) == set(triples("b of x", "c of x", "x y z"))
    assert len(graph) == 3


def test_describe_follows_blank_nodes() -> None:
    query = parse("DESCRIBE <urn:a>", "sparql")
    graph = evaluate_query(
        query, static_of(triples("a p _x", "_x q _y", "_y q b", "b q c", "_x q _x", "d p a"))
    )
    assert set(graph) == set(triples("a p _x", "_x q _y", "_y q b", "_x q _x"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (":p", ["b", "b"]),
        (":p/:p", ["c", "c"]),
        (":p|:p", ["b", "b", "b", "b"]),
        ("!:q", ["b", "b"]),
        (":p?", ["a", "b"]),
        (":p+", ["b", "c"]),
        (":p*", ["a", "b", "c"]),
    ],
)
def test_paths_over_a_bag(path: str, expected: list[str]) -> None:
    """Plain steps count occurrences, closures are sets."""
    query = parse(
        "PREFIX : <urn:> SELECT ?o FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 10 CONTENT BAG] "
        f"WHERE {{ WINDOW :w {{ :a {path} ?o }} }}",
        "rspql",
    )
    quads = tuple((*triple, None) for triple in triples("a p b", "a p b", "b p c"))
    found = run(query, {"urn:s": [Message(0, quads)]})
    assert sorted(short(row["o"]) for _, row in found) == expected


def answer(url: str, pattern: object) -> list[dict[str, Term]]:
    if url == "urn:down":
        raise RemoteError("it is down")
    return [{"v": Literal(url.removeprefix("urn:"))}, {"v": Literal("both")}]


def test_service_by_variable_is_called_for_each_endpoint() -> None:
    data = ("a at e1", "b at e2")
    found = rows("SELECT ?s ?v { ?s :at ?e SERVICE ?e { ?x :y ?v } }", *data, endpoint=answer)
    assert sorted(found) == ["a both", "a e1", "b both", "b e2"]
    optional = rows("SELECT ?s ?v { ?s :at ?e OPTIONAL { SERVICE ?e { ?x :y ?v } } }", *data, endpoint=answer)
    assert sorted(optional) == sorted(found)


def test_service_failures() -> None:
    silent = rows("SELECT ?s ?v { ?s :p ?o SERVICE SILENT :down { ?x :y ?v } }", "a p b", endpoint=answer)
    assert silent == ["a ."]
    with pytest.raises(RemoteError):
        rows("SELECT ?v { SERVICE :down { ?x :y ?v } }", endpoint=answer)
    with pytest.raises(EvaluationError):
        rows("SELECT ?v { SERVICE ?unbound { ?x :y ?v } }", endpoint=answer)
    with pytest.raises(EvaluationError):
        rows("SELECT ?v { SERVICE :e1 { ?x :y ?v } }")


def test_group_concat_and_sample_are_canonical() -> None:
    data = ("a p 2", "a p 10", "a p b")
    assert rows("SELECT (GROUP_CONCAT(?o; SEPARATOR=',') AS ?c) { ?s :p ?o }", *data) == ["urn:b,10,2"]
    assert rows("SELECT (SAMPLE(?o) AS ?c) { ?s :p ?o }", *data) == ["b"]


def test_distinct_count_of_solutions() -> None:
    data = ("a p 1", "b p 1")
    assert rows("SELECT (COUNT(DISTINCT *) AS ?n) { [] :p ?o }", *data) == ["1"]
    assert rows("SELECT (COUNT(*) AS ?n) { [] :p ?o }", *data) == ["2"]


def test_graph_names() -> None:
    named = {"urn:g": triples("a p 1"), "urn:h": []}
    assert rows("SELECT ?g { GRAPH ?g {} }", named=named) == ["g", "h"]
    assert rows("SELECT ?g ?s { GRAPH ?g { ?s :p ?o } }", named=named) == ["g a"]
    assert rows("SELECT ?s { GRAPH :none { ?s :p ?o } }", named=named) == []


def test_equal_solutions_have_identities_of_their_own() -> None:
    one, two, other = identities([{"x": iri("a")}, {"x": iri("a")}, {"x": iri("b")}])
    assert len({one, two, other}) == 3
