"""What a Python worker keeps between batches: the catalog, the match plan, and copies of groups.

Everything here is a cache of what the checkpoint's folder and the state store hold, found again by its
version; losing it costs time and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, partial

from weir.linked.service import config_of
from weir.runtime.control.catalog import Catalog
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import load_extract
from weir.runtime.control.failure import Failure
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.worker.alone import PAUSED, Failures, TimeLimit
from weir.runtime.worker.group import Group
from weir.runtime.worker.members import Loader, Made, Member, make_member, settled
from weir.runtime.worker.state_store import GroupCopy
from weir.runtime.worker.texts import StreamTexts
from weir.runtime.worker.watchdog import DEATHS, WORKING, Watchdog
from weir.storage.places import beside_driver, path_at

_PATIENCE = 4.0
"""After how many times the time of a query a process is ended that nothing else can end."""
_DIED = f"its worker died, {DEATHS} times in a row, while it was being worked on"


class WorkerCache:
    """What one worker knows of one checkpoint; ``groups`` are its copies by slot."""

    def __init__(self, folder: str) -> None:
        self.checkpoint = Checkpoint.read(path_at(folder))
        self.log = self.checkpoint.control()
        self.groups: dict[int, GroupCopy] = {}
        self._limit = TimeLimit()
        self._dogs: dict[int, Watchdog] = {}
        self._plan: tuple[Catalog, MatchPlan] | None = None

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

    def limit(self, seconds: float | None, slot: int, batch: int) -> TimeLimit:
        """The limit on the time of each query in ``batch``; one for all batches, for a thread watches it.
        Queries at which a process had to be ended before are noted now."""
        if self._limit.seconds != seconds:
            self._limit = TimeLimit(seconds)
        self._limit.stuck = partial(self._give_up, slot, batch)
        self._limit.asked = partial(self.checkpoint.overdue().asked, batch)
        if seconds is not None:
            if slot not in self._dogs:
                self._dogs[slot] = Watchdog(
                    beside_driver(self.checkpoint.own) / WORKING, slot, _PATIENCE * seconds
                )
            self._limit.dog = self._dogs[slot]
            names, stuck = self._limit.dog.begin(batch)
            if names:
                self._note(slot, batch, names, self._held if stuck else _DIED)
        return self._limit

    def rest(self, slot: int) -> None:
        """The work of a slot in a batch is done."""
        if slot in self._dogs:
            self._dogs[slot].at([])

    def _give_up(self, slot: int, batch: int, names: Sequence[str]) -> None:
        """End this process, which queries hold that cannot be told to end; the next one knows which."""
        self._note(slot, batch, names, self._held)
        os._exit(1)

    @property
    def _held(self) -> str:
        return f"it took longer than {self._limit.seconds or 0:g} s in one batch, and could not be stopped"

    def _note(self, slot: int, batch: int, names: Sequence[str], reason: str) -> None:
        asked = self.checkpoint.overdue().asked(batch).intersection(names)
        told = self._ended(asked, PAUSED, slot, batch) or self._ended(names, reason, slot, batch)
        self.checkpoint.overdue().leave(batch, slot, told)

    def _ended(self, names: Iterable[str], reason: str, slot: int, batch: int) -> list[Failure]:
        """That queries of a slot ended before they could say anything in a batch."""
        known = self.catalog(batch).queries
        found = [known[name] for name in names if name in known and slot in known[name].slots]
        return [Failure(each.name, each.since, reason, slot=slot) for each in found]

    def failing(self, slot: int, batch: int) -> dict[str, Failure]:
        """The queries that are known to fail in ``batch`` here, because it was begun before, or to end,
        because they were paused since."""
        notes = self.checkpoint.overdue()
        told = [*self._ended(notes.asked(batch), PAUSED, slot, batch)]
        told += [*self.log.failing(batch), *notes.told(batch, slot)]
        return {each.name: each for each in told if each.slot == slot}

    def new_group(
        self,
        slot: int,
        batch: int,
        failures: Failures | None = None,
        ending: Mapping[str, Failure] | None = None,
    ) -> Group:
        """The group of a slot as of ``batch``, without state. ``failures`` takes what fails in it, ``ending``
        is known to."""
        catalog = self.catalog(batch)
        configs = {entry.endpoint: config_of(entry.settings) for entry in catalog.services.values()}
        group = Group(StreamTexts(self.checkpoint.key), catalog.streams, configs, self.checkpoint.origin)
        self._bring(group, slot, catalog, failures, ending)
        return group

    def update_group(
        self,
        group: Group,
        slot: int,
        batch: int,
        failures: Failures | None = None,
        ending: Mapping[str, Failure] | None = None,
    ) -> None:
        """Bring a group's members up to ``batch``: what was dropped is removed, what is new taken in."""
        catalog = self.catalog(batch)
        for name in list(group.members):
            if catalog.queries.get(name) != group.members[name].registration:
                group.drop(name)
        group.streams = catalog.streams
        self._bring(group, slot, catalog, failures, ending)

    def _bring(
        self,
        group: Group,
        slot: int,
        catalog: Catalog,
        failures: Failures | None,
        ending: Mapping[str, Failure] | None,
    ) -> None:
        group.failures, group.ending = failures or Failures(slot=slot), ending or {}
        silent = {name for name, failure in group.ending.items() if failure.before == 0}
        for name in silent & group.members.keys():
            group.drop(name)
        still = [*(catalog.paused[name] for name in catalog.failures)]
        still += [catalog.queries[name] for name in silent if name in catalog.queries]
        makers = {each.query.output: each for each in still if slot in each.slots}
        standing = {stream: each for stream, each in makers.items() if stream is not None}
        changed, group.standing = standing != group.standing, standing
        members = self._missing(group, slot, catalog, silent)
        if members or changed:
            group.add(*members)

    def _missing(self, group: Group, slot: int, catalog: Catalog, silent: Set[str]) -> list[Member]:
        members = []
        load = cache(self._loader(group, slot))
        made: Made = {}
        for name, registration in catalog.queries.items():
            if slot not in registration.slots or name in group.members or name in silent:
                continue
            with group.failures.of(registration, OSError):
                background = settled(registration, (), catalog, {}, load, made)
                member = make_member(
                    registration, background, group.dictionary, catalog.streams, group.services
                )
                member.slot = slot
                members.append(member)
        return members

    def follow(self, group: Group, batch: int) -> None:
        """Bring the graphs of a group's members up to ``batch``; their state is that of the batch before."""
        catalog = self.catalog(batch)
        if group.followed is catalog:
            return
        group.followed = catalog
        loads: dict[int, tuple[Loader, Made]] = {}
        for member in group.members.values():
            with group.failures.of(member.registration, OSError):
                if member.slot not in loads:
                    loads[member.slot] = cache(self._loader(group, member.slot)), {}
                member.follow(catalog, *loads[member.slot])
        for shared in group.shared.values():
            shared.renew()
        group.dictionary.settle()

    def _loader(self, group: Group, slot: int) -> Loader:
        return lambda name: load_extract(self.checkpoint.graphs / name, group.dictionary, slot)


_CACHES: dict[str, WorkerCache] = {}


def worker_cache(folder: str) -> WorkerCache:
    """This process's view of the checkpoint in ``folder``."""
    known = _CACHES.get(folder)
    if known is None:
        known = _CACHES[folder] = WorkerCache(folder)
    return known
