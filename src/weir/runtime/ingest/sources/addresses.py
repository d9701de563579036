"""A source from the text that ``--stream IRI=SOURCE`` has: a path, or an address.

mqtt://[user@]host[:port]/topic?option&…      mqtts:// with TLS
ws://… wss://…                                options after #weir:
sse+http://… sse+https://…                    options after #weir:
fragments+http://… fragments+https://…        options after #weir:, query= is a CONSTRUCT
kafka://host:port[,host:port]/topic?option&…
tcp://host:port?option&…
push:?option&…                                messages that the HTTP service takes
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from weir.errors import UsageError
from weir.rdf.formats.times import predicate_iri
from weir.runtime.ingest.sources.base import Source
from weir.runtime.ingest.sources.fragments import FragmentsSource
from weir.runtime.ingest.sources.kafka import KafkaSource
from weir.runtime.ingest.sources.log import LogSource
from weir.runtime.ingest.sources.push import MqttSource, PushSource, SseSource, TcpSource, WebSocketSource

MARK = "#weir:"
"""What follows in a URL is for Weir and not sent."""
ARRIVAL = "arrival"
_PUSH = "push:"


def source_from(text: str) -> Source | None:
    """The source that an address names, None where it is a path."""
    if text == _PUSH.removesuffix(":") or text.startswith(_PUSH):
        return _made(LogSource, _options(text.partition("?")[2]), {})
    scheme, mark, rest = text.partition("://")
    if not mark:
        return None
    maker = _SCHEMES.get(scheme.lower())
    if maker is None:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        raise UsageError(f"unknown kind of stream {scheme}://", hint=f"a path, push:, or one of {known}")
    return maker(scheme.lower(), rest)


def _mqtt(scheme: str, rest: str) -> Source:
    authority, _, tail = rest.partition("/")
    topic, _, query = tail.partition("?")
    user, host, port = peer_of(authority)
    tls = scheme == "mqtts"
    given = {"host": host, "port": port or (8883 if tls else 1883), "topic": unquote(topic)}
    return _made(MqttSource, _options(query), {**given, "user": user, "tls": tls})


def _websocket(scheme: str, rest: str) -> Source:
    url, _, options = rest.partition(MARK)
    _refuse_password(rest.partition("/")[0])
    return _made(WebSocketSource, _options(options), {"url": f"{scheme}://{url}"})


def _sse(scheme: str, rest: str) -> Source:
    url, _, options = rest.partition(MARK)
    _refuse_password(rest.partition("/")[0])
    return _made(SseSource, _options(options), {"url": f"{scheme.removeprefix('sse+')}://{url}"})


def _fragments(scheme: str, rest: str) -> Source:
    url, _, options = rest.partition(MARK)
    _refuse_password(rest.partition("/")[0])
    given = {"url": f"{scheme.removeprefix('fragments+')}://{url}"}
    return _made(FragmentsSource, _options(options), given)


def _tcp(scheme: str, rest: str) -> Source:
    authority, _, query = rest.partition("?")
    user, host, port = peer_of(authority.rstrip("/"))
    if port is None or user:
        raise UsageError(f"not a TCP address: tcp://{rest}", hint="tcp://host:port")
    return _made(TcpSource, _options(query), {"host": host, "port": port})


def _kafka(scheme: str, rest: str) -> Source:
    servers, _, tail = rest.partition("/")
    topic, _, query = tail.partition("?")
    for server in servers.split(","):
        peer_of(server)
    return _made(KafkaSource, _options(query), {"servers": servers, "topic": unquote(topic)})


_SCHEMES: Mapping[str, Callable[[str, str], Source]] = {
    "mqtt": _mqtt,
    "mqtts": _mqtt,
    "ws": _websocket,
    "wss": _websocket,
    "sse+http": _sse,
    "sse+https": _sse,
    "fragments+http": _fragments,
    "fragments+https": _fragments,
    "tcp": _tcp,
    "kafka": _kafka,
}


def peer_of(authority: str) -> tuple[str, str, int | None]:
    """User, host and port of ``[user@]host[:port]``; a password is refused."""
    _refuse_password(authority)
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"not a host and port: {authority}", detail=str(error)) from None
    if not host:
        raise UsageError(f"an address needs a host: {authority!r}")
    return unquote(parts.username or ""), host, port


def password(variable: str) -> str | None:
    """A password from the environment."""
    if not variable:
        return None
    if variable not in os.environ:
        raise UsageError(f"the variable {variable} with the password is not set")
    return os.environ[variable]


def _refuse_password(authority: str) -> None:
    if ":" in authority.rpartition("@")[0]:
        raise UsageError(
            "a password does not belong into an address: it would be kept in the checkpoint",
            hint="name a variable of the environment: ?password_env=NAME",
        )


def _options(text: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True) if text else []
    except ValueError:
        raise UsageError(f"options of a stream are name=value&…, not {text!r}") from None
    return dict(pairs)


def _made(kind: type[LogSource | KafkaSource], options: dict[str, str], given: dict[str, Any]) -> Source:
    """The source with its options, each read as its default is."""
    known = {field.name: field for field in dataclasses.fields(kind)}
    values = dict(given)
    for name, text in options.items():
        if name not in known or name in given:
            raise UsageError(
                f"a stream of kind {kind.kind} has no option {name!r}",
                hint=f"it has {', '.join(sorted(set(known) - set(given)))}",
            )
        values[name] = _read(name, text, known[name].default)
    made = kind(**values)
    made.check()
    return made


def _read(name: str, text: str, default: Any) -> Any:
    if name == "time":
        return None if text == ARRIVAL else predicate_iri(text)
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text]
        return type(default)(text) if isinstance(default, int | float) else text
    except (ValueError, KeyError):
        raise UsageError(f"not a value of the option {name}: {text!r}") from None


PUSHED: tuple[type[LogSource], ...] = (
    LogSource,
    MqttSource,
    WebSocketSource,
    SseSource,
    TcpSource,
    FragmentsSource,
)
"""All kinds that go through a durable log."""

__all__ = ["ARRIVAL", "MARK", "PUSHED", "PushSource", "password", "peer_of", "source_from"]
