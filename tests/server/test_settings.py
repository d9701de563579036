"""What a service is told: a file, the command line over it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import weir
from weir.errors import UsageError
from weir.linked.http.allowed_hosts import Allowed
from weir.server.problems import Problem
from weir.server.settings import Limits, Settings, check_query, check_windows, read_settings

READ = "r" * 20


def test_settings_come_from_a_file_and_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "weir.toml"
    path.write_text(
        f'port = 9000\n[limits]\nqueries = 3\n[[tokens]]\ntoken = "{READ}"\n[allow]\nhosts = ["e.org"]\n'
        '[services."http://e.org/sparql"]\nbudget = 3\n'
        '[results]\nkeep = 10\n[cors]\norigins = ["https://e.org"]\n[[graphs]]\nsource = "floor.ttl"\n'
    )
    settings = read_settings(path, port=None, host="127.0.0.2")
    assert (settings.port, settings.host, settings.limits.queries) == (9000, "127.0.0.2", 3)
    assert (settings.tokens[0].secret, settings.tokens[0].scope, settings.tokens[0].name) == (
        READ,
        "read",
        "0",
    )
    assert (settings.keep, settings.origins, settings.graphs) == (
        10,
        ("https://e.org",),
        ((None, "floor.ttl"),),
    )
    assert settings.allowed == Allowed(frozenset({"e.org"}))
    assert settings.services == {"http://e.org/sparql": {"budget": 3}}
    for text, words in (
        ("ports = 1", "ports: Unexpected"),
        ("[limits]\nbody = 'x'", r"limits\.body: .* integer"),
        ("[limits]\nbodies = 1", r"limits\.bodies: Unexpected"),
        ("[limits]\nwait = -1", r"limits\.wait: .* greater than"),
        ("[[tokens]]\ntoken = 'short'", "at least 16 characters"),
        ("[[tokens]]\ntoken = 'long enough for it'\nscope = 'all'", "'read', 'write' or 'admin'"),
        ("port = ", "cannot read"),
        ("port = 'x'", "port: .* integer"),
        ("[[graphs]]\niri = 'urn:g'", "graphs"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            read_settings(path)


def test_streams_and_sinks_have_any_address(tmp_path: Path) -> None:
    path = tmp_path / "weir.toml"
    path.write_text('sinks = ["files:out"]\n[[streams]]\niri = "urn:a"\nsource = "mqtt://host/topic"\n')
    settings = read_settings(path, streams=[("urn:b", "push:")], sinks=None)
    assert settings.streams == (("urn:a", "mqtt://host/topic"), ("urn:b", "push:"))
    assert settings.sinks == ("files:out",)
    path.write_text('[[streams]]\niri = "urn:a"\n')
    with pytest.raises(UsageError, match="streams"):
        read_settings(path)


def test_without_a_file_there_are_defaults() -> None:
    settings = read_settings(None)
    assert (settings.host, settings.port, settings.data) == ("127.0.0.1", 8080, Path("weir-data"))
    assert read_settings(None, data=Path("/d")).data == Path("/d")


def test_joins_are_routed_by_cost_unless_it_is_said_otherwise() -> None:
    assert read_settings(None, routing=None).routing == "cost"
    assert read_settings(None, routing="cardinality").routing == "cardinality"
    with pytest.raises(UsageError, match="'cost' or 'cardinality'"):
        read_settings(None, routing="luck")


@pytest.mark.parametrize(
    ("window", "words"),
    [("RANGE 3h", "longer than"), ("TRIPLES 20000000", "counts more"), ("ALL", "for ever")],
)
def test_windows_have_limits(window: str, words: str) -> None:
    query = weir.parse(f"SELECT * {{ STREAM <http://e/s> [{window}] {{ ?a ?b ?c }} }}")
    with pytest.raises(UsageError, match=words):
        check_windows(query, Limits(window=3600, unbounded=False))


def calling(endpoint: str) -> weir.Query:
    window = "STREAM <http://e/s> [NOW] { ?a ?b ?c }"
    return weir.parse(f"SELECT * {{ {window} SERVICE <{endpoint}> {{ ?a ?p ?d }} }}", dialect="cqels")


def test_only_declared_endpoints_and_allowed_hosts_are_called() -> None:
    settings = Settings(
        allowed=Allowed(frozenset({"example.org"})), services={"http://127.0.0.1/sparql": {"budget": 1}}
    )
    check_query(calling("http://example.org/sparql"), settings)
    check_query(calling("http://127.0.0.1/sparql"), settings)
    with pytest.raises(Problem) as refused:
        check_query(calling("http://elsewhere.org/sparql"), settings)
    assert refused.value.status == 403


def test_a_query_without_windows_is_not_continuous() -> None:
    with pytest.raises(UsageError, match="no window"):
        check_query(weir.parse("SELECT * { ?a ?b ?c }", dialect="sparql"), Settings())
