"""Queries of different evaluators in one group: what one leaves out of the texts must not stop another."""

from __future__ import annotations

import pytest

from weir.kernel.contract import Background
from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.worker.group import Group
from weir.runtime.worker.members import make_member
from weir.runtime.worker.texts import StreamTexts

KEY = b"weir.testing"
LINES = (
    "0\t<http://e/a> <http://e/p> <http://e/b> <http://e/g> .\n"
    "0\t<http://e/c> <http://e/q> <http://e/d> <http://e/h> .\n"
    "0\t<http://e/e> <http://e/z> <http://e/f> <http://e/h> .\n"
)


def registration(name: str, evaluator: str, selected: str, body: str) -> Registration:
    text = (
        f"PREFIX : <http://e/> SELECT {selected} FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        f"WHERE {{ WINDOW <w> {{ {body} }} }}"
    )
    return Registration(name, text, evaluator=evaluator)


@pytest.mark.parametrize("body", ["?s :p ?o", "GRAPH :g { ?s :p ?o }", "GRAPH :h {} ?s :p ?o"])
@pytest.mark.parametrize("beside", ["?x :q ?y", "GRAPH ?x {}", "GRAPH ?x { ?y :q* ?z }"])
def test_a_query_on_terms_beside_one_on_ids(body: str, beside: str) -> None:
    queries = {
        "terms": registration("terms", "reference", "?s", body),
        "ids": registration("ids", "interval", "(COUNT(*) AS ?n)", beside),
    }
    catalog = Catalog({"s": StreamEntry("s")}, queries)
    group = Group(StreamTexts(KEY), catalog.streams)
    for each in queries.values():
        group.add(make_member(each, Background(), group.dictionary, ("s",), group.services))
    messages = parse_lines(LINES.encode(), scope="s", key=KEY)
    ((_, frame),) = MatchPlan(catalog, 1, KEY).frames("s", LaneInput("0", messages, ended=True))
    found = {each.member.name: each.answers for each in group.step([frame], 0, 0).each()}
    assert group.dictionary.texts(found["terms"].columns["s"]) == ["<http://e/a>"]
    assert len(found["ids"].at) == 1
