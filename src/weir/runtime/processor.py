"""The second stage: a group in a ``StatefulProcessor``, its state in RocksDB."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from weir.runtime.frames import Frame
from weir.runtime.outputs import outputs
from weir.runtime.partitioning import slot_keys
from weir.runtime.state import dump, load
from weir.runtime.workers import LiveGroup, Workplace, current_batch, workplace


class GroupProcessor(StatefulProcessor):
    """One call per slot and batch. The state store is the truth; a live group in this process is used
    only where its nonce is that of the stored head."""

    def __init__(self, folder: str, form: str) -> None:
        self.folder = folder
        self.form = form

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The two state variables: the head, and the panes by name."""
        self.head = handle.getValueState("head", "head binary")
        self.panes = handle.getMapState("panes", "name string", "pane binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        """Frames in, answers, metrics and what was set aside out."""
        place, batch = workplace(self.folder), current_batch()
        slot = slot_keys(place.checkpoint.slots).index(int(key[0]))
        frames = [Frame.from_bytes(bytes(data)) for table in rows for data in table["frame"]]
        now = int(timerValues.getCurrentProcessingTimeInMs()) * 1000
        live = self._live(place, slot, batch)
        step = live.group.step(frames, batch, now)
        found = list(outputs(live.group, step, frames, slot, self.form))
        self._store(live)
        place.live[slot] = live
        yield pd.DataFrame(
            {
                "kind": [item.kind for item in found],
                "name": [item.name for item in found],
                "slot": [item.slot for item in found],
                "data": [item.data for item in found],
            }
        )

    def _live(self, place: Workplace, slot: int, batch: int) -> LiveGroup:
        """The group in the stored state, taken from this process where it is current."""
        stored = self.head.get()
        head = json.loads(bytes(stored[0])) if stored is not None else None
        known = place.live.pop(slot, None)
        if known is not None and head is not None and known.nonce == head["nonce"]:
            place.update_group(known.group, slot, batch)
            place.follow(known.group, batch)
            return known
        group = place.new_group(slot, batch)
        if head is None:
            place.follow(group, batch)
            return LiveGroup("", group)
        load(group, head, self._fetch)
        place.follow(group, batch)
        return LiveGroup(head["nonce"], group, dict(head["panes"]))

    def _fetch(self, name: str) -> bytes:
        found = self.panes.getValue((name,))
        if found is None:
            raise RuntimeError(f"the state store lacks the pane {name!r}")
        return bytes(found[0])

    def _store(self, live: LiveGroup) -> None:
        live.nonce = secrets.token_hex(8)
        changes = dump(live.group, live.stored, live.nonce)
        for name, data in changes.put.items():
            self.panes.updateValue((name,), (data,))
        for name in changes.remove:
            self.panes.removeKey((name,))
        self.head.update((changes.head,))
        live.stored = dict(changes.digests)

    def close(self) -> None:
        """Nothing to close."""
