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


@pytest.mark.parametrize(
    "address",
    [
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:a00:1::1",
        "2001:0:808:808:0:0:f5ff:fffe",
        "2a00::5efe:a00:1",
        "2a00::200:5efe:a00:1",
        "fec0::1",
        "fc00::1",
        "fe80::1%eth0",
        "::",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "100::1",
        "5f00::1",
        "ff02::1",
        "2001:db8::1",
        "100.64.0.1",
        "192.0.0.8",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
    ],
)
def test_every_way_to_write_an_inner_address_is_one(address: str) -> None:
    assert is_inner(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2a00:1450::1", "64:ff9b::808:808", "2002:808:808::1"])
def test_public_addresses_stay_public(address: str) -> None:
    assert not is_inner(address)


def test_who_names_a_host_does_not_name_where_it_leads() -> None:
    allowed = Allowed.named("http://localhost:99/x")
    allowed.check("https://example.org/")
    assert allowed.addresses("localhost", 1)
    with pytest.raises(Forbidden, match="inner address"):
        allowed.addresses("127.0.0.1", 80)


def test_a_host_that_is_not_allowed_is_forbidden() -> None:
    with pytest.raises(Forbidden, match="not allowed"):
        Allowed(frozenset({"example.org"})).check("http://example.com/")
