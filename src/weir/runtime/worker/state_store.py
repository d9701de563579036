"""Where a group's state is kept between batches, and how a worker's copy of a group gets into that state.

A state is a *head*, which says what there is, and *panes*, byte strings that are never changed once written
(``state``). The store is the truth. A worker's copy is used as it is where it is in the stored state, caught
up with what came since where it is in an earlier state of the same history, and built anew otherwise. Panes
are found by the digest of their bytes, first in a folder of this host.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from weir.errors import CheckpointError
from weir.runtime.worker.group import Group
from weir.runtime.worker.state import FORMAT, StoredPanes, dump, load
from weir.storage import pack, replace_file, unpack

SMALL, ROOM = 16 << 10, 128 << 10
"""The largest pane that is stored with the head, and the bytes of all that are."""

_HEAD = "weir.state-head/1"
_LEAST_CACHED = 1 << 14


class StateStore(Protocol):
    """Where a group's head and panes are kept."""

    def head(self) -> bytes | None: ...

    def pane(self, name: str) -> bytes: ...

    def put(self, name: str, data: bytes) -> None: ...

    def remove(self, name: str) -> None: ...

    def set_head(self, data: bytes) -> None: ...

    def clear(self) -> None: ...


class BundledStore:
    """A state store over another one, in which small panes are stored with the head.

    Every access to Spark's state store is a message to the JVM and back, and a group of a few queries has a
    dozen panes of some hundred bytes. ``head`` must be called before anything else.
    """

    def __init__(self, inner: StateStore) -> None:
        self._inner = inner
        self._small: dict[str, bytes] = {}
        self._large: set[str] = set()

    def head(self) -> bytes | None:
        self._small, self._large = {}, set()
        stored = self._inner.head()
        if stored is None:
            return None
        found = unpack(stored, _HEAD)
        panes = found.table("panes")
        self._small = dict(zip(panes["name"].to_pylist(), panes["data"].to_pylist(), strict=True))
        self._large = set(found.header["large"])
        return self._small.pop("")

    def pane(self, name: str) -> bytes:
        found = self._small.get(name)
        return self._inner.pane(name) if found is None else found

    def put(self, name: str, data: bytes) -> None:
        self._small.pop(name, None)
        if len(data) <= SMALL and sum(map(len, self._small.values())) + len(data) <= ROOM:
            if name in self._large:
                self.remove(name)
            self._small[name] = data
        else:
            self._large.add(name)
            self._inner.put(name, data)

    def remove(self, name: str) -> None:
        if self._small.pop(name, None) is None:
            self._large.discard(name)
            self._inner.remove(name)

    def set_head(self, data: bytes) -> None:
        """The head has the empty name among the panes that are stored with it."""
        panes = {"": data, **self._small}
        columns = {"name": pa.array(list(panes)), "data": pa.array(list(panes.values()), pa.binary())}
        self._inner.set_head(bytes(pack(_HEAD, {"large": sorted(self._large)}, {"panes": columns})))

    def clear(self) -> None:
        self._small, self._large = {}, set()
        self._inner.clear()


class PaneCache:
    """Panes of one slot of one checkpoint on this host, by their digests. What is missing is in the store.

    They are in the system's folder for temporary files, or where ``WEIR_CACHE`` says.
    """

    def __init__(self, checkpoint: str, slot: int, root: Path | None = None) -> None:
        name = hashlib.sha256(checkpoint.encode()).hexdigest()[:16]
        named = os.environ.get("WEIR_CACHE")
        usual = Path(named) if named else Path(tempfile.gettempdir()) / f"weir-cache-{os.getuid()}"
        self.folder = (root or usual) / name / str(slot)

    def get(self, digest: str, fetch: Callable[[], bytes]) -> bytes | mmap.mmap:
        """The pane with this digest: mapped where it is here, else fetched and kept."""
        try:
            with open(self.folder / digest, "rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (FileNotFoundError, ValueError):
            data = fetch()
            self.put(digest, data)
            return data

    def put(self, digest: str, data: bytes) -> None:
        """Keep a pane; a full disk is no reason to fail."""
        if len(data) < _LEAST_CACHED:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / digest, data, durable=False)
        except OSError:
            return

    def drop(self, digest: str) -> None:
        (self.folder / digest).unlink(missing_ok=True)


@dataclass(slots=True)
class GroupCopy:
    """A group as some worker left it; ``nonce`` names the state it is in, ``stored`` what the store has."""

    nonce: str
    group: Group
    stored: StoredPanes = field(default_factory=StoredPanes)


def load_group(
    store: StateStore,
    known: GroupCopy | None,
    make: Callable[[], Group],
    update: Callable[[Group], None],
    cache: PaneCache | None = None,
) -> GroupCopy:
    """The group in the stored state. ``make`` builds one without state, ``update`` brings the members of a
    known one up to the present batch."""
    stored = store.head()
    if stored is None:
        return GroupCopy("", make())
    head = json.loads(stored)
    if head["format"] != FORMAT:
        raise CheckpointError(
            f"the state has format {head['format']}, this version of Weir writes {FORMAT}",
            hint="finish with the version that wrote it, or start again with a new checkpoint",
        )
    if known is not None and known.nonce == head["nonce"]:
        update(known.group)
        return known
    if known is not None and known.nonce in head["lineage"]:
        group = known.group
        update(group)
    else:
        group = make()
    digests: dict[str, str] = head["panes"]
    if cache is None:
        load(group, head, store.pane)
    else:
        load(group, head, lambda name: cache.get(digests[name], lambda: store.pane(name)))
    return GroupCopy(head["nonce"], group, StoredPanes.of(head))


def save_group(store: StateStore, copy: GroupCopy, cache: PaneCache | None = None) -> None:
    """Write what has changed; the copy is then in the stored state, under a new name.

    A group without queries leaves nothing behind.
    """
    if not copy.group.members:
        store.clear()
        if cache is not None:
            for digest in copy.stored.digests.values():
                cache.drop(digest)
        copy.nonce, copy.stored = "", StoredPanes()
        return
    copy.nonce = secrets.token_hex(8)
    changes = dump(copy.group, copy.stored, copy.nonce)
    for name, data in changes.put.items():
        store.put(name, data)
        if cache is not None:
            cache.put(changes.stored.digests[name], data)
    for name in changes.remove:
        store.remove(name)
        if cache is not None:
            cache.drop(copy.stored.digests[name])
    store.set_head(changes.head)
    copy.stored = changes.stored
    for member in copy.group.members.values():
        member.stored = True
