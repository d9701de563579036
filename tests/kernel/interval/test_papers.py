"""CQELS Table 1 and Example 1 by ``interval``: what comes out, and which join is chosen next."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from timelines import batch
from weir.kernel.contract import Background, GraphTable, Slab
from weir.kernel.interval.evaluator import IntervalEvaluator
from weir.kernel.operators.join import Policy
from weir.kernel.reference import Message
from weir.language import Dialect, parse, write
from weir.language.algebra.query import R2S
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
from weir.testing import Scenario

SECOND = 1_000_000
DETECTED = [("m0", "r1"), ("m1", "r2"), ("m2", "r1"), ("m3", "r2")]
CONNECTED = [("r1", "r2"), ("r1", "r3"), ("r2", "r1"), ("r3", "r1")]
CONSTRUCT = "CONSTRUCT { ?p2 :reaches ?p1 }"


def text(form: str) -> str:
    return f"""PREFIX : <urn:> {form} WHERE {{
      STREAM :s [NOW] {{ ?p1 :detectedAt ?l1 }}
      STREAM :s [RANGE 2s] {{ ?p2 :detectedAt ?l2 }}
      GRAPH :map {{ ?l1 :conn ?l2 }} }}"""


def name(short: str) -> IRI:
    return IRI(f"urn:{short}")


def localisation(
    form: str, policy: Policy, r2s: R2S = R2S.ISTREAM
) -> tuple[IntervalEvaluator, list[Slab], Dictionary]:
    """The scenario, a message a slab."""
    dictionary = Dictionary()
    rows = [(name(a), name("conn"), name(b)) for a, b in CONNECTED]
    table = GraphTable(*(dictionary.encode_terms([row[place] for row in rows]) for place in range(3)))
    query = parse(text(form), "cqels")
    query = replace(query, semantics=replace(query.semantics, r2s=r2s))
    background = Background(named={"urn:map": table})
    evaluator = IntervalEvaluator(query, background, dictionary, policy=policy)
    slabs = []
    for second, (person, room) in enumerate(DETECTED):
        message = Message(second * SECOND, ((name(person), name("detectedAt"), name(room), None),))
        slabs.append(Slab({"urn:s": batch([message], dictionary)}, second * SECOND + 1))
    return evaluator, slabs, dictionary


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("whole", [False, True], ids=["message by message", "one slab"])
def test_table_1(policy: Policy, whole: bool) -> None:
    evaluator, slabs, dictionary = localisation(CONSTRUCT, policy)
    if whole:
        messages = [
            Message(s * SECOND, ((name(p), name("detectedAt"), name(r), None),))
            for s, (p, r) in enumerate(DETECTED)
        ]
        slabs = [Slab({"urn:s": batch(messages, dictionary)}, slabs[-1].through)]
    found = []
    for slab in slabs:
        answers = evaluator.advance(slab)
        ends = [dictionary.texts(answers.columns[column]) for column in ("subject", "object")]
        found += zip((answers.at // SECOND).tolist(), *ends, strict=True)
    assert found == [
        (1, "<urn:m0>", "<urn:m1>"),
        (2, "<urn:m1>", "<urn:m2>"),
        (3, "<urn:m2>", "<urn:m3>"),
    ]


def routes(policy: Policy) -> list[str]:
    """The order of joins at each time, as letters: N for NOW, R for RANGE, G for the graph.

    All solutions are asked for at each time, so that the flow starts at NOW as in the paper's figure 2.
    """
    evaluator, slabs, _ = localisation("SELECT ?p1 ?p2", policy, R2S.RSTREAM)
    windows = {window.name: type(window.declaration.kind).__name__[0] for window in evaluator.plan.windows}
    taken: list[str] = []
    before: Counter[str] = Counter()
    for slab in slabs:
        evaluator.advance(slab)
        now = Counter(evaluator.statistics()["routes"])
        for route in now - before:
            steps = [step.split("{")[0] for step in route.split(" → ")]
            taken.append("".join(windows.get(step, "G") for step in steps))
        before = now
    return taken


def test_example_1_by_cost() -> None:
    """At 0 the product with the one row of RANGE gives 1 row, the graph gives 2; at 1 it is the other way."""
    assert routes(Policy.COST)[:2] == ["NRG", "NGR"]


def test_example_1_by_cardinality_differs_at_1() -> None:
    """RANGE has 1 row and then 2, the graph has 4."""
    assert routes(Policy.CARDINALITY)[:2] == ["NRG", "NRG"]


def test_a_job_gives_the_same_by_both_policies() -> None:
    """Example 1 through the whole path: the order of joins differs at t = 1, the results never do."""
    lines = "".join(
        f"{second * 1000}\t<urn:{person}> <urn:detectedAt> <urn:{room}> .\n"
        for second, (person, room) in enumerate(DETECTED)
    )
    rooms = "".join(f"<urn:{a}> <urn:conn> <urn:{b}> .\n" for a, b in CONNECTED)
    results, taken = {}, {}
    query = parse(text("SELECT ?p1 ?p2"), "cqels")
    whole = write(replace(query, semantics=replace(query.semantics, r2s=R2S.RSTREAM)), Dialect.RSPQL)
    for policy in Policy:
        scenario = Scenario(whole, graphs={"urn:map": rooms}, routing=policy.value)
        results[policy] = scenario.run(lines.splitlines(), "urn:s")
        (member,) = scenario.group.members.values()
        assert member.evaluator is not None
        statistics = member.evaluator.statistics()
        assert statistics["policy"] == policy.value
        taken[policy] = statistics["routes"]
    assert results[Policy.COST] == results[Policy.CARDINALITY] != []
    assert taken[Policy.COST] != taken[Policy.CARDINALITY]
