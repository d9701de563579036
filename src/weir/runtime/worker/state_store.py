"""Where a group's state is kept between batches, and how a worker's copy of a group gets into that state.

A state is a *head*, which says what there is, and *panes*, byte strings that are never changed once written
(``state``). The store is the truth. A worker's copy is used as it is where it is in the stored state, caught
up with what came since where it is in an earlier state of the same history, and built anew otherwise.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from weir.errors import CheckpointError
from weir.runtime.worker.group import Group
from weir.runtime.worker.state import FORMAT, StoredPanes, dump, load
from weir.storage import pack, unpack

SMALL, ROOM = 16 << 10, 128 << 10
"""The largest pane that is stored with the head, and the bytes of all that are."""

_HEAD = "weir.state-head/1"


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
    load(group, head, store.pane)
    return GroupCopy(head["nonce"], group, StoredPanes(head["panes"], head["tables"], head["lineage"]))


def save_group(store: StateStore, copy: GroupCopy) -> bool:
    """Write what has changed; the copy is then in the stored state, under a new name. False, and nothing is
    written, where a query's state cannot be told: it is among the group's failures.

    A group without queries leaves nothing behind.
    """
    if not copy.group.members:
        store.clear()
        copy.nonce, copy.stored = "", StoredPanes()
        return True
    nonce = secrets.token_hex(8)
    changes = dump(copy.group, copy.stored, nonce)
    if copy.group.failures.found:
        return False
    copy.nonce = nonce
    for name, data in changes.put.items():
        store.put(name, data)
    for name in changes.remove:
        store.remove(name)
    store.set_head(changes.head)
    copy.stored = changes.stored
    for member in copy.group.members.values():
        member.stored = True
    return True
