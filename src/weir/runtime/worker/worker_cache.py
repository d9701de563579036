"""What a Python worker keeps between batches: the catalog, the match plan, and copies of groups.

Everything here is a cache of what the checkpoint's folder and the state store hold, found again by its
version; losing it costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from weir.linked.service import config_of
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import load_extract
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.worker.group import Group
from weir.runtime.worker.members import Loader, make_member, settled
from weir.runtime.worker.state_store import GroupCopy
from weir.runtime.worker.texts import StreamTexts


class WorkerCache:
    """What one worker knows of one checkpoint; ``groups`` are its copies by slot."""

    def __init__(self, folder: str) -> None:
        self.checkpoint = Checkpoint.open(Path(folder), version="", slots=0)
        self.log = self.checkpoint.control()
        self.groups: dict[int, GroupCopy] = {}
        self._plan: tuple[Catalog, MatchPlan] | None = None
        self._counted: tuple[Catalog, dict[int, set[str]]] | None = None

    def catalog(self, batch: int) -> Catalog:
        """What is registered as of ``batch``."""
        return self.log.catalog(batch)

    def match_plan(self, batch: int) -> MatchPlan:
        """The match step as of ``batch``."""
        catalog = self.catalog(batch)
        if self._plan is None:
            self._plan = catalog, MatchPlan(catalog, self.checkpoint.slots, self.checkpoint.key)
        elif self._plan[0] is not catalog:
            self._plan[1].follow(catalog)
            self._plan = catalog, self._plan[1]
        self._plan[1].serve(catalog.leaving(batch))
        return self._plan[1]

    def counted(self, slot: int, batch: int) -> Set[str]:
        """The streams whose late messages this slot counts for all: those that no lower slot reads."""
        catalog = self.catalog(batch)
        if self._counted is None or self._counted[0] is not catalog:
            first: dict[str, int] = {}
            for query in catalog.queries.values():
                for stream in query.over(catalog.streams):
                    first[stream] = min(first.get(stream, query.slots[0]), *query.slots)
            shares: dict[int, set[str]] = {}
            for stream, reader in first.items():
                shares.setdefault(reader, set()).add(stream)
            self._counted = catalog, shares
        return self._counted[1].get(slot, set())

    def new_group(self, slot: int, batch: int) -> Group:
        """The group of a slot as of ``batch``, without state."""
        catalog = self.catalog(batch)
        configs = {entry.endpoint: config_of(entry.settings) for entry in catalog.services.values()}
        group = Group(StreamTexts(self.checkpoint.key), catalog.streams, configs, self.checkpoint.origin)
        self._join(group, slot, catalog)
        return group

    def update_group(self, group: Group, slot: int, batch: int) -> None:
        """Bring a group's members up to ``batch``: what was dropped is removed, what is new taken in."""
        catalog = self.catalog(batch)
        for name in list(group.members):
            if catalog.queries.get(name) != group.members[name].registration:
                group.drop(name)
        group.streams = catalog.streams
        self._join(group, slot, catalog)

    def _join(self, group: Group, slot: int, catalog: Catalog) -> None:
        missing = [
            registration
            for name, registration in catalog.queries.items()
            if slot in registration.slots and name not in group.members
        ]
        if not missing:
            return
        members = []
        for registration in missing:
            background = settled(registration, (), catalog, {}, self._loader(group))
            member = make_member(registration, background, group.dictionary, catalog.streams, group.services)
            member.slot = slot
            members.append(member)
        group.add(*members)

    def follow(self, group: Group, batch: int) -> None:
        """Bring the graphs of a group's members up to ``batch``; their state is that of the batch before."""
        for member in group.members.values():
            member.follow(self.catalog(batch), self._loader(group))
        group.dictionary.settle()

    def _loader(self, group: Group) -> Loader:
        return lambda name: load_extract(self.checkpoint.graphs / name, group.dictionary)


_CACHES: dict[str, WorkerCache] = {}


def worker_cache(folder: str) -> WorkerCache:
    """This process's view of the checkpoint in ``folder``."""
    known = _CACHES.get(folder)
    if known is None:
        known = _CACHES[folder] = WorkerCache(folder)
    return known
