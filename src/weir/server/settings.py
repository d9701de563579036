"""What a service is told: from ``weir.toml`` and the command line, which wins.

host = "127.0.0.1"      port = 8080      data = "weir-data"      master = "local[2]"
routing = "cost"        runner = "spark"         # or "direct": in this process, nothing is kept
[limits]                requests = 100.0          # see ``Limits``
[results]               keep = 67108864           segment = 8388608
[allow]                 hosts = ["example.org"]   private = ["localhost:3030"]
[cors]                  origins = ["https://example.org"]
[tls]                   certificate = "FILE"      key = "FILE"
[[tokens]]              token = "…"   scope = "read"   name = "dashboard"
[[graphs]]              iri = "…"     source = "FILE or URL"
[[streams]]             iri = "…"     source = "mqtt://…, kafka://…, a path, …"
sinks = ["files:DIR", "mqtt://…"]                 addresses = ["mqtt://broker", "/data"]
traces = "http://localhost:4318"                  # an OpenTelemetry collector
access_log = true                                 # a JSON line for each request, on standard error
[services."https://example.org/sparql"]           budget = 10     change_interval = "5s"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    AliasPath,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from weir.errors import RemoteError, UsageError
from weir.language import Query
from weir.language.algebra.windows import All, Elements, Past, Range, Triples
from weir.linked.http.allowed_hosts import Allowed
from weir.linked.service import HINT
from weir.rdf.terms import IRI
from weir.server.drawing import services_of
from weir.server.problems import Problem
from weir.storage.places import local_path

SCOPES = ("read", "write", "admin")
"""Read results and ask; push messages and update graphs; create, register, drop. Each has those before it."""
_CONFIG = ConfigDict(extra="forbid", populate_by_name=True)


@dataclass(frozen=True, slots=True, config=_CONFIG)
class Limits:
    """Sizes are bytes, times seconds. Every bound is checked before the work is done, or while it is."""

    body: NonNegativeInt = 32 << 20
    """A request's body; beyond it, 413."""
    requests: NonNegativeFloat = 1_000.0
    """Requests a second of one client, on average; beyond it, 429."""
    burst: NonNegativeFloat = 2_000.0
    """Requests that a client may make at once after a pause."""
    concurrent: NonNegativeInt = 200
    """Requests of one client that are under way at once, subscribers apart; beyond it, 429."""
    connections: NonNegativeInt = 10_000
    """Connections in all; beyond it, 503."""
    receive: NonNegativeFloat = 120.0
    """How long a request's body may take to come; beyond it, 408."""
    failed_logins: NonNegativeFloat = 30.0
    """Wrong tokens a minute from one address; beyond it, 429 for that address."""
    query_text: NonNegativeInt = 65_536
    """Characters of a query; beyond it, 422."""
    queries: NonNegativeInt = 1_000
    streams: NonNegativeInt = 1_000
    subscribers: NonNegativeInt = 5_000
    """Open event streams and WebSockets; beyond it, 503."""
    wait: NonNegativeFloat = 60.0
    """How long a long poll may last."""
    sparql: NonNegativeFloat = 10.0
    """How long a SPARQL query may take; beyond it, 503."""
    sparql_memory: NonNegativeInt = 4 << 30
    """Memory of the process that answers SPARQL queries."""
    fetch: NonNegativeFloat = 30.0
    """How long a graph may take to be fetched from a URL."""
    fetch_bytes: NonNegativeInt = 64 << 20
    window: NonNegativeFloat = 7 * 86_400.0
    """The longest time a window may hold."""
    window_items: NonNegativeInt = 10_000_000
    """The most triples or messages that a window may count."""
    unbounded: bool = True
    """Whether windows without an end (ALL) are allowed."""
    state_rows: NonNegativeInt = 5_000_000
    """Rows that a query may keep in a slot; beyond it, it fails."""
    batch_seconds: PositiveFloat = 300.0
    """How long a query may take in one batch; beyond it, it fails."""


@dataclass(frozen=True, slots=True, config=_CONFIG)
class Token:
    """``name`` is what the holder is called in limits and logs; ``scope`` the most it allows."""

    secret: str = Field(validation_alias="token", min_length=16, repr=False)
    scope: Literal["read", "write", "admin"] = "read"
    name: str = "token"


@dataclass(frozen=True, slots=True, config=_CONFIG)
class Settings:
    """Everything that a service is told. ``graphs`` are (IRI or None, file or URL), ``streams`` (IRI, path or
    address), ``sinks`` addresses to which all results go as well. The ``runner`` ``direct`` has its job in
    this process: it starts at once, and nothing of it is kept. ``addresses`` are where streams and sinks
    may lead that come over HTTP; ``traces`` is the address of a collector."""

    host: str = "127.0.0.1"
    port: int = 8080
    data: Path = Path("weir-data")
    master: str | None = None
    runner: Literal["spark", "direct"] = "spark"
    routing: Literal["cost", "cardinality"] = "cost"
    limits: Limits = Field(default_factory=Limits)
    keep: int = Field(default=64 << 20, validation_alias=AliasPath("results", "keep"))
    segment: int = Field(default=8 << 20, validation_alias=AliasPath("results", "segment"))
    allowed: Allowed = Field(default_factory=Allowed, validation_alias="allow")
    origins: tuple[str, ...] = Field(default=(), validation_alias=AliasPath("cors", "origins"))
    certificate: Path | None = Field(default=None, validation_alias=AliasPath("tls", "certificate"))
    key: Path | None = Field(default=None, validation_alias=AliasPath("tls", "key"))
    tokens: tuple[Token, ...] = ()
    graphs: tuple[tuple[str | None, str], ...] = ()
    streams: tuple[tuple[str, str], ...] = ()
    sinks: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    access_log: bool = False
    traces: str | None = None
    services: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)


def read_settings(path: Path | None, **given: Any) -> Settings:
    """The settings of a file, with what is ``given`` (and not None) in place of what it says; streams and
    sinks that are given come to those of the file."""
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UsageError(f"no such configuration file: {path}") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"cannot read the configuration {path}", detail=str(error)) from None
    for number, token in enumerate(values.get("tokens", ())):
        token.setdefault("name", str(number))
    if "graphs" in values:
        values["graphs"] = [(each.get("iri"), each.get("source")) for each in values["graphs"]]
    if "streams" in values:
        values["streams"] = [(each.get("iri"), each.get("source")) for each in values["streams"]]
    for name in ("streams", "sinks", "addresses"):
        values[name] = [*values.get(name, ()), *(given.pop(name, None) or ())]
    values |= {name: value for name, value in given.items() if value is not None}
    if isinstance(values.get("data"), (str, Path)):
        values["data"] = local_path(values["data"], "the data of a service")
    try:
        return Settings(**values)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise UsageError(f"not a setting of a service: {wrong[0]}", detail="\n".join(wrong[1:])) from None


def check_address(address: str, settings: Settings) -> None:
    """Streams and sinks that come over HTTP read and write on behalf of the service: only what begins with
    one of the ``addresses`` is taken, a whole host or folder; ``*`` stands for all."""
    wanted = address.removeprefix("replay:").removeprefix("files:")
    for each in settings.addresses:
        if each == "*":
            return
        known, given = each, wanted
        if "://" not in each:
            known, given = os.path.realpath(each), os.path.realpath(wanted.partition("?")[0])
        if given.startswith(known) and (given[len(known) :][:1] in ("", "/", ":", "?") or known[-1] == "/"):
            return
    raise Problem(
        403,
        f"the address {address[:200]} is not allowed",
        hint="allow it, its host or its folder under addresses in weir.toml, or by weir serve --allow",
    )


def check_query(query: Query, settings: Settings) -> None:
    """Refuse a query that may hold too much, calls a host that is not allowed, or is not continuous."""
    check_windows(query, settings.limits)
    check_services(query, settings)
    if not query.dataset.windows:
        raise UsageError("the query has no window, so it would be evaluated once", hint="ask it at /sparql")


def check_windows(query: Query, limits: Limits) -> None:
    """Refuse a query whose windows may hold too much."""
    longest = round(limits.window * 1_000_000)
    for window in query.dataset.windows:
        held, counted = 0, 0
        match window.kind:
            case Range(width, _) | Past(width, _, _):
                held = width
            case Triples(count, _) | Elements(count, _):
                counted = count
            case All() if not limits.unbounded:
                raise UsageError(
                    f"the window <{window.name}> holds everything for ever", hint="use RANGE or TRIPLES"
                )
        held += window.semantics.lateness
        if held > longest:
            raise UsageError(
                f"the window <{window.name}> is longer than {limits.window:g} s", hint="make it shorter"
            )
        if counted > limits.window_items:
            raise UsageError(f"the window <{window.name}> counts more than {limits.window_items:,} items")


def check_services(query: Query, settings: Settings) -> None:
    """Declared endpoints may lie anywhere; others on public addresses of allowed hosts."""
    for call in services_of(query.pattern):
        if not isinstance(call.name, IRI):
            raise UsageError("SERVICE needs the IRI of an endpoint here, not a variable")
        endpoint = call.name.value.partition(HINT)[0]
        if endpoint in settings.services:
            continue
        try:
            Allowed(settings.allowed.hosts).check(endpoint)
        except RemoteError as error:
            hint = "allow its host under [allow] hosts, or declare the endpoint under [services]"
            raise Problem(403, error.primary, error.detail, hint=hint) from None
