"""Hints: what the author of a query may say about an endpoint, in the fragment of its IRI.

Queries may come from strangers. A hint says what the query wants of the endpoint (how often, how fresh, what
happens when it fails), and may ask for less of the server than is declared: shorter waits, smaller requests.
It never asks for more, and says nothing of what is the operator's: credentials, whom to allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from weir.errors import UsageError, kind_of
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import BGP, Service
from weir.language.algebra.query import Query
from weir.linked.service.config import HINT, SHORT_NAMES, Budget, ServiceConfig, config_of
from weir.rdf.terms import IRI

_OPERATORS = ("allow", "inner", "headers", "change_intervals")
_AT_MOST = ("timeout", "retries", "failures", "connections", "batch", "max_bytes", "max_keys")
_AT_LEAST = ("backoff", "cool_down", "longest_cool_down")
_LONGEST = 60.0
"""Seconds that a hint may let an evaluation wait where nothing is declared."""


def settings_of(endpoint: str) -> tuple[str, dict[str, str]]:
    """An endpoint's address without its hint, and what the hint says."""
    if not isinstance(endpoint, str):
        raise UsageError(f"an endpoint is an IRI, not {kind_of(endpoint)}")
    address, _, hint = endpoint.partition(HINT)
    try:
        pairs = parse_qsl(hint, keep_blank_values=True, strict_parsing=True) if hint else []
    except ValueError:
        raise UsageError(
            f"the hint {hint[:80]!r} of the endpoint {address} cannot be read",
            hint="write NAME=VALUE&NAME=VALUE, for example #weir:budget=10&interval=5s",
        ) from None
    return address, dict(pairs)


def hinted(endpoint: str, configs: Mapping[str, ServiceConfig]) -> tuple[str, ServiceConfig]:
    """An endpoint's address without its hint, and its configuration with the hint applied.

    A hint can make a declared budget smaller, never larger. One that asks for what it may not is refused.
    """
    address, told = settings_of(endpoint)
    base = configs.get(address, configs.get("*", ServiceConfig()))
    if not told:
        return address, base
    for written in told:
        if SHORT_NAMES.get(written, written) in _OPERATORS:
            raise UsageError(
                f"the hint of the endpoint {address} may not set {written!r}",
                hint="it is declared for the endpoint, by who runs the queries",
            )
    config = config_of(told, base)
    _within(address, config, base)
    return address, replace(config, budget=_stricter(base.budget, config.budget))


def _within(address: str, told: ServiceConfig, base: ServiceConfig) -> None:
    """Refuse a hint that asks for more than is declared."""
    bounds: dict[str, tuple[Any, bool]] = {name: (getattr(base, name), True) for name in _AT_MOST}
    bounds |= {name: (getattr(base, name), False) for name in _AT_LEAST}
    if told.deadline is not None:
        bounds["deadline"] = (_LONGEST if base.deadline is None else base.deadline, True)
    for name, (bound, most) in bounds.items():
        value = getattr(told, name)
        if value > bound if most else value < bound:
            word = "most" if most else "least"
            raise UsageError(
                f"the hint of the endpoint {address} sets {name} to {value}; at {word} {bound} is allowed",
                hint="declare another bound for the endpoint, or leave it out",
            )


def _stricter(declared: Budget | None, told: Budget | None) -> Budget | None:
    if declared is None or told is None:
        return told or declared
    flexible = [b for b in (declared, told) if b.per_period is not None]
    least = min(flexible, key=lambda b: (b.per_period or 0) / b.period, default=told)
    return Budget(
        _least(declared.per_evaluation, told.per_evaluation),
        least.per_period,
        least.period,
        rate=_least(declared.rate, told.rate),
        keys=_least(declared.keys, told.keys),
    )


N = TypeVar("N", int, float)


def _least(one: N | None, other: N | None) -> N | None:
    return min((value for value in (one, other) if value is not None), default=None)


def refuse_bad_hints(query: Query, configs: Mapping[str, ServiceConfig]) -> None:
    """Raise where a hint in a query cannot be read, or sets what it may not."""
    for node in walk(query.pattern, closed=(BGP,)):
        if isinstance(node, Service) and isinstance(node.name, IRI):
            hinted(node.name.value, configs)
