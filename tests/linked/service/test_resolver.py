"""SERVICE in whole queries, by both evaluators, against an endpoint in the same process.

Without a budget a SERVICE means what GRAPH would mean if the endpoint's data were a local graph: that is the
oracle of the random queries.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service_graphs import EXAMPLES
from service_store import E, StoreLoop
from weir.errors import EvaluationError, RemoteError
from weir.kernel.contract import Background, Evaluator, FailedAt, GraphTable, Slab
from weir.kernel.evaluators import choose_evaluator
from weir.language import parse
from weir.language.algebra.patterns import Graph, Service
from weir.language.algebra.query import Query
from weir.linked.service.config import SECOND, Budget, ServiceConfig
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI, XSD, Literal, Term

ENDPOINT = "http://s/q"
PREFIX = f"PREFIX : <{E}> "
MENTIONS = f"SERVICE <{ENDPOINT}> {{ ?t :mentions ?u }}"
COUNTS = f"SERVICE <{ENDPOINT}> {{ ?t :mentions ?u . ?u :followers ?n }}"
WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE PT4S STEP PT1S]"
Sent = tuple[int, str, str, str]
DATA = """
:t1 :mentions :u1 . :t2 :mentions :u1, :u2 . :t3 :mentions :u1, :u2, :u3 .
:u1 :followers 10 . :u2 :followers 20 . :u3 :followers 30 .
"""
STREAM: list[Sent] = [
    (1, "t1", "by", "a1"),
    (2, "t2", "by", "a2"),
    (2, "t9", "by", "a1"),
    (6, "t3", "by", "a1"),
]

both = pytest.mark.parametrize("evaluator", ["interval", "reference"])


def iri(name: str) -> IRI:
    return IRI(E + name)


def batch(sent: list[Sent], dictionary: Dictionary) -> Messages:
    times = sorted({time for time, *_ in sent})
    rows = sorted(sent)
    message = [times.index(time) for time, *_ in rows]
    counts = np.bincount(message, minlength=len(times))
    position = [n - sum(m < at for m in message) for n, at in enumerate(message)]
    columns = [dictionary.encode_terms([iri(row[place]) for row in rows]) for place in (1, 2, 3)]
    return Messages(
        np.array(times, np.int64) * SECOND,
        counts.astype(np.int64),
        np.array(message, np.int64),
        np.array(position, np.int64),
        *columns,
        np.zeros(len(rows), np.int64),
    )


class Runner:
    """A query over one stream, with an endpoint."""

    def __init__(
        self,
        text: str,
        evaluator: str,
        config: ServiceConfig | None = None,
        loop: StoreLoop | None = None,
        dialect: str = "rspql",
        static: list[tuple[str, str, str]] | None = None,
    ) -> None:
        self.query: Query = parse(PREFIX + text, dialect=dialect)
        self.dictionary = Dictionary()
        self.loop = loop or StoreLoop(DATA)
        configs = {ENDPOINT: config or ServiceConfig()}
        self.resolver = ServiceResolver(self.dictionary, configs, loop=self.loop)
        self.evaluator: Evaluator = choose_evaluator(
            self.query,
            self._background(static or []),
            self.dictionary,
            evaluator,
            streams=("s",),
            services=self.resolver,
            name="q",
        ).evaluator

    def _background(self, static: list[tuple[str, str, str]]) -> Background:
        columns = [self.dictionary.encode_terms([iri(t[place]) for t in static]) for place in range(3)]
        return Background(GraphTable(*columns))

    def step(self, sent: list[Sent], through: int, *, end: bool = False) -> list[tuple[Any, ...]]:
        slab = Slab({"s": batch(sent, self.dictionary)}, through * SECOND, end)
        try:
            answers = self.evaluator.advance(slab)
        except FailedAt as failed:
            assert failed.__cause__ is not None
            raise failed.__cause__ from None
        columns = [self.dictionary.texts(column) for column in answers.columns.values()]
        found = zip((answers.at // SECOND).tolist(), *columns, strict=True)
        return sorted(tuple(_short(value) for value in row) for row in found)


def _short(value: Any) -> Any:
    if not isinstance(value, str):
        return "-" if value is None else value
    if value.startswith("<"):
        return value.removeprefix(f"<{E}").rstrip(">")
    return value.split('"')[1]


def run(text: str, evaluator: str, sent: list[Sent] = STREAM, **options: Any) -> list[tuple[Any, ...]]:
    return Runner(text, evaluator, **options).step(sent, 5, end=True)


@both
def test_a_stream_joins_with_an_endpoint(evaluator: str) -> None:
    text = f"""SELECT ?a ?n {WINDOW} WHERE {{
      WINDOW <w> {{ ?t :by ?a }} {COUNTS} }}"""
    found = run(text, evaluator, STREAM[:3])
    assert found == [
        (2, "a1", "10"),
        (3, "a1", "10"),
        (3, "a2", "10"),
        (3, "a2", "20"),
        (4, "a1", "10"),
        (4, "a2", "10"),
        (4, "a2", "20"),
        (5, "a1", "10"),
        (5, "a2", "10"),
        (5, "a2", "20"),
        (6, "a2", "10"),
        (6, "a2", "20"),
    ]


@both
def test_service_may_come_first(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{
      {COUNTS} WINDOW <w> {{ ?t :by ?a }} }}"""
    runner = Runner(text, evaluator)
    assert runner.step(STREAM[:1], 2, end=True)[0] == (2, "t1", "10")
    assert all("/t1>" in request for request in runner.loop.texts)


@both
def test_optional_around_service(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{
      WINDOW <w> {{ ?t :by ?a }} OPTIONAL {{ {COUNTS} }} }}"""
    found = run(text, evaluator, STREAM[:3])
    assert (3, "t9", "-") in found and (3, "t1", "10") in found
    assert not any(row[1:] == ("t1", "-") for row in found)


@both
def test_a_condition_of_optional_looks_at_remote_values(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      OPTIONAL {{ {COUNTS} FILTER(?n > 15) }} }}"""
    found = [row[1:] for row in run(text, evaluator, STREAM[:3]) if row[0] == 3]
    assert found == [("t1", "-"), ("t2", "20"), ("t9", "-")]


@both
def test_filters_on_both_sides(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      SERVICE <{ENDPOINT}> {{ ?t :mentions ?u . ?u :followers ?n FILTER(?n < 30) }}
      FILTER(?a = :a1 && ?n > 5) }}"""
    assert {row[1:] for row in run(text, evaluator)} == {("t1", "10"), ("t3", "10"), ("t3", "20")}


@both
@pytest.mark.parametrize("budget", [None, Budget(5)])
def test_an_aggregate_sub_query(evaluator: str, budget: Budget | None) -> None:
    text = f"""SELECT ?t ?sum {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      SERVICE <{ENDPOINT}> {{ SELECT ?t (SUM(?n) AS ?sum)
        WHERE {{ ?t :mentions ?u . ?u :followers ?n }} GROUP BY ?t }} }}"""
    config = ServiceConfig(budget=budget, change_intervals=((E + "followers", SECOND),))
    runner = Runner(text, evaluator, config)
    found = runner.step(STREAM, 5, end=True)
    assert {row[1:] for row in found} == {("t1", "10"), ("t2", "30"), ("t3", "60")}
    assert any("SUM" in request for request in runner.loop.texts) == (budget is None)


@both
def test_the_endpoint_may_be_a_variable(evaluator: str) -> None:
    text = f"""SELECT ?t ?e ?n {WINDOW} WHERE {{ VALUES ?e {{ <{ENDPOINT}> <http://s/other> }}
      WINDOW <w> {{ ?t :by ?a }} SERVICE ?e {{ ?t :mentions ?u . ?u :followers ?n }} }}"""
    found = [row for row in run(text, evaluator, STREAM[:1]) if row[0] == 2]
    assert found == [(2, "t1", "<http://s/other", "10"), (2, "t1", "<http://s/q", "10")]


@both
def test_an_unbound_endpoint_is_an_error(evaluator: str) -> None:
    text = (
        f"SELECT ?t {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }} SERVICE SILENT ?e {{ ?t :mentions ?u }} }}"
    )
    with pytest.raises(EvaluationError, match="endpoint"):
        run(text, evaluator)


@both
def test_silent_and_not(evaluator: str) -> None:
    text = f"SELECT ?t ?u {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }} {MENTIONS} }}"
    down = StoreLoop(DATA)
    down.broken = True
    assert run(text, evaluator, STREAM[:1], loop=down) == []
    silent = run(text.replace("SERVICE", "SERVICE SILENT"), evaluator, STREAM[:1], loop=down)
    assert {row[1:] for row in silent} == {("t1", "-")}
    hinted = text.replace(ENDPOINT, f"{ENDPOINT}#weir:on_failure=error")
    with pytest.raises(RemoteError):
        run(hinted, evaluator, loop=down)


@both
def test_services_in_a_row_hand_over_what_they_bind(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      {MENTIONS} SERVICE <{ENDPOINT}> {{ ?u :followers ?n }} }}"""
    runner = Runner(text, evaluator)
    found = runner.step(STREAM[:3], 5, end=True)
    assert {row[1:] for row in found} == {("t1", "10"), ("t2", "10"), ("t2", "20")}
    assert not any("/u3>" in request for request in runner.loop.texts)


@both
def test_a_service_on_its_own_is_asked_for_everything(evaluator: str) -> None:
    text = f"""SELECT ?t ?n {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      {{ SERVICE <{ENDPOINT}> {{ ?u :followers ?n }} }}
      UNION {{ SERVICE <{ENDPOINT}> {{ ?u :nothing ?n }} }} }}"""
    found = [row for row in run(text, evaluator, STREAM[:1]) if row[0] == 2]
    assert found == [(2, "t1", "10"), (2, "t1", "20"), (2, "t1", "30")]


@both
def test_without_windows(evaluator: str) -> None:
    text = f"SELECT ?t ?n WHERE {{ ?t :by ?a {COUNTS} }}"
    runner = Runner(text, evaluator, dialect="sparql", static=[("t2", "by", "a")])
    assert runner.step([], 7, end=True) == [(7, "t2", "10"), (7, "t2", "20")]


@both
def test_a_cqels_query(evaluator: str) -> None:
    text = f"""SELECT ?t ?n WHERE {{ STREAM <s> [RANGE 4s] {{ ?t :by ?a }}
      {COUNTS} }}"""
    found = run(text, evaluator, STREAM, dialect="cqels")
    assert found == [
        (1, "t1", "10"),
        (2, "t2", "10"),
        (2, "t2", "20"),
        (6, "t3", "10"),
        (6, "t3", "20"),
        (6, "t3", "30"),
    ]


@both
@pytest.mark.parametrize("cut", [True, False])
def test_istream_sends_a_refreshed_value_once(evaluator: str, cut: bool) -> None:
    """The value changes remotely between two evaluations, and is sent again when the view has noticed:

    evaluation   2    3    4    5
    in view     10   10   11   11       (three seconds until it expires; the change comes after 2)
    sent        10         11
    """
    text = f"""REGISTER ISTREAM <out> AS SELECT ?t ?n {WINDOW} WHERE {{
      WINDOW <w> {{ ?t :by ?a }} {COUNTS} }}"""
    config = ServiceConfig(budget=Budget(3), change_interval=2 * SECOND)
    runner = Runner(text, evaluator, config)
    found = runner.step(STREAM[:1], 2)
    runner.loop.update("DELETE { :u1 :followers 10 } INSERT { :u1 :followers 11 } WHERE {}")
    for through in (3, 4, 5) if cut else (5,):
        found += runner.step([], through)
    assert found == [(2, "t1", "10"), (4, "t1", "11")]


def test_new_static_graphs_leave_calls_as_they_are() -> None:
    """Equal SERVICEs at two places, and a static graph that is replaced between two evaluations: what was
    answered before is still known, at each place, so nothing is sent again."""
    text = f"""REGISTER ISTREAM <out> AS SELECT ?t ?n {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      {{ {{ ?x :x ?y }} UNION {{ {COUNTS} }} }} OPTIONAL {{ {COUNTS} }} }}"""
    config = ServiceConfig(budget=Budget(3), change_interval=60 * SECOND)
    runner = Runner(text, "interval", config)
    assert runner.step(STREAM[:1], 2) == [(2, "t1", "10")]
    runner.evaluator.renew(Background())
    assert runner.step([], 4) == []
    assert len(runner.resolver.freshness("q")) == 2


@both
def test_age_is_a_variable_like_any_other(evaluator: str) -> None:
    text = f"""SELECT ?t ?age {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }}
      SERVICE <{ENDPOINT}#weir:budget=5&interval=10s&age_variable=age> {{ ?t :mentions ?u }}
      FILTER(?age < 2) }}"""
    assert run(text, evaluator, STREAM[:1]) == [(2, "t1", "0"), (3, "t1", "1")]


@both
def test_freshness_is_among_the_statistics(evaluator: str) -> None:
    text = f"SELECT ?t ?u {WINDOW} WHERE {{ WINDOW <w> {{ ?t :by ?a }} {MENTIONS} }}"
    runner = Runner(text, evaluator)
    runner.step(STREAM, 5, end=True)
    (account,) = runner.resolver.freshness("q")
    assert account.share == 1.0 and account.rows == 3
    if evaluator == "interval":
        assert runner.evaluator.statistics()["services"] == [account]


# Random queries, SERVICE against GRAPH

PATTERNS = (
    "?t :mentions ?u",
    "?t :mentions ?u . ?u :followers ?n",
    "?t :mentions ?u OPTIONAL { ?u :followers ?n }",
    "?t :mentions ?u FILTER(?u != :u1)",
    "{ ?t :mentions ?u } UNION { ?u :followers ?n }",
    "SELECT ?t (COUNT(?u) AS ?c) WHERE { ?t :mentions ?u } GROUP BY ?t",
    "SELECT DISTINCT ?u WHERE { ?x :mentions ?u }",
    "?t :mentions [ :followers ?n ]",
    "?u :followers ?n MINUS { :t1 :mentions ?u }",
)
SHAPES = (
    "WINDOW <w> {{ ?t :by ?a }} {0}",
    "WINDOW <w> {{ ?t :by ?a }} OPTIONAL {{ {0} }}",
    "{0} WINDOW <w> {{ ?t :by ?a }}",
    "WINDOW <w> {{ ?t :by ?a }} {0} {1}",
    "WINDOW <w> {{ ?t :by ?a }} OPTIONAL {{ {0} }} {1}",
    "WINDOW <w> {{ ?t :by ?a }} {{ {0} }} UNION {{ {1} }}",
    "WINDOW <w> {{ ?t :by ?a }} MINUS {{ {0} }}",
    "WINDOW <w> {{ ?t :by ?a }} OPTIONAL {{ WINDOW <w> {{ ?t :likes ?u }} }} {0}",
)
FORMS = ("RSTREAM", "ISTREAM", "DSTREAM")


def local(node: Any) -> Any:
    """The query with GRAPH in place of SERVICE."""
    if isinstance(node, Service):
        return Graph(IRI("urn:remote"), local(node.pattern))
    if isinstance(node, tuple):
        return tuple(local(item) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        return type(node)(**{f.name: local(getattr(node, f.name)) for f in fields(node)})
    return node


names = st.sampled_from(["t1", "t2", "t3"])
triples = st.one_of(
    st.tuples(names, st.just("mentions"), st.sampled_from(["u1", "u2", "u3"])),
    st.tuples(st.sampled_from(["u1", "u2", "u3"]), st.just("followers"), st.sampled_from(["10", "20"])),
)
messages = st.tuples(
    st.integers(1, 8), names, st.sampled_from(["by", "likes"]), st.sampled_from(["a1", "u1", "u2"])
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(SHAPES),
    st.sampled_from(PATTERNS),
    st.sampled_from(PATTERNS),
    st.sampled_from(FORMS),
    st.sets(triples, max_size=8),
    st.lists(messages, max_size=8, unique=True),
    st.integers(1, 9),
    st.sampled_from([0, 3 * SECOND]),
)
def test_a_federated_join_is_what_a_local_graph_would_give(
    shape: str,
    first: str,
    second: str,
    form: str,
    remote: set[tuple[str, str, str]],
    sent: list[Sent],
    cut: int,
    cache: int,
) -> None:
    service = f"SERVICE <{ENDPOINT}> {{{{ {{}} }}}}"
    body = shape.format(*(service.format(p).replace("{{", "{").replace("}}", "}") for p in (first, second)))
    text = f"REGISTER {form} <out> AS SELECT * {WINDOW} WHERE {{ {body} }}"
    turtle = " ".join(f":{s} :{p} {o if o.isdigit() else ':' + o} ." for s, p, o in remote)
    found = []
    for evaluator in ("interval", "reference"):
        runner = Runner(text, evaluator, ServiceConfig(cache=cache, batch=2), StoreLoop(turtle))
        parts = [m for m in sent if m[0] < cut], [m for m in sent if m[0] >= cut]
        rows = runner.step(parts[0], cut)
        found.append(rows + runner.step(parts[1], cut, end=True))
    dictionary = Dictionary()
    columns = [dictionary.encode_terms([_term(t[place]) for t in sorted(remote)]) for place in range(3)]
    background = Background(named={"urn:remote": GraphTable(*columns)})
    oracle = Runner(text, "reference")
    oracle.dictionary = dictionary
    oracle.evaluator = choose_evaluator(
        local(oracle.query), background, dictionary, "reference", streams=("s",)
    ).evaluator
    expected = oracle.step(parts[0], cut) + oracle.step(parts[1], cut, end=True)
    assert found[0] == expected
    assert found[1] == expected


def _term(name: str) -> Term:
    return Literal(name, XSD + "integer") if name.isdigit() else iri(name)
