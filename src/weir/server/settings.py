"""What a service is told: from ``weir.toml`` and the command line, which wins.

host = "127.0.0.1"      port = 8080      data = "weir-data"      master = "local[2]"
[limits]                requests = 100.0          # see ``Limits``
[results]               keep = 67108864           segment = 8388608
[allow]                 hosts = ["example.org"]   private = ["localhost:3030"]
[cors]                  origins = ["https://example.org"]
[[tokens]]              token = "…"   scope = "read"   name = "dashboard"
[[graphs]]              iri = "…"     source = "FILE or URL"
[services."https://example.org/sparql"]           budget = 10     change_interval = "5s"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from weir.errors import UsageError
from weir.linked.http.allowed_hosts import Allowed

DATA = "weir-data"
_TABLES = ("limits", "results", "allow", "cors", "tokens", "graphs", "services")
_PLAIN: Mapping[str, type] = {"host": str, "port": int, "data": str, "master": str}
SCOPES = ("read", "write", "admin")
"""Read results and ask; push messages and update graphs; create, register, drop. Each has those before it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are bytes, times seconds. Every bound is checked before the work is done, or while it is."""

    body: int = 32 << 20
    """A request's body; beyond it, 413."""
    requests: float = 1_000.0
    """Requests a second of one client, on average; beyond it, 429."""
    burst: float = 2_000.0
    """Requests that a client may make at once after a pause."""
    query_text: int = 65_536
    """Characters of a query; beyond it, 422."""
    queries: int = 1_000
    streams: int = 1_000
    subscribers: int = 5_000
    """Open event streams and WebSockets; beyond it, 503."""
    wait: float = 60.0
    """How long a long poll may last."""
    sparql: float = 10.0
    """How long a SPARQL query may take; beyond it, 503."""
    sparql_memory: int = 4 << 30
    """Memory of the process that answers SPARQL queries."""
    fetch: float = 30.0
    """How long a graph may take to be fetched from a URL."""
    fetch_bytes: int = 64 << 20
    window: float = 7 * 86_400.0
    """The longest time a window may hold."""
    window_items: int = 10_000_000
    """The most triples or messages that a window may count."""
    unbounded: bool = True
    """Whether windows without an end (ALL) are allowed."""
    state_rows: int = 5_000_000
    """Rows that a query may keep; beyond it, it is paused."""
    batch_seconds: float = 300.0
    """How long one batch of the engine may take before the query that costs most is paused."""

    @staticmethod
    def of(values: dict[str, Any]) -> Limits:
        """Limits from a configuration."""
        known = {item.name: item for item in fields(Limits)}
        for name, value in values.items():
            if name not in known:
                raise UsageError(f"unknown limit {name!r}", hint=f"known: {', '.join(sorted(known))}")
            if not isinstance(value, (int, float)) or value < 0:
                raise UsageError(f"the limit {name} is a number, not {value!r}")
        return Limits(**values)


@dataclass(frozen=True, slots=True)
class Token:
    """``name`` is what the holder is called in limits and logs; ``scope`` the most it allows."""

    secret: str
    scope: str = "read"
    name: str = "token"

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"unknown scope {self.scope!r}", hint=f"one of {', '.join(SCOPES)}")
        if len(self.secret) < 16:
            raise UsageError(f"the token {self.name!r} is shorter than 16 characters")

    @staticmethod
    def of(values: Mapping[str, Any], number: int) -> Token:
        """A token of a configuration: ``token``, ``scope``, ``name``."""
        unknown = set(values) - {"token", "scope", "name"}
        if unknown or "token" not in values:
            raise UsageError("a token has the keys token, scope and name")
        return Token(str(values["token"]), str(values.get("scope", "read")), str(values.get("name", number)))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a service is told. ``graphs`` are (IRI or None, file or URL)."""

    host: str = "127.0.0.1"
    port: int = 8080
    data: Path = Path(DATA)
    master: str | None = None
    limits: Limits = field(default_factory=Limits)
    keep: int = 64 << 20
    segment: int = 8 << 20
    allowed: Allowed = field(default_factory=Allowed)
    origins: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()
    graphs: tuple[tuple[str | None, str], ...] = ()
    services: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_settings(path: Path | None, **given: Any) -> Settings:
    """The settings of a file, with what is ``given`` (and not None) in place of what it says."""
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise UsageError(f"no such configuration file: {path}") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"cannot read the configuration {path}", detail=str(error)) from None
    unknown = set(values) - set(_TABLES) - set(_PLAIN)
    if unknown:
        known = ", ".join(sorted([*_PLAIN, *_TABLES]))
        raise UsageError(f"unknown setting {sorted(unknown)[0]!r}", hint=f"known: {known}")
    return settings_of({**values, **{name: value for name, value in given.items() if value is not None}})


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Settings from plain values; raises ``UsageError`` where one is not what it should be."""
    for name, kind in _PLAIN.items():
        if name in values and not isinstance(values[name], (kind, Path)):
            raise UsageError(f"{name} is a {kind.__name__}, not {values[name]!r}")
    results, allow, cors = (_table(values, name) for name in ("results", "allow", "cors"))
    given: dict[str, Any] = {name: values[name] for name in _PLAIN if name in values}
    given |= {name: int(results[name]) for name in ("keep", "segment") if name in results}
    given["data"] = Path(given.get("data", DATA))
    return Settings(
        **given,
        limits=Limits.of(_table(values, "limits")),
        allowed=Allowed(frozenset(allow.get("hosts", ())), frozenset(allow.get("private", ()))),
        origins=tuple(cors.get("origins", ())),
        tokens=tuple(Token.of(each, number) for number, each in enumerate(values.get("tokens", ()))),
        graphs=tuple((each.get("iri"), each["source"]) for each in values.get("graphs", ())),
        services=_table(values, "services"),
    )


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name, {})
    if not isinstance(found, dict):
        raise UsageError(f"[{name}] is a table, not {found!r}")
    return found
