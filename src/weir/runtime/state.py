"""A group's state as panes: named byte strings of which only the changed ones are written.

The state store is the truth. What a pane holds is said by its name: ``inbox/…`` messages that wait,
``texts/…`` texts of one batch, ``query/…`` an evaluator's snapshot, ``services`` the views of SERVICE; the
``head`` lists them all with a digest, beside everything small.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from weir.rdf.columns import Ids
from weir.runtime.group import Group, InboxKey
from weir.runtime.inbox import Waiting
from weir.runtime.texts import TextChunk

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Changes:
    """What to write so that the store holds the state: panes to put, panes to remove, the new head."""

    head: bytes
    put: Mapping[str, bytes]
    remove: tuple[str, ...]
    digests: Mapping[str, str] = field(default_factory=dict)


def dump(group: Group, stored: Mapping[str, str], nonce: str) -> Changes:
    """The state against ``stored``, the digests of what the store holds."""
    panes: dict[str, bytes] = {}
    digests: dict[str, str] = {}
    for chunk in group.dictionary.chunks:
        name = f"texts/{chunk.name}"
        if name in stored:
            digests[name] = stored[name]
        else:
            panes[name] = _ipc({"id": pa.array(chunk.ids), "text": chunk.texts})
    for key, inbox in group.inboxes.items():
        if len(inbox.waiting):
            panes[f"inbox/{_key(key)}"] = _pack(inbox.waiting.columns())
    for name, member in group.members.items():
        panes[f"query/{name}"] = member.evaluator.snapshot()
    if group.services.used:
        panes["services"] = group.services.snapshot()
    digests |= {name: hashlib.blake2b(data, digest_size=12).hexdigest() for name, data in panes.items()}
    changed = {name: data for name, data in panes.items() if stored.get(name) != digests[name]}
    head = {
        "format": FORMAT,
        "nonce": nonce,
        "panes": digests,
        "derived": group.derived,
        "updates": {name: list(m.effective.items()) for name, m in group.members.items() if m.effective},
        "texts": {chunk.name: chunk.until for chunk in group.dictionary.chunks},
        "inboxes": {_key(key): inbox.head() for key, inbox in group.inboxes.items()},
        "members": {
            name: [member.registration.since, member.given, member.done, member.evaluations, member.results]
            for name, member in group.members.items()
        },
    }
    removed = tuple(name for name in stored if name not in digests)
    return Changes(json.dumps(head).encode(), changed, removed, digests)


def load(group: Group, head: Mapping[str, Any], fetch: Callable[[str], bytes]) -> None:
    """Bring ``group``, whose members are those of the stored state or newer, to that state."""
    chunks = []
    for name, until in head["texts"].items():
        table = _table(fetch(f"texts/{name}"))
        chunks.append(TextChunk(name, table["id"].to_numpy(), table["text"], until))
    group.dictionary.chunks = chunks
    for key, inbox in group.inboxes.items():
        stored = head["inboxes"].get(_key(key))
        if stored is not None:
            name = f"inbox/{_key(key)}"
            waiting = Waiting(**_unpack(fetch(name))) if name in head["panes"] else Waiting()
            inbox.restore(stored, waiting)
    for name, member in group.members.items():
        known = head["members"].get(name)
        if known is not None and known[0] == member.registration.since:
            _, member.given, member.done, member.evaluations, member.results = known
            member.effective = dict(head.get("updates", {}).get(name, ()))
            member.evaluator.restore(fetch(f"query/{name}"))
    if "services" in head["panes"]:
        group.services.restore(fetch("services"))
    group.derived |= {iri: count for iri, count in head["derived"].items() if iri in group.derived}


def _key(key: InboxKey) -> str:
    stream, lateness, ahead = key
    return f"{lateness},{ahead},{stream}"


def _pack(columns: Mapping[str, Ids]) -> bytes:
    """Columns of different lengths: messages first, then triples."""
    lengths = {name: len(column) for name, column in columns.items()}
    header = json.dumps(lengths).encode()
    body = b"".join(np.ascontiguousarray(column, "<i8").tobytes() for column in columns.values())
    return len(header).to_bytes(4, "little") + header + body


def _unpack(data: bytes) -> dict[str, Ids]:
    place = 4 + int.from_bytes(data[:4], "little")
    out = {}
    for name, length in json.loads(data[4:place]).items():
        out[name] = np.frombuffer(data, "<i8", length, place).astype(np.int64)
        place += 8 * length
    return out


def _ipc(columns: Mapping[str, pa.Array]) -> bytes:
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _table(data: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()
