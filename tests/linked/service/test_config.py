"""Settings from files and from hints in an endpoint's IRI."""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.linked.service.config import (
    SECOND,
    Budget,
    OnFailure,
    PolicyName,
    config_of,
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
