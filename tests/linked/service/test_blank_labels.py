"""Labels of blank nodes that do not depend on the request."""

from __future__ import annotations

from weir.linked.service.blank_labels import with_stable_labels
from weir.rdf.terms import IRI, BlankNode, Literal, Term

A, B = IRI("http://e/a"), IRI("http://e/b")


def rows(*found: tuple[Term | None, ...]) -> dict[str, list[Term | None]]:
    columns = {name: [row[place] for row in found] for place, name in enumerate(("k", "b", "v"))}
    return with_stable_labels(columns, ("k", "b", "v"), "asked")


def test_other_labels_and_other_keys_change_nothing() -> None:
    one = rows((A, BlankNode("x"), Literal("1")))
    two = rows((B, BlankNode("x"), Literal("2")), (A, BlankNode("y"), Literal("1")))
    assert one["b"][0] == two["b"][1] != two["b"][0]


def test_what_is_different_stays_different() -> None:
    found = rows((A, BlankNode("x"), Literal("1")), (A, BlankNode("y"), Literal("1")))["b"]
    assert found[0] != found[1]
    again = rows((A, BlankNode("u"), Literal("1")), (A, BlankNode("w"), Literal("1")))["b"]
    assert set(again) == set(found)


def test_one_node_in_several_rows_is_one() -> None:
    found = rows((A, BlankNode("x"), Literal("1")), (B, BlankNode("x"), Literal("2")))["b"]
    assert found[0] == found[1]


def test_answers_to_other_questions_are_about_other_nodes() -> None:
    columns = {"b": [BlankNode("x")]}
    assert with_stable_labels(columns, ("b",), "one") != with_stable_labels(columns, ("b",), "two")


def test_without_blank_nodes_all_stays() -> None:
    assert rows((A, B, None)) == {"k": [A], "b": [B], "v": [None]}
