"""Settings from files and from hints in an endpoint's IRI."""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.linked.service.config import (
    SECOND,
    Budget,
    OnFailure,
    PolicyName,
    ServiceConfig,
    config_of,
    hinted,
    microseconds,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5s", 5 * SECOND),
        ("500ms", 500_000),
        ("PT5S", 5 * SECOND),
        ("1.5m", 90 * SECOND),
        (250, 250_000),
        ("250", 250_000),
        ("P1D", 86_400 * SECOND),
        ("2h", 7_200 * SECOND),
        ("7us", 7),
    ],
)
def test_durations(text: object, value: int) -> None:
    assert microseconds(text) == value


@pytest.mark.parametrize("text", ["", "soon", "P1M", "5 parsecs", "-5s"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        microseconds(text)


def test_settings_of_a_file() -> None:
    config = config_of(
        {
            "budget": 10,
            "policy": "IBM",
            "intervals": {"http://e/followers": "5s"},
            "on_failure": "error",
            "deadline": "0.25",
            "trust_headers": "no",
            "headers": {"Authorization": "secret"},
        }
    )
    assert config.budget == Budget(per_evaluation=10)
    assert config.policy is PolicyName.IBM
    assert config.declared == {"http://e/followers": 5 * SECOND}
    assert config.on_failure is OnFailure.ERROR
    assert config.deadline == 0.25 and config.trust_headers is False
    assert "secret" not in repr(config)
    assert hash(config) == hash(config_of({}, config))


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


def test_a_hint_cannot_allow_what_is_refused() -> None:
    configs = {"*": ServiceConfig(allow=False), "http://good/q": ServiceConfig()}
    assert not hinted("http://bad/q#weir:allow=true", configs)[1].allow
    assert hinted("http://good/q", configs)[1].allow


@pytest.mark.parametrize(
    "settings",
    [
        {"bugdet": 5},
        {"budget": "many"},
        {"budget": -1},
        {"period": "5s"},
        {"policy": "best"},
        {"deadline": "soon"},
        {"deadline": -1},
        {"interval": 0},
        {"batch": 0},
        {"method": "PUT"},
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        config_of(settings)
