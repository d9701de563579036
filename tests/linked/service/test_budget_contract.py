"""What providers are promised, through the whole pipeline, counted by the server itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from service_servers import Mood, MoodyServer, moody
from weir.testing import Scenario

pytestmark = pytest.mark.network

E = "http://e/"
KEYS = 21
DATA = " ".join(f"<{E}k{n}> <{E}value> {n} . <{E}k{n}> <{E}other> {100 + n} ." for n in range(KEYS))
LINES = [f"{1000 * n + 500}\t<{E}k{n}> <{E}seen> <{E}x> .\n" for n in range(KEYS)]


def query(*clauses: str, name: str = "out", width: int = 25) -> str:
    services = " ".join(clauses)
    return f"""PREFIX : <{E}>
    REGISTER RSTREAM <{name}> AS SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE {width}s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?k :seen ?x }} {services} }}"""


def value(endpoint: str) -> str:
    return f"SERVICE <{endpoint}> {{ ?k :value ?v }}"


def other(endpoint: str) -> str:
    return f"SERVICE <{endpoint}> {{ ?k :other ?o }}"


def run(queries: str | dict[str, str], batches: Sequence[str], **options: Any) -> list[dict[str, Any]]:
    found = Scenario(queries, **options).run(batches, "s")
    return sorted(found, key=lambda line: (line["at"], line.get("query", ""), str(line["bindings"])))


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_the_cut_into_batches_changes_neither_what_is_spent_nor_what_comes_out(
    server: MoodyServer, evaluator: str
) -> None:
    """Two clauses and two queries, γ = 3, 21 evaluation times in one batch and in 21."""
    endpoint = f"{server.endpoint}#weir:budget=3&interval=2s&batch=1&policy=ibm"
    queries = {
        "a": query(value(endpoint), other(endpoint), name="one"),
        "b": query(value(endpoint), name="two"),
    }
    once = run(queries, ["".join(LINES)], evaluator=evaluator)
    spent = server.requests
    assert 0 < spent <= 3 * (KEYS + 25)
    server.requests = 0
    assert run(queries, LINES, evaluator=evaluator) == once
    assert server.requests == spent
    assert len({line["bindings"]["k"]["value"] for line in once}) > 3


def test_no_evaluation_time_is_overspent(server: MoodyServer) -> None:
    """γ = 3 and one request a key: 21 times may send 63 requests, whoever sends them."""
    endpoint = f"{server.endpoint}#weir:budget=3&interval=1s&batch=1"
    queries = {name: query(value(endpoint), other(endpoint), name=name, width=2) for name in "abcd"}
    run(queries, ["".join(LINES)])
    assert 40 <= server.requests <= 3 * (KEYS + 1)


def test_differing_hints_share_one_ledger(server: MoodyServer) -> None:
    """The largest hint counts for the endpoint, whatever other hints, addresses and queries there are."""
    hints = ["budget=2", "budget=1&policy=lru", "budget=2&interval=1s", "interval=1s"]
    queries = {
        f"q{n}": query(
            value(f"{server.endpoint}{'?x=1' if n == 1 else ''}#weir:{hint}&batch=1"), name=f"o{n}"
        )
        for n, hint in enumerate(hints)
    }
    scenario = Scenario(queries)
    for line in LINES:
        before = server.requests
        scenario.lane("s").put(line)
        scenario.batch()
        assert server.requests - before <= 2
    assert server.requests >= 2 * (KEYS - 2)


def test_a_period_accrues_evenly_and_is_spent_to_the_last(server: MoodyServer) -> None:
    """Γ = 12 in 20 s for ten greedy queries: by the k-th second no more than its share, in the end all."""
    hint = "budget_per_period=12&period=20s&interval=1s&batch=1&policy=ibm"
    queries = {f"q{n}": query(value(f"{server.endpoint}#weir:{hint}"), name=f"o{n}") for n in range(10)}
    scenario = Scenario(queries)
    spent = []
    for line in LINES:
        scenario.lane("s").put(line)
        scenario.batch()
        spent.append(server.requests)
    # The n-th batch completes the evaluation at n seconds, which may borrow its own share.
    assert all(total <= 12 * (at + 1) / 20 for at, total in enumerate(spent) if at < 20)
    assert spent[19] == 12


def test_a_rate_holds_on_the_wall_clock(server: MoodyServer) -> None:
    """A backlog of 21 evaluation times comes at once: the first second's requests and hardly more."""
    endpoint = f"{server.endpoint}#weir:rate=2&interval=1s&batch=1"
    began = time.time()
    run(query(value(endpoint)), ["".join(LINES)])
    assert 2 <= server.requests <= 2 + 2 * (time.time() - began)


def test_every_attempt_is_charged(server: MoodyServer) -> None:
    server.mood = Mood.GARBAGE
    endpoint = f"{server.endpoint}#weir:budget=1&retries=2"
    scenario = Scenario(query(value(endpoint)))
    for line in LINES[:8]:
        scenario.lane("s").put(line)
        scenario.batch()
    assert 3 <= server.requests <= 7


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date", "date alone", "none"])
def test_a_server_that_asks_to_be_left_alone_is(server: MoodyServer, status: int, form: str) -> None:
    """Nothing is sent until then, by no query, with or without a budget; not after a restart either."""
    now = datetime.now(UTC)
    server.mood, server.status = Mood.BUSY, status
    later = format_datetime(now + timedelta(seconds=3600), usegmt=True)
    server.busy = {
        "seconds": {"Retry-After": "3600"},
        "date": {"Retry-After": later, "Date": format_datetime(now, usegmt=True)},
        "date alone": {"Retry-After": later},
        "none": {},
    }[form]
    hints = ["#weir:budget=1&cool_down=3600", "#weir:cool_down=3600"]
    queries = {f"q{n}": query(value(server.endpoint + hint), name=f"o{n}") for n, hint in enumerate(hints)}
    scenario = Scenario(queries, restarts=True)
    for line in LINES[:6]:
        scenario.lane("s").put(line)
        scenario.batch()
    assert server.requests == 1


def test_queries_that_outnumber_the_budget_take_turns(server: MoodyServer) -> None:
    """γ = 1 for four queries of two clauses: every clause of every query hears something in time."""
    endpoint = f"{server.endpoint}#weir:budget=1&interval=1s&batch=50"
    queries = {
        name: query(
            f"OPTIONAL {{ SERVICE <{endpoint}> {{ ?k :value ?v{name} }} }}",
            f"OPTIONAL {{ SERVICE <{endpoint}> {{ ?k :other ?o{name} }} }}",
            name=name,
        )
        for name in "abcd"
    }
    found = run(queries, LINES)
    heard = {name for line in found for name in line["bindings"]}
    assert heard >= {f"{letter}{name}" for letter in "vo" for name in "abcd"}


def test_a_count_over_an_endpoint_that_was_never_reached_is_missing(server: MoodyServer) -> None:
    server.mood = Mood.DEAF
    inner = "{ SELECT (COUNT(*) AS ?n) { ?k :value ?v } }"
    assert run(query(f"SERVICE <{server.endpoint}#weir:budget=1> {inner}"), LINES[:4]) == []
    server.mood = Mood.PASS
    # Settings of its own, so a client whose breaker has not seen the failures.
    found = run(query(f"SERVICE <{server.endpoint}#weir:budget=1&seed=1> {inner}"), LINES[:4])
    assert {line["bindings"]["n"]["value"] for line in found} == {str(KEYS)}


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@pytest.mark.parametrize("hint", ["", "#weir:budget=1"])
def test_a_count_around_an_endpoint_that_was_never_reached_is_missing(
    server: MoodyServer, evaluator: str, hint: str
) -> None:
    server.mood = Mood.REFUSE
    clause = f"{{ SELECT (COUNT(*) AS ?n) {{ SERVICE <{server.endpoint}{hint}> {{ ?k :value ?v }} }} }}"
    assert run(query(clause), LINES[:3], evaluator=evaluator) == []
    server.mood = Mood.PASS
    found = run(query(clause), LINES[:3], evaluator=evaluator)
    assert {line["bindings"]["n"]["value"] for line in found} == {str(KEYS)}


@pytest.mark.parametrize("restarts", [False, True])
def test_what_a_query_spent_before_it_failed_is_spent(restarts: bool) -> None:
    """Γ = 6 in 20 s. By 10 s a query spends what has accrued, and fails by the answers; the other one has the
    rest, not more, although the batch is evaluated again without the first.

    s (seconds)   9 9.1 … | 10: bad asks and fails
    t                     | 10.5 … 18.5: good asks
    """
    with moody() as server:
        hint = "budget_per_period=6&period=20s&interval=1s&batch=1&retries=0&policy=ibm"
        bad = query(value(f"{server.endpoint}#weir:{hint}&on_failure=error"), name="bad")
        good = query(value(f"{server.endpoint}#weir:{hint}"), name="good").replace("<s>", "<t>")
        scenario = Scenario({"bad": bad, "good": good}, restarts=restarts)
        server.mood = Mood.GARBAGE
        for n in range(8):
            scenario.lane("s").put(f"{9000 + 10 * n}\t<{E}k{n}> <{E}seen> <{E}x> .\n")
        scenario.lane("s").put(f"10500\t<{E}k9> <{E}seen> <{E}x> .\n")
        scenario.batch()
        assert list(scenario.failures) == ["bad"]
        lost = server.requests
        assert lost > 1
        assert sum(spent[3] for spent in scenario.job.failures["bad"].spent) == lost
        server.mood = Mood.PASS
        for n in range(10, 19):
            for key in range(4):
                scenario.lane("t").put(f"{1000 * n + 500 + key}\t<{E}k{n}x{key}> <{E}seen> <{E}x> .\n")
            scenario.batch()
        assert lost < server.requests <= 6
