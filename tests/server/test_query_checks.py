"""What is refused before it is registered."""

from __future__ import annotations

import pytest

import weir
from weir.errors import UsageError
from weir.linked.http.allowed_hosts import Allowed
from weir.server.problems import Problem
from weir.server.query_checks import check_query, check_windows
from weir.server.settings import Limits, Settings


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
