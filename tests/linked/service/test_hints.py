"""Hints: what the author of a query may say about an endpoint, and what is refused when it is registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.linked.service import Budget, PolicyName, ServiceConfig, hinted, settings_of
from weir.linked.service.config import SECOND
from weir.runtime.direct import DirectJob
from weir.runtime.ingest.sources import FileSource


def test_a_hint_is_on_top_of_what_is_declared() -> None:
    declared = {"http://e/q": ServiceConfig(budget=Budget(5, 100, 60 * SECOND), deadline=0.5)}
    address, config = hinted("http://e/q#weir:budget=3&policy=sbm&interval=5s", declared)
    assert address == "http://e/q"
    assert config.budget == Budget(3, 100, 60 * SECOND)
    assert config.policy is PolicyName.SBM and config.change_interval == 5 * SECOND
    assert config.deadline == 0.5


def test_without_a_hint_the_address_is_left_alone() -> None:
    assert hinted("http://e/q#part", {}) == ("http://e/q#part", ServiceConfig())
    everyone = ServiceConfig(cache=SECOND)
    assert hinted("http://e/q", {"*": everyone}) == ("http://e/q", everyone)


@pytest.mark.parametrize(
    ("declared", "hint", "outcome"),
    [
        (None, "budget=10", Budget(10)),
        (None, "budget=none", None),
        (Budget(5), "budget=10", Budget(5)),
        (Budget(5), "budget=2", Budget(2)),
        (Budget(5), "budget=none", Budget(5)),
        (Budget(5), "budget_per_period=9&period=1s", Budget(5, 9, SECOND)),
        (Budget(None, 50, SECOND), "budget=10", Budget(10, 50, SECOND)),
        (Budget(None, 50, SECOND), "budget_per_period=99&period=1ms", Budget(None, 50, SECOND)),
        (Budget(None, 50, SECOND), "policy=lru", Budget(None, 50, SECOND)),
    ],
)
def test_a_hint_never_loosens_a_declared_budget(
    declared: Budget | None, hint: str, outcome: Budget | None
) -> None:
    configs = {"http://e/q": ServiceConfig(budget=declared)}
    assert hinted(f"http://e/q#weir:{hint}", configs)[1].budget == outcome


BAD = [
    "budget",
    "=",
    "&&",
    "bugdet=3",
    "budget=%00",
    f"budget={'9' * 400}",
    "headers=x",
    "headers=Authorization",
    "allow=true",
    "inner=true",
    "intervals=x",
    "interval=P999999999999999D",
    f"interval={'9' * 400}",
    "cache=PT0.0000000000000000001S,",
    "deadline=inf",
    "deadline=nan",
    "deadline=61",
    "timeout=1000",
    "retries=1000000",
    "retries=-1",
    "max_bytes=99999999999",
    "connections=500",
    "cool_down=0",
    "seed=-1",
    "age_variable=a b",
    "policy=best",
]


@pytest.mark.parametrize("hint", BAD)
def test_a_hint_that_may_not_be_is_refused(hint: str) -> None:
    with pytest.raises(UsageError):
        hinted(f"http://e/q#weir:{hint}", {})


@pytest.mark.parametrize("hint", BAD)
def test_it_is_refused_when_the_query_is_registered(tmp_path: Path, hint: str) -> None:
    (tmp_path / "s.tnq").touch()
    job = DirectJob(tmp_path / "c")
    job.registry.add_stream("s", FileSource(str(tmp_path / "s.tnq")))
    endpoint = f"http://e/q#weir:{hint}".replace(" ", "%20")
    text = (
        "REGISTER RSTREAM <q> AS SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        f"WHERE {{ WINDOW <w> {{ ?x <urn:p> ?z }} SERVICE <{endpoint}> {{ ?x <urn:q> ?y }} }}"
    )
    with pytest.raises(UsageError):
        job.register(text)
    assert job.registry.queries() == []


def test_what_is_declared_bounds_what_a_hint_asks_for() -> None:
    declared = {"http://e/q": ServiceConfig(deadline=2.0, timeout=30.0, retries=5)}
    assert hinted("http://e/q#weir:deadline=1&timeout=20&retries=0", declared)[1].timeout == 20.0
    for hint in ("deadline=3", "timeout=31", "retries=6"):
        with pytest.raises(UsageError, match="at most"):
            hinted(f"http://e/q#weir:{hint}", declared)


def test_who_declares_an_endpoint_may_say_anything() -> None:
    assert settings_of("http://e/q#weir:timeout=100&inner=false") == (
        "http://e/q",
        {"timeout": "100", "inner": "false"},
    )
