"""Pages of event streams as others write them: members, relations, views, times."""

from __future__ import annotations

import pytest

from weir.errors import RemoteError
from weir.fragments.ldes.tree_page import Link, TreePage, parse_tree_page
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, read_time

URL = "http://h/feed/1"
PREFIXES = """
@prefix ldes: <https://w3id.org/ldes#> . @prefix tree: <https://w3id.org/tree#> .
@prefix dct: <http://purl.org/dc/terms/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://e/> .
"""
STREAM = ":s a ldes:EventStream ; ldes:timestampPath dct:created ; tree:view <> .\n"


def parsed(text: str, path: str | None = None, media_type: str = "application/trig") -> TreePage:
    return parse_tree_page(URL, (PREFIXES + text).encode(), media_type, path, 10_000)


def at(text: str) -> int:
    return read_time(f'"{text}"')


def test_a_member_is_what_is_said_of_it_with_its_blank_nodes_and_its_graph() -> None:
    page = parsed(
        STREAM
        + """
        :s tree:member :m1, :m2 .
        :m1 dct:created "2026-01-01T00:00:00Z"^^xsd:dateTime ; :part [ :value 1 ; :deep [ :value 2 ] ] .
        :m2 dct:created "2026-01-02T00:00:00Z"^^xsd:dateTime ; :near :other .
        :other :not "part" .
        :m2 { :a :b :c } :m3 { :a :b :d }
        """
    )
    first, second = page.items
    assert (first.name, first.time) == ("<http://e/m1>", at("2026-01-01T00:00:00Z"))
    assert sorted(p for _, p, _ in first.triples) == sorted(
        [
            "<http://purl.org/dc/terms/created>",
            "<http://e/part>",
            "<http://e/value>",
            "<http://e/deep>",
            "<http://e/value>",
        ]
    )
    assert ("<http://e/a>", "<http://e/b>", "<http://e/c>") in second.triples and len(second.triples) == 3


def test_relations_bound_what_lies_behind_them() -> None:
    page = parsed(
        STREAM
        + """
        <> tree:relation
          [ a tree:GreaterThanOrEqualToRelation ; tree:node <2#x> ; tree:path dct:created ;
            tree:value "2026-01-02T00:00:00Z"^^xsd:dateTime ],
          [ a tree:LessThanRelation ; tree:node <2> ; tree:path dct:created ;
            tree:value "2026-01-03T00:00:00Z"^^xsd:dateTime ],
          [ a tree:GreaterThanRelation ; tree:node <3> ; tree:path :other ; tree:value 7 ],
          [ a tree:Relation ; tree:node <4> ] .
        """
    )
    days = at("2026-01-02T00:00:00Z"), at("2026-01-03T00:00:00Z")
    assert set(page.links) == {
        Link("http://h/feed/2", *days),
        Link("http://h/feed/3", BEGINNING, FOREVER),
        Link("http://h/feed/4", BEGINNING, FOREVER),
    }


def test_a_description_without_members_leads_to_its_view() -> None:
    page = parsed(":s a ldes:EventStream ; tree:view </views/time>, </views/place> .")
    assert page.links == (Link("http://h/views/time"),) and not page.items


def test_the_path_that_is_given_counts_before_the_one_declared() -> None:
    text = STREAM + ':s tree:member :m . :m :when "2026-01-01T00:00:00Z"^^xsd:dateTime .'
    assert parsed(text).items[0].time is None
    assert parsed(text, "<http://e/when>").items[0].time == at("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("text", "media_type", "told"),
    [
        (":s tree:member", "application/trig", "malformed"),
        (
            STREAM + ':s tree:member :m . :m dct:created "yesterday" .',
            "application/trig",
            "a time that is none",
        ),
    ],
)
def test_what_cannot_be_read_is_told(text: str, media_type: str, told: str) -> None:
    with pytest.raises(RemoteError, match=told):
        parsed(text, media_type=media_type)
