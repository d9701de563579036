"""What slots do and what is left for after them, told from the algebra. That nothing changes by it is tried
in ``test_split`` and by the law of splitting."""

from __future__ import annotations

import pytest

from weir.language import parse
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Query
from weir.plan.analysis.two_stages import Stages, staged
from weir.rdf.terms import Variable

BODY = "WINDOW <w> { ?x :value ?v } GRAPH <plan> { ?x :in ?room }"


def query(select: str, after: str = "", body: str = BODY) -> Query:
    windows = "FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10]"
    return parse(f"PREFIX : <http://e/> {select} {windows} WHERE {{ {body} }} {after}")


def stages(select: str, after: str = "", body: str = BODY) -> Stages:
    found = staged(query(select, after, body), Variable("x"))
    assert isinstance(found, Stages)
    return found


def groups(query: Query | None) -> list[a.Group]:
    assert query is not None
    return [node for node in walk(query.pattern) if isinstance(node, a.Group)]


def test_slots_count_and_their_counts_are_added_up() -> None:
    after = "GROUP BY ?room HAVING (COUNT(*) > 1) ORDER BY ?n LIMIT 3"
    found = stages("SELECT ?room (COUNT(*) AS ?n)", after)
    (own,), (all_of_them,) = groups(found.first), groups(found.second)
    assert own.keys == all_of_them.keys == (Variable("room"),)
    assert [each.function for _, each in own.aggregates] == [e.Aggregation.COUNT] * len(own.aggregates)
    assert {each.function for _, each in all_of_them.aggregates} == {e.Aggregation.SUM}
    kinds = [type(node) for node in walk(found.second.pattern if found.second else None)]
    assert {a.Slice, a.OrderBy, a.Filter} <= set(kinds)
    assert not {a.Slice, a.OrderBy, a.Filter} & {type(node) for node in walk(found.first.pattern)}


def test_sums_are_rounded_in_the_second_stage_alone() -> None:
    found = stages("SELECT ?room (SUM(?v) AS ?s) (AVG(?v) AS ?m)", "GROUP BY ?room")
    (own,), (whole,) = groups(found.first), groups(found.second)
    assert {each.function for _, each in own.aggregates} == {e.StagedSum.PART, e.Aggregation.COUNT}
    assert {each.function for _, each in whole.aggregates} == {e.StagedSum.WHOLE, e.Aggregation.SUM}


def test_what_is_distinct_is_one_more_key() -> None:
    found = stages("SELECT ?room (COUNT(DISTINCT ?v) AS ?n) (COUNT(DISTINCT ?x) AS ?m)", "GROUP BY ?room")
    (own,) = groups(found.first)
    assert own.keys == (Variable("room"), Variable("v"))


def test_without_keys_every_evaluation_time_is_told() -> None:
    found = stages("SELECT (COUNT(*) AS ?n)")
    assert found.first.semantics.report_empty
    assert found.second is not None and not found.second.semantics.report_empty
    assert groups(found.first)[0].keys, "a slot without solutions has no group"


def test_only_what_is_looked_at_is_carried() -> None:
    body = "WINDOW <w> { ?x :value ?v . ?x :unit ?u }"
    found = stages("SELECT ?v", "ORDER BY ?v", body)
    assert found.first.form.variables == (Variable("v"),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("select", "after", "why"),
    [
        ("SELECT ISTREAM ?room (COUNT(*) AS ?n)", "GROUP BY ?room", "new or gone"),
        ("SELECT (COUNT(DISTINCT *) AS ?n)", "", "joined and grouped"),
        ("SELECT ?room", "GROUP BY ?room HAVING (EXISTS { ?room :p ?q })", "joined and grouped"),
        ("ASK ISTREAM", "", "answer before"),
        ("DESCRIBE ?x", "", "DESCRIBE"),
    ],
)
def test_what_has_no_stages_and_why(select: str, after: str, why: str) -> None:
    if select == "ASK ISTREAM":
        found = staged(
            parse(f"""PREFIX : <http://e/> REGISTER ISTREAM <q> AS ASK
            FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] WHERE {{ {BODY} }}"""),
            Variable("x"),
        )
    else:
        found = staged(query(select, after), Variable("x"))
    assert isinstance(found, str) and why in found


def test_blank_nodes_of_a_template_need_a_variable_with_a_name() -> None:
    found = staged(query("CONSTRUCT { [] :saw ?v }", body="WINDOW <w> { [] :value ?v }"), Variable(".b0"))
    assert isinstance(found, str)
