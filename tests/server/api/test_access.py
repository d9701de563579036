"""Who may do what: tokens, this machine, other pages, rates."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.datastructures import Headers

from server_kit import READER, TOKENS, call
from weir.errors import UsageError
from weir.server.api.access import Access, Rates, is_loopback
from weir.server.problems import Problem
from weir.server.service import Service
from weir.server.settings import Limits, Settings


def test_without_tokens_only_this_machine_is_served() -> None:
    with pytest.raises(UsageError, match="open to everybody"):
        Access(host="0.0.0.0")
    Access(TOKENS, host="0.0.0.0")
    access = Access()
    assert access.admit("GET", Headers({"host": "localhost:8080"})) is None
    assert access.admit("GET", Headers({"host": "[::1]:8080"})) is None
    with pytest.raises(Problem, match="own machine"):
        access.admit("GET", Headers({"host": "weir.example"}))
    with pytest.raises(Problem, match="another page"):
        access.admit("POST", Headers({"host": "localhost", "origin": "http://evil.example"}))
    access.admit("POST", Headers({"host": "localhost:1", "origin": "http://localhost:1"}))
    assert not is_loopback("127.0.0.1.evil.example")


def test_rates_are_a_bucket() -> None:
    now = [0.0]
    rates = Rates(2, 3, lambda: now[0])
    assert [rates.take("a") for _ in range(3)] == [0, 0, 0]
    assert rates.take("a") == pytest.approx(0.5)
    assert rates.take("b") == 0
    now[0] = 0.5
    assert rates.take("a") == 0


def test_without_a_good_token_nothing_is_told(tmp_path: Path) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS))
    missing = call(service, "GET", "/api/streams")
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, "Bearer")
    wrong = call(service, "GET", "/api/streams", headers={"authorization": "Bearer nonsense"})
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert call(service, "GET", f"/api/streams?access_token={READER}").status_code == 401
    assert call(service, "GET", f"/api/queries/q/results?access_token={READER}").status_code == 503
    assert call(service, "GET", "/").status_code == 200


def test_a_scope_allows_what_it_says(tmp_path: Path) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS))
    reader = {"authorization": f"Bearer {READER}"}
    assert (
        call(service, "POST", "/api/streams", json={"iri": "http://e/s"}, headers=reader).status_code == 403
    )
    assert call(service, "POST", "/api/parse", json={"text": "ASK {}"}, headers=reader).status_code == 200


def test_too_many_requests_and_too_long_bodies_are_refused(tmp_path: Path) -> None:
    service = Service(Settings(data=tmp_path, limits=Limits(burst=2, requests=0.001, body=100)))
    long = call(service, "POST", "/api/parse", content=b"x" * 101)
    assert long.status_code == 413
    limited = Service(Settings(data=tmp_path, limits=Limits(burst=0, requests=0.001)))
    assert call(limited, "GET", "/health").status_code == 429
