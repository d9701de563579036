"""What a query sees at τ: static graphs that change, windows in the default graph, graphs inside windows."""

from __future__ import annotations

from reference_kit import run, static_of
from weir.kernel.reference import ContinuousQuery, Message, Static, Timed
from weir.kernel.reference.datasets import Quad
from weir.language import parse
from weir.rdf.terms import IRI, Literal, Triple

MS = 1_000
A, B, C, P = (IRI(f"urn:{name}") for name in "abcp")


def triple(subject: IRI) -> Triple:
    return (subject, P, Literal("x"))


def quad(subject: IRI, graph: IRI | None = None) -> Quad:
    return (*triple(subject), graph)


def message(time: int, *quads: Quad) -> Message:
    return Message(time * MS, quads)


def letters(text: str, streams: dict[str, list[Message]], static: Static | None = None) -> list[str]:
    query = parse(f"PREFIX : <urn:> {text}")
    names = [variable.name for variable in query.form.variables]
    found = []
    for at, row in run(query, streams, static):
        values = [row[n].value[4:] if isinstance(row.get(n), IRI) else str(row.get(n)) for n in names]
        found.append(f"{at // MS}:{' '.join(values)}")
    return sorted(found)


def test_static_and_streamed_triples_merge_in_the_default_graph() -> None:
    text = "SELECT ?s FROM STREAM :s [RANGE 10ms STEP 10ms] WHERE { ?s :p ?o }"
    streams = {"urn:s": [message(0, quad(A)), message(1, quad(B)), message(1, quad(B))]}
    assert letters(text, streams, static_of([triple(A), triple(C)])) == ["10:a", "10:b", "10:c"]


def test_a_bag_in_the_default_graph_adds_its_occurrences() -> None:
    text = (
        "SELECT ?s FROM WINDOW :v ON :s [RANGE 10 STEP 10 CONTENT BAG] "
        "FROM WINDOW :w ON :s [RANGE 10 STEP 10] WHERE { ?s :p ?o }"
    )
    streams = {"urn:s": [message(0, quad(A)), message(1, quad(A)), message(2, quad(B))]}
    # static and graph window: once; two occurrences in the bag
    static = static_of([triple(A), triple(C)])
    assert letters(text, streams, static) == ["10:a", "10:a", "10:a", "10:b", "10:b", "10:c"]


def test_two_graph_windows_in_the_default_graph_are_one_graph() -> None:
    windows = "FROM STREAM :s [RANGE 10ms STEP 10ms] FROM STREAM :t [RANGE 10ms STEP 10ms]"
    text = f"SELECT ?s {windows} WHERE {{ ?s :p ?o }}"
    streams = {"urn:s": [message(0, quad(A))], "urn:t": [message(0, quad(A))]}
    assert letters(text, streams) == ["10:a"]


def test_graphs_inside_a_window() -> None:
    streams = {"urn:s": [message(0, quad(A, B), quad(A, C), quad(B)), message(1, quad(A, B))]}
    window = "FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 10]"
    assert letters(f"SELECT ?s {window} WHERE {{ WINDOW :w {{ ?s :p ?o }} }}", streams) == ["10:a", "10:b"]
    inside = f"SELECT ?g ?s {window} WHERE {{ WINDOW :w {{ GRAPH ?g {{ ?s :p ?o }} }} }}"
    assert letters(inside, streams) == ["10:b a", "10:c a"]
    bag = inside.replace("STEP 10", "STEP 10 CONTENT BAG")
    assert letters(bag, streams) == ["10:b a", "10:b a", "10:c a"]
    outside = f"SELECT ?g ?s {window} WHERE {{ WINDOW :w {{ :b :p ?o }} GRAPH ?g {{ ?s :p ?o }} }}"
    assert letters(outside, streams, static_of([], {"urn:c": [triple(C)]})) == ["10:c c"]


def test_window_variables_range_over_named_windows() -> None:
    text = (
        "SELECT ?w ?s FROM NAMED WINDOW :v ON :s [RANGE 10 STEP 10] "
        "FROM NAMED WINDOW :w ON :t [RANGE 10 STEP 10] "
        "FROM WINDOW :d ON :t [RANGE 10 STEP 10] WHERE { WINDOW ?w { ?s :p ?o } }"
    )
    streams = {"urn:s": [message(0, quad(A))], "urn:t": [message(0, quad(B))]}
    assert letters(text, streams) == ["10:v a", "10:w b"]


def test_stream_variables_range_over_registered_streams() -> None:
    text = "SELECT ?v ?s WHERE { STREAM ?v [NOW] { ?s :p ?o } }"
    streams = {"urn:s": [message(0, quad(A))], "urn:t": [message(0, quad(B)), message(3, quad(A))]}
    assert letters(text, streams) == ["0:s a", "0:t b", "3:t a"]


def test_named_windows_leave_the_default_graph_as_registered() -> None:
    text = "SELECT ?s FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 10] WHERE { ?s :p ?o }"
    assert letters(text, {"urn:s": [message(0, quad(A))]}, static_of([triple(C)])) == ["10:c"]


def test_from_adds_and_from_named_limits() -> None:
    static = static_of([triple(A)], {"urn:g": [triple(B)], "urn:h": [triple(C)]})
    streams = {"urn:s": [message(0, quad(A))]}
    window = "FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 10]"
    assert letters(f"SELECT ?s FROM :g {window} WHERE {{ ?s :p ?o }}", streams, static) == ["10:a", "10:b"]
    both = f"SELECT ?s {window} WHERE {{ GRAPH ?g {{ ?s :p ?o }} }}"
    assert letters(both, streams, static) == ["10:b", "10:c"]
    one = f"SELECT ?s FROM NAMED :h {window} WHERE {{ GRAPH ?g {{ ?s :p ?o }} }}"
    assert letters(one, streams, static) == ["10:c"]


def test_static_graphs_change() -> None:
    text = "SELECT ?s FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 10] WHERE { ?s :p ?o }"
    static = Static([Timed(triple(A), None, 20 * MS), Timed(triple(B), 20 * MS, 30 * MS)])
    streams = {"urn:s": [message(0, quad(C)), message(25, quad(C))]}
    assert letters(text, streams, static) == ["10:a", "20:b"]


def test_f_timestamp_is_the_latest_time_in_milliseconds() -> None:
    text = (
        "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> SELECT ?s ?t "
        "FROM STREAM :s [RANGE 10ms STEP 10ms] WHERE { ?s :p ?o BIND(f:timestamp(?s, :p, ?o) AS ?t) }"
    )
    streams = {"urn:s": [message(1, quad(A)), message(3, quad(A), quad(B))]}
    found = run(parse(f"PREFIX : <urn:> {text}"), streams, static_of([triple(C)]))
    times = {row["s"]: row["t"].lexical if "t" in row else None for _, row in found}
    assert times == {A: "3", B: "3", C: None}


def test_a_query_without_windows_is_evaluated_once() -> None:
    query = parse("SELECT (NOW() AS ?now) WHERE {}", "sparql")
    continuous = ContinuousQuery(query)
    (only,) = continuous.advance({}, 5_000_000)
    assert only.rows == [
        {"now": Literal("1970-01-01T00:00:05Z", "http://www.w3.org/2001/XMLSchema#dateTime")}
    ]
    assert list(continuous.advance({}, 6_000_000)) == []


def test_ask_reports_changes() -> None:
    text = (
        "ASK FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 2 STEP 2] WHERE { WINDOW <urn:w> { <urn:a> ?p ?o } }"
    )
    streams = {"urn:s": [message(0, quad(A)), message(3, quad(A)), message(9, quad(B))]}
    assert run(parse(text, "rspql"), streams) == [
        (2 * MS, True),
        (4 * MS, True),
        (6 * MS, False),
        (8 * MS, False),
        (10 * MS, False),
    ]
