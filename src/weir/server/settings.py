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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weir.errors import UsageError
from weir.linked.http.allowed_hosts import Allowed
from weir.server.api.access import Token
from weir.server.limits import Limits

DEFAULT_PORT = 8080
DEFAULT_DATA = "weir-data"
_TABLES = ("limits", "results", "allow", "cors", "tokens", "graphs", "services")
_PLAIN: Mapping[str, type] = {"host": str, "port": int, "data": str, "master": str}


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a service is told. ``graphs`` are (IRI or None, file or URL)."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    data: Path = Path(DEFAULT_DATA)
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
    return Settings(
        host=values.get("host", "127.0.0.1"),
        port=values.get("port", DEFAULT_PORT),
        data=Path(values.get("data", DEFAULT_DATA)),
        master=values.get("master"),
        limits=Limits.of(_table(values, "limits")),
        keep=int(results.get("keep", 64 << 20)),
        segment=int(results.get("segment", 8 << 20)),
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
