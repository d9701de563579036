"""Live groups: a worker's copy of a group, and how it comes to be what the state store says.

The store is the truth. A copy is used as it is where it is in the stored state, caught up with what came
since where it is in an earlier state of the same history, and built anew otherwise.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from weir.errors import CheckpointError
from weir.runtime.worker.group import Group
from weir.runtime.worker.panes import PaneCache
from weir.runtime.worker.state import FORMAT, Image, dump, load


class StateStore(Protocol):
    """Where a group's head and panes are kept."""

    def head(self) -> bytes | None: ...

    def pane(self, name: str) -> bytes: ...

    def put(self, name: str, data: bytes) -> None: ...

    def remove(self, name: str) -> None: ...

    def set_head(self, data: bytes) -> None: ...

    def clear(self) -> None: ...


@dataclass(slots=True)
class LiveGroup:
    """A group as some worker left it; ``nonce`` names the state it is in, ``image`` what the store has."""

    nonce: str
    group: Group
    image: Image = field(default_factory=Image)


def awaken(
    store: StateStore,
    known: LiveGroup | None,
    make: Callable[[], Group],
    update: Callable[[Group], None],
    cache: PaneCache | None = None,
) -> LiveGroup:
    """The group in the stored state. ``make`` builds one without state, ``update`` brings the members of a
    known one up to the present batch."""
    stored = store.head()
    if stored is None:
        return LiveGroup("", make())
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
    panes: dict[str, str] = head["panes"]
    if cache is None:
        load(group, head, store.pane)
    else:
        load(group, head, lambda name: cache.get(panes[name], lambda: store.pane(name)))
    return LiveGroup(head["nonce"], group, Image.of(head))


def put_away(store: StateStore, live: LiveGroup, cache: PaneCache | None = None) -> None:
    """Write what has changed; the copy is then in the stored state, under a new name.

    A group without queries leaves nothing behind."""
    if not live.group.members:
        store.clear()
        if cache is not None:
            for found in live.image.digests.values():
                cache.drop(found)
        live.nonce, live.image = "", Image()
        return
    live.nonce = secrets.token_hex(8)
    changes = dump(live.group, live.image, live.nonce)
    for name, data in changes.put.items():
        store.put(name, data)
        if cache is not None:
            cache.put(changes.image.digests[name], data)
    for name in changes.remove:
        store.remove(name)
        if cache is not None:
            cache.drop(live.image.digests[name])
    store.set_head(changes.head)
    live.image = changes.image
    for member in live.group.members.values():
        member.stored = True
