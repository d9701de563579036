"""Who may ask: this machine, holders of tokens, and never a page of another site that changes something."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from weir.errors import UsageError
from weir.linked.serving.admission import Access, Refused, host_name, is_loopback, same_secret


@dataclass(frozen=True)
class Key:
    secret: str


def status(access: Access[Key], method: str, given: str | None = None, **headers: str) -> int:
    try:
        access.admit(method, {"host": "localhost:1", **headers}, given)
    except Refused as refused:
        return refused.status
    return 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "[::1]", "::1"])
def test_names_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", "10.0.0.1"]
)
def test_names_of_others(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(UsageError, match="open to everybody"):
        Access(host=host)


@pytest.mark.parametrize(
    ("header", "name"), [("localhost:80", "localhost"), ("[::1]:80", "[::1]"), ("e", "e"), ("", "")]
)
def test_a_host_header_has_a_name(header: str, name: str) -> None:
    assert host_name(header) == name


def test_without_tokens() -> None:
    access: Access[Key] = Access(origins=("http://friend.example",))
    assert status(access, "POST") == 200
    assert status(access, "GET", host="rebound.example") == 403
    assert status(access, "GET", origin="http://evil.example") == 200
    for method in ("POST", "DELETE", "WEBSOCKET"):
        assert status(access, method, origin="http://evil.example") == 403
        assert status(access, method, origin="http://localhost:1") == 200
        assert status(access, method, origin="http://friend.example") == 200
        assert status(access, method, origin="null") == 403


def test_with_tokens() -> None:
    access = Access([Key("a" * 20), Key("b" * 20)], host="0.0.0.0")
    assert status(access, "GET") == 401
    assert status(access, "GET", host="weir.example", authorization=f"Bearer {'b' * 20}") == 200
    assert status(access, "GET", "a" * 20) == 200
    for wrong in ("Bearer x", "Bearer", f"Basic {'a' * 20}", "Bearer \ud800"):
        assert status(access, "GET", authorization=wrong) == 401
    assert access.admit("GET", {"authorization": f"bearer {'b' * 20}"}) == Key("b" * 20)


def test_secrets_are_compared_whole() -> None:
    assert same_secret("é" * 9, "é" * 9) and not same_secret("aa", "a")
