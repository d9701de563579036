"""A source from what ``--stream IRI=SOURCE`` has, a path or an address, and from the control log.

FILE?time=prov:generatedAtTime&…              a file, or a directory in name order
replay:FILE?rate=100&…                        a file played as if it came live
mqtt://[user@]host[:port]/topic?option&…      mqtts:// with TLS
ws://… wss://…                                options after #weir:
sse+http://… sse+https://…                    options after #weir:
fragments+http://… fragments+https://…        options after #weir:, query= is a CONSTRUCT
kafka://host:port[,host:port]/topic?option&…
ldes+http://… ldes+https://…                  options after #weir:
tcp://host:port?option&…
push:?option&…                                messages that the HTTP service takes
NAME://…                                      of an installed package (``weir.sources``); options after #weir:
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from weir.errors import UsageError, kind_of
from weir.extras import brought
from weir.rdf.formats.times import predicate_iri
from weir.runtime.ingest.sources.feeds import Source
from weir.runtime.ingest.sources.file_source import FileSource
from weir.runtime.ingest.sources.kafka_source import KafkaSource
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources.push_sources import (
    SOURCES,
    BroughtSource,
    FragmentsSource,
    LdesSource,
    MqttSource,
    PushSource,
    SseSource,
    TcpSource,
    WebSocketSource,
)
from weir.runtime.ingest.sources.replay_source import ReplaySource
from weir.storage.places import local_path, path_at
from weir.storage.remote import SCHEMES

MARK = "#weir:"
"""What follows in a URL is for Weir and not sent."""
ARRIVAL = "arrival"
REPLAY = "replay:"
"""What comes before the path of a file that is to be played."""

_PUSH = "push:"
_NOTHING: Mapping[str, Any] = {}
_YES, _NO = ("true", "yes", "1", ""), ("false", "no", "0")
_FILE_OPTIONS = ("time", "format", "unit", "watch", "files_per_batch", "times_distinct")
_REPLAY_OPTIONS = ("rate", "speed", "unit", "loop", "times_distinct")


def source_from(text: str) -> Source | None:
    """The source that an address names, None where it is a path."""
    if text == _PUSH.removesuffix(":") or text.startswith(_PUSH):
        return _made(LogSource, _options(text.partition("?")[2]), {})
    scheme, mark, rest = text.removeprefix(REPLAY).partition("://")
    if not mark or scheme.lower() in ("file", *SCHEMES):
        return None
    maker = _SCHEMES.get(scheme.lower())
    others = {} if maker else brought(SOURCES)
    if scheme.lower() in others:
        maker = _at_url(BroughtSource)
    if maker is None:
        known = ", ".join(f"{name}://" for name in (*_SCHEMES, *others))
        raise UsageError(
            f"unknown kind of stream {scheme}://", hint=f"a path, file:///path, push:, or one of {known}"
        )
    return maker(scheme.lower(), rest)


def path_source(text: str, told: Mapping[str, Any]) -> Source:
    """The source at a path; options that are told beside it, and are not None, count before those written
    behind it.

    Options follow a question mark; a path that exists is taken as it stands.
    """
    kind: type[FileSource | ReplaySource] = FileSource
    known: tuple[str, ...] = _FILE_OPTIONS
    if text.startswith(REPLAY) and not Path(text).exists():
        kind, known, text = ReplaySource, _REPLAY_OPTIONS, text.removeprefix(REPLAY)
    path, options = text, {name: value for name, value in told.items() if value is not None}
    if not Path(text).exists():
        path, _, query = text.partition("?")
        options = {**dict(parse_qsl(query, keep_blank_values=True)), **options}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r} of {path}", hint=f"known: {', '.join(known)}")
    place = path_at if kind is FileSource else local_path
    return kind(str(place(path, "a stream").absolute()), **_values(kind, options))


def source_at(given: Source | str | Path, told: Mapping[str, Any] = _NOTHING) -> Source:
    """The source that a path or an address means, or the one that is given; ``told`` is for paths."""
    made = source_from(given) if isinstance(given, str) else given
    if made is None or isinstance(made, Path):
        made = path_source(str(given), told)
    if not isinstance(made, Source):
        raise UsageError(f"{kind_of(given)} is no source", hint="give a path, an address or a Source")
    return made


def source_of(values: Mapping[str, Any]) -> Source:
    """A source from the JSON values that the control log keeps of it."""
    told = {name: value for name, value in values.items() if name != "kind"}
    return KINDS[values["kind"]](**told)


def _mqtt(scheme: str, rest: str) -> Source:
    authority, _, tail = rest.partition("/")
    topic, _, query = tail.partition("?")
    user, host, port = peer_of(authority)
    tls = scheme == "mqtts"
    given = {"host": host, "port": port or (8883 if tls else 1883), "topic": unquote(topic)}
    return _made(MqttSource, _options(query), {**given, "user": user, "tls": tls})


def _at_url(kind: type[PushSource], prefix: str = "") -> Callable[[str, str], Source]:
    """What makes sources that connect to a URL, in whose scheme ``prefix`` stands for the kind."""

    def make(scheme: str, rest: str) -> Source:
        url, _, options = rest.partition(MARK)
        _refuse_password(rest.partition("/")[0])
        return _made(kind, _options(options), {"url": f"{scheme.removeprefix(prefix)}://{url}"})

    return make


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
    "ws": _at_url(WebSocketSource),
    "wss": _at_url(WebSocketSource),
    "sse+http": _at_url(SseSource, "sse+"),
    "sse+https": _at_url(SseSource, "sse+"),
    "fragments+http": _at_url(FragmentsSource, "fragments+"),
    "fragments+https": _at_url(FragmentsSource, "fragments+"),
    "ldes+http": _at_url(LdesSource, "ldes+"),
    "ldes+https": _at_url(LdesSource, "ldes+"),
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


def client_settings(variable: str) -> dict[str, Any]:
    """More settings of a Kafka client, such as its credentials, from a variable of the environment: so they
    are in no address, no checkpoint and no list of processes. What they are is never told."""
    if not variable:
        return {}
    try:
        settings = json.loads(os.environ[variable])
    except (KeyError, ValueError):
        settings = None
    if not isinstance(settings, dict):
        raise UsageError(f"the variable {variable} does not hold a JSON object of Kafka settings")
    return settings


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
    """The source with its options."""
    known = {field.name for field in fields(kind)}
    for name in options:
        if name not in known or name in given:
            raise UsageError(
                f"a stream of kind {kind.kind} has no option {name!r}",
                hint=f"it has {', '.join(sorted(known - set(given)))}",
            )
    made = kind(**given, **_values(kind, options))
    made.check()
    return made


def _values(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as values, each of the type that its field has."""
    types = {field.name: str(field.type).partition(" ")[0] for field in fields(kind)}
    return {name: _value(name, value, types[name]) for name, value in options.items()}


def _value(name: str, value: Any, type: str) -> Any:
    if name == "time":
        return None if value == ARRIVAL else predicate_iri(str(value))
    if type == "bool":
        text = str(value).lower()
        if text not in _YES + _NO:
            raise UsageError(f"{name} is true or false, not {value!r}")
        return text in _YES
    try:
        return {"int": int, "float": float}.get(type, str)(value)
    except ValueError:
        raise UsageError(f"{name} is a number, not {value!r}") from None


KINDS: Mapping[str, Callable[..., Source]] = {
    each.kind: each
    for each in (
        FileSource,
        ReplaySource,
        KafkaSource,
        LogSource,
        MqttSource,
        WebSocketSource,
        SseSource,
        TcpSource,
        FragmentsSource,
        LdesSource,
        BroughtSource,
    )
}
"""Every kind of source by its name."""
