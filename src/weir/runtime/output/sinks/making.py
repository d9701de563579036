"""Sinks by the name of their format, as ``--format`` and ``--out`` give it, and by their address (``--to``).

``{query}`` in the topic of an address is the name of the query:

    mqtt://[user@]host[:port]/topic/{query}?qos=1&retain=true      mqtts:// with TLS
    kafka://host:port[,host:port]/topic-{query}
    live://[host]:port                                             Server-Sent Events and WebSockets
    files:DIR                                                      a JSON Lines file per query
    NAME://…                                                       of an installed package (``weir.sinks``)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl, unquote

from weir.errors import UsageError, kind_of
from weir.extras import brought, load
from weir.runtime.ingest.sources.source_addresses import password, peer_of
from weir.runtime.output.sinks.base import KAFKA_TOPIC, MQTT_TOPIC, Sink
from weir.runtime.output.sinks.folders import ParquetFolder
from weir.runtime.output.sinks.formats import RENDERS, Prefixes, table_text
from weir.runtime.output.sinks.result_files import (
    ExactFile,
    FilePerQuery,
    TextSink,
    exact_file,
    json_lines_sink,
)
from weir.storage.places import local_path, path_at
from weir.storage.remote import RemotePath

FILES = "files:"
SINKS = "weir.sinks"
"""The group of entry points by which packages bring sinks: the name is the scheme of their addresses, the
object makes a ``Sink`` of an address."""
_MQTT_OPTIONS = ("qos", "retain", "password_env")
_SCHEMES = {"mqtt": _MQTT_OPTIONS, "mqtts": _MQTT_OPTIONS, "kafka": ("config_env",), "live": ("token_env",)}
"""The kinds of addresses, and their options."""

_NONE: Prefixes = {}

SinkMaker = Callable[[Path], Sink]
"""Makes a sink, given the folder for its log."""

FORMATS = ("table", "jsonl", *RENDERS, "parquet")
"""What results can be written as."""


def sink_for(form: str, out: str | Path | None, stream: IO[bytes], prefixes: Prefixes = _NONE) -> SinkMaker:
    """The sink of a format: into the file or folder ``out`` exactly once, or to ``stream``. Tables shorten
    IRIs by ``prefixes``."""
    if form not in FORMATS:
        raise UsageError(f"unknown format {form!r}", hint=f"one of {', '.join(FORMATS)}")
    path = None if out is None else path_at(out, "results").absolute()
    if form == "parquet":
        if path is None:
            raise UsageError("parquet is written into a folder", hint="name it with --out DIR")
        return lambda logs: ParquetFolder(path, logs / "parquet.commits")
    if path is not None and not isinstance(path, RemotePath) and path.is_dir():
        raise UsageError(f"{form} is written into one file, and {out} is a folder")

    def target(logs: Path) -> ExactFile | IO[bytes]:
        return stream if path is None else exact_file(path, logs / f"{form}.commits")

    if form == "jsonl":
        return lambda logs: json_lines_sink(target(logs))
    render = table_text(prefixes=prefixes) if form == "table" else RENDERS[form]
    return lambda logs: TextSink(render, target(logs))


def sink_at(text: str) -> SinkMaker:
    """What makes the sink that an address names."""
    if text.startswith(FILES):
        folder = local_path(text.removeprefix(FILES), "results").absolute()
        return lambda logs: FilePerQuery(folder, logs)
    scheme, mark, rest = text.partition("://")
    others = {} if scheme in _SCHEMES else brought(SINKS)
    if mark and scheme in others:
        return lambda logs: _checked(others[scheme](text), text)
    if not mark or scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in (*_SCHEMES, *others))
        what = f"unknown kind of sink {scheme}://" if mark else f"not the address of a sink: {text}"
        raise UsageError(what, hint=f"files:DIR, or one of {known}")
    authority, _, tail = rest.partition("/")
    topic, _, query = tail.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = [name for name in options if name not in _SCHEMES[scheme]]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r} of {text}")
    if scheme == "kafka":
        for server in authority.split(","):
            peer_of(server)
        named, config_env = unquote(topic) or KAFKA_TOPIC, options.get("config_env", "")
        return _maker("kafka_sink", "KafkaSink", authority, named, config_env=config_env)
    if scheme == "live":
        own, _, number = authority.rpartition(":")
        if not number.isdigit():
            raise UsageError(f"not a host and port: {authority}", hint="live://127.0.0.1:8080")
        token = password(options.get("token_env", ""))
        return _maker("live_sink", "LiveSink", int(number), own.strip("[]") or "127.0.0.1", token=token)
    user, host, port = peer_of(authority)
    qos, retain = options.get("qos", "1"), options.get("retain", "false")
    if qos not in ("0", "1") or retain not in ("true", "false"):
        raise UsageError(f"qos is 0 or 1, retain true or false: {text}")
    return _maker(
        "mqtt_sink",
        "MqttSink",
        host,
        port or (8883 if scheme == "mqtts" else 1883),
        unquote(topic) or MQTT_TOPIC,
        qos=int(qos),
        retain=retain == "true",
        user=user,
        password=password(options.get("password_env", "")),
        tls=scheme == "mqtts",
    )


def _checked(made: Any, address: str) -> Sink:
    """The sink that a package made."""
    missing = [name for name in ("form", "promise", "open", "write", "close") if not hasattr(made, name)]
    if missing:
        raise UsageError(
            f"{address} made {kind_of(made)}, which is no sink: it has no {missing[0]}",
            hint="derive it from weir.runtime.output.sinks.base.Sink",
        )
    sink: Sink = made
    return sink


def any_sink(given: Sink | SinkMaker | str) -> Sink | SinkMaker:
    """A sink, or what makes one, where an address may stand for it."""
    if isinstance(given, str):
        return sink_at(given)
    if not callable(given) and not hasattr(given, "write"):
        raise UsageError(f"{kind_of(given)} is no sink", hint="give an address such as files:DIR, or a Sink")
    return given


def _maker(module: str, name: str, *values: Any, **options: Any) -> SinkMaker:
    """What makes a sink whose client is a package of an extra, which has to be there."""
    kind: Callable[..., Sink] = getattr(load(f"weir.runtime.output.sinks.{module}"), name)
    return lambda logs: kind(*values, **options)
