"""Data and queries in the style of the W3C suites, for comparing engines over the same data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyoxigraph as ox

DATA = """
@prefix : <http://example.org/ns#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:alice foaf:name "Alice" ; foaf:knows :bob, :carol ; :age 42 ; foaf:mbox <mailto:alice@example.org> .
:bob foaf:name "Bob" ; foaf:knows :carol ; :age 17 ; :nick "Bobby"@en , "Bob\\u00e9"@fr .
:carol foaf:name "Carol" ; :age 30 ; foaf:knows :dave .
:dave foaf:name "Dave \\"D\\" \\\\ O'Neil" ; :joined "2015-12-08T10:20:00Z"^^xsd:dateTime .
:eve foaf:name "Eve", "Evelyn"@en-gb ; :age 30.5 ; :score 1.5e3 , "07"^^xsd:integer .
:x1 :p "1"^^xsd:integer , "1.5"^^xsd:decimal , "one" .
:x2 :p :x1 . :x3 :p :x2 ; :q "line\\nbreak" , "tab\\there" , "a&b=c+d%20?#" .
:iri :q <http://example.org/path?x=1&y=%20a#frag> , <http://example.org/\\u00e9t\\u00e9> .
:book1 :title "SPARQL Tutorial" ; :price 42 . :book2 :title "The Semantic Web" ; :price 23 ; :discount 0.2 .
""" + "".join(f":n{i} a :Item ; :value {i} ; :group :g{i % 7} .\n" for i in range(260))

PREFIXES = (
    "PREFIX : <http://example.org/ns#> PREFIX foaf: <http://xmlns.com/foaf/0.1/> "
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
)

QUERIES = [
    "SELECT * { ?s ?p ?o FILTER(?s = :alice) }",
    "SELECT ?name { ?x foaf:name ?name }",
    "SELECT ?a ?b { ?x foaf:knows ?y . ?x foaf:name ?a . ?y foaf:name ?b }",
    "SELECT ?name ?age { ?x foaf:name ?name OPTIONAL { ?x :age ?age FILTER(?age > 20) } }",
    "SELECT ?x { { ?x :age 30 } UNION { ?x :age 17 } }",
    "SELECT ?x ?n { ?x foaf:name ?n FILTER(REGEX(?n, '^[AC]')) }",
    "SELECT ?x { ?x foaf:name ?n MINUS { ?x :age ?a } }",
    "SELECT ?x { ?x foaf:name ?n FILTER NOT EXISTS { ?x foaf:knows ?y } }",
    "SELECT (COUNT(*) AS ?n) { ?x a :Item }",
    "SELECT ?g (SUM(?v) AS ?total) { ?x :group ?g ; :value ?v } GROUP BY ?g HAVING (SUM(?v) > 4700)",
    "SELECT ?x ?v { ?x a :Item ; :value ?v FILTER(?v >= 100 && ?v < 105) }",
    "SELECT ?x { :alice foaf:knows+ ?x }",
    "SELECT ?x ?y { ?x foaf:knows/foaf:knows ?y }",
    "SELECT ?x { ?x ^foaf:knows :alice }",
    "SELECT ?x { ?x :p 'one' }",
    'SELECT ?x { ?x :p "1"^^xsd:integer }',
    "SELECT ?o { :x1 :p ?o }",
    "SELECT ?o { :x3 :q ?o }",
    'SELECT ?s { ?s :q "a&b=c+d%20?#" }',
    'SELECT ?s { ?s :q "line\\nbreak" }',
    "SELECT ?s { ?s :q <http://example.org/path?x=1&y=%20a#frag> }",
    "SELECT ?s { ?s :q <http://example.org/\u00e9t\u00e9> }",
    "SELECT ?n { :bob :nick ?n FILTER(LANG(?n) = 'fr') }",
    'SELECT ?s { ?s :nick "Bobby"@en }',
    'SELECT ?s { ?s foaf:name "Dave \\"D\\" \\\\ O\'Neil" }',
    "SELECT ?title ?p { ?x :title ?title ; :price ?price OPTIONAL { ?x :discount ?d } "
    "BIND(?price * (1 - COALESCE(?d, 0)) AS ?p) }",
    'SELECT ?x { ?x :joined ?t FILTER(?t > "2015-01-01T00:00:00Z"^^xsd:dateTime) }',
    "SELECT DISTINCT ?p { ?s ?p ?o }",
    "SELECT ?v { ?x :value ?v } ORDER BY DESC(?v) LIMIT 3",
    "SELECT ?x ?name { VALUES ?x { :alice :bob :nobody } ?x foaf:name ?name }",
    "SELECT ?x ?m { ?x foaf:knows ?y { SELECT ?y (MAX(?a) AS ?m) { ?y :age ?a } GROUP BY ?y } }",
    "SELECT ?x { ?x :value ?v ; :group :g3 FILTER(?v IN (3, 10, 11)) }",
    "ASK { :alice foaf:knows :bob }",
    "ASK { :bob foaf:knows :alice }",
    "CONSTRUCT { ?y :knownBy ?x } { ?x foaf:knows ?y }",
    "SELECT ?s { ?s :missing ?o }",
    "SELECT ?x ?z { ?x :p ?y . ?y :p ?z }",
]


def oxigraph(data: str = DATA, syntax: ox.RdfFormat = ox.RdfFormat.TURTLE) -> ox.Store:
    store = ox.Store()
    store.load(data.encode(), format=syntax)
    return store


def expected(store: ox.Store, query: str) -> list[str]:
    """pyoxigraph's answer as sorted texts."""
    result = store.query(PREFIXES + query)
    if isinstance(result, ox.QueryBoolean):
        return [str(bool(result)).lower()]
    if isinstance(result, ox.QueryTriples):
        return sorted({f"{t.subject} {t.predicate} {t.object} ." for t in result})
    names = sorted(variable.value for variable in result.variables)
    return sorted(" ".join(f"{n}={plain(row[n])}" for n in names if row[n] is not None) for row in result)


def plain(term: Any) -> str:
    """A term as text, numbers by value: pyoxigraph's store rewrites them."""
    return number(str(term))


def number(text: str) -> str:
    lexical, _, datatype = text.rpartition('"^^<')
    if datatype.removesuffix(">").rpartition("#")[2] in ("integer", "decimal", "double"):
        return f"number {float(lexical[1:]):g}"
    return text


def sparql_json(answer: dict[str, Any]) -> list[str]:
    """An answer in SPARQL's JSON, as ``expected`` writes it."""
    if "boolean" in answer:
        return [str(answer["boolean"]).lower()]
    if "triples" in answer:
        return sorted(set(answer["triples"]))
    names = sorted(answer["head"]["vars"])
    rows = answer["results"]["bindings"]
    return sorted(" ".join(f"{n}={_cell(row[n])}" for n in names if n in row) for row in rows)


def _cell(value: dict[str, str]) -> str:
    if value["type"] == "uri":
        return f"<{value['value']}>"
    if "xml:lang" in value:
        return str(ox.Literal(value["value"], language=value["xml:lang"]))
    if "datatype" in value:
        return number(str(ox.Literal(value["value"], datatype=ox.NamedNode(value["datatype"]))))
    return str(ox.Literal(value["value"]))


def rows_texts(rows: Sequence[Any]) -> list[str]:
    """Weir's rows, as ``expected`` writes pyoxigraph's."""
    out = []
    for row in rows:
        if isinstance(row, dict):
            out.append(" ".join(f"{n}={_ox(term)}" for n, term in sorted(row.items())))
        elif isinstance(row, tuple):
            out.append(f"{row[0]} {row[1]} {row[2]} .")
        else:
            out.append(str(row).lower())
    return sorted(out)


def _ox(term: Any) -> str:
    text = str(term)
    if text[0] == '"':
        if term.language is not None:
            return str(ox.Literal(term.lexical, language=term.language))
        return number(str(ox.Literal(term.lexical, datatype=ox.NamedNode(term.datatype))))
    return text
