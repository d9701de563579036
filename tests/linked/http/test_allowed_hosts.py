"""Where requests may go."""

from __future__ import annotations

import pytest

from weir.errors import RemoteError
from weir.linked.http.allowed_hosts import Allowed, Forbidden, is_inner


def test_addresses_are_judged() -> None:
    for inner in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fe80::1", "::ffff:10.0.0.1", "0.0.0.0"):
        assert is_inner(inner), inner
    assert not is_inner("93.184.216.34")
    allowed = Allowed(frozenset({"localhost", "*.example.org", "e.org:81"}))
    for url in ("http://a.example.org/x", "https://e.org:81/"):
        allowed.check(url)
    for url in (
        "http://example.org/",
        "http://e.org/",
        "ftp://a.example.org",
        "http://u:p@a.example.org",
        "http://x:y/",
    ):
        with pytest.raises(RemoteError):
            allowed.check(url)
    with pytest.raises(Forbidden, match="inner address"):
        allowed.addresses("localhost", 80)
    assert Allowed(private=frozenset({"localhost"})).addresses("localhost", 80)


def test_a_host_that_is_not_allowed_is_forbidden() -> None:
    with pytest.raises(Forbidden, match="not allowed"):
        Allowed(frozenset({"example.org"})).check("http://example.com/")
