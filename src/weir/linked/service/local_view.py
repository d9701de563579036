"""The local view R: what an endpoint answered, by key, as interval rows.

A key is one binding of the variables that a request asks for. Its rows are believed from the time they
were fetched until they expire: ``[fetched, expiry)`` in event time. A stale row stays and is used until
it is replaced, for that is the point of a view; a key never answered has no rows and is stale.

Expiry is stated by the source (exact), or estimated: fetched + change interval, which is declared or
learned. An answer without rows expires, too. All is columns; numbers of keys are valid until the next
``forget``. ``waiting`` marks keys that are asked for at the moment, ``failed`` those whose last request
failed. ``edition`` changes with the rows, ``numbering`` with the numbers of keys.

Where rows are kept under a budget, how often keys change is learned (``estimate``), whatever is declared:
that gives the chance that a copy is still true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from weir.kernel.contract import FOREVER
from weir.kernel.relations.keys import SortedKeys, codes, combine, spread
from weir.kernel.relations.relation import Relation
from weir.linked.service.estimate import ChangePhases, ChangeRates, Floats
from weir.rdf.columns import Ids, Mask, sorted_set

NEVER = -(1 << 62)
"""The fetch time and expiry of a key that was never answered."""

NEVER_CHANGES = 1 << 61
"""From here on an interval means for ever."""

_ALL = ".all"
_AGES = 1 << 52
"""The longest age (µs) that is told from longer ones."""

_TELLING = 12
"""How many changes tell which variables change."""
_SELDOM = 0.1
"""The share of changes in which a variable may change that hardly ever does."""

_OF_KEYS = {
    "fetched": NEVER,
    "expiry": NEVER,
    "used": NEVER,
    "stated": 0,
    "exact": False,
    "waiting": False,
    "failed": False,
    "digest": 0,
}
"""The columns by number of a key, and what a new key has there."""

State: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]
"""What is kept in a checkpoint: plain values, and tables of columns."""


class LocalView:
    """Rows over ``variables`` by the variables ``key`` among them; without any, all rows are one key's.

    ``interval`` is the declared change interval, None where intervals are to be learned from ``prior``.
    Without ``learning`` a copy is true until it expires, and no longer.
    """

    fetched: Ids
    expiry: Ids
    used: Ids
    stated: Ids
    exact: Mask
    waiting: Mask
    failed: Mask
    digest: Ids

    def __init__(
        self,
        key: Sequence[str],
        variables: Sequence[str],
        interval: int | None,
        prior: int,
        *,
        learning: bool = True,
    ) -> None:
        self.key = tuple(key)
        self.variables = tuple(variables)
        self._interval = interval
        self._prior = prior
        self._learning = learning
        declared = interval is not None and interval < NEVER_CHANGES
        first = interval if declared and interval is not None else prior
        self.rates, self.phases = ChangeRates(first), ChangePhases(first)
        none = np.empty(0, np.int64)
        self.keys: dict[str, Ids] = dict.fromkeys(self.key or (_ALL,), none)
        for name, value in _OF_KEYS.items():
            setattr(self, name, np.empty(0, type(value)))
        self._columns: dict[str, Ids] = dict.fromkeys(self.variables, none)
        self._owner = none
        self._index = SortedKeys(none)
        self.edition = 0
        self.numbering = 0
        self._changes = 0
        self._moved = dict.fromkeys((name for name in self.variables if name not in self.key), 0)

    def __len__(self) -> int:
        """The number of keys."""
        return len(self.fetched)

    @property
    def rows(self) -> int:
        """The number of rows of all keys."""
        return len(self._owner)

    # Keys

    def number(self, columns: Mapping[str, Ids], length: int, at: int) -> Ids:
        """The numbers of keys given as columns, new ones added; they count as used at ``at``."""
        probe = [columns[name] for name in self.key] or [np.ones(length, np.int64)]
        found = self._find(probe)
        if (new := found < 0).any():
            fresh = [column[new] for column in probe]
            one = codes(fresh, len(fresh[0]))[1]
            self._append([column[one] for column in fresh])
            found = self._find(probe)
        self.used[found] = at
        return found

    def _find(self, probe: Sequence[Ids]) -> Ids:
        """Positions of keys, −1 where there is none."""
        found = np.full(len(probe[0]), -1, np.int64)
        which, place = spread(*self._index.ranges(combine(probe)))
        row = self._index.order[place]
        pairs = zip(self.keys.values(), probe, strict=True)
        same = np.logical_and.reduce([mine[row] == theirs[which] for mine, theirs in pairs])
        found[which[same]] = row[same]
        return found

    def _append(self, new: Sequence[Ids]) -> None:
        count = len(new[0])
        for name, column in zip(self.keys, new, strict=True):
            self.keys[name] = np.concatenate((self.keys[name], column))
        for name, value in _OF_KEYS.items():
            setattr(self, name, np.concatenate((getattr(self, name), np.full(count, value))))
        if self._learning:
            self.rates.add(count)
            self.phases.add(count)
        self._index = SortedKeys(combine(list(self.keys.values())))

    # Time

    def intervals(self, numbers: Ids) -> Ids:
        """The change interval of keys: stated by their rows, or declared, or learned."""
        if self._interval is not None:
            found = np.full(len(numbers), self._interval, np.int64)
        else:
            found = self.rates.intervals(numbers)
        stated = self.stated[numbers]
        return np.where(stated > 0, stated, found)

    def next_change(self, numbers: Ids, at: int) -> tuple[Ids, Ids]:
        """When keys would go stale next if they were fetched at ``at``, and their intervals from then on.

        A fresh key: at its expiry. A stale one whose expiry was exact changes at whole intervals from
        then; of any other only the interval is known, and it is counted from now.
        """
        expiry, interval = self.expiry[numbers], self.intervals(numbers)
        passed = np.where(self.exact[numbers] & (interval < NEVER_CHANGES), at - np.minimum(expiry, at), 0)
        later = _after(at - passed % interval, interval)
        return np.where(expiry > at, expiry, later), interval

    def chance(self, numbers: Ids, at: int) -> Floats:
        """How likely the copy of each key is still true at ``at``: 1 of what was fetched then, 0 of what
        never was; certain of what the source states and of what never changes; else as learned."""
        fetched, held = self.fetched[numbers], self.expiry[numbers] > at
        found: Floats = held.astype(np.float64)
        unstated = np.flatnonzero(~self._certain(numbers) & (fetched > NEVER))
        if self._learning and len(unstated):
            some, elapsed = numbers[unstated], np.maximum(at - fetched[unstated], 0)
            even = self.phases.even(some)
            by_rate, by_phase = (each.unchanged(some, elapsed) for each in (self.rates, self.phases))
            found[unstated] = even * by_phase + (1 - even) * by_rate
        return np.where(fetched >= at, 1.0, np.where(fetched > NEVER, found, 0.0))

    def worth(self, numbers: Ids, at: int, slide: int, alive: Floats) -> Floats:
        """What a refresh of each key at ``at`` is worth: the rows that it can be expected to keep true, where
        ``alive[key, k]`` rows need it at the k-th evaluation from now on, and at all later ones as the
        last."""
        elapsed = np.minimum(at - np.maximum(self.fetched[numbers], at - _AGES), _AGES)
        found = self.rates.lasting(numbers, -(-elapsed // slide), slide, alive)
        even = np.where(self.fetched[numbers] > NEVER, self.phases.even(numbers), 0.0)
        some = np.flatnonzero(even > 0)
        by_phase = self.phases.lasting(numbers[some], elapsed[some], slide, alive[some])
        found[some] += even[some] * (by_phase - found[some])
        stated = np.flatnonzero(self._certain(numbers) & (self.fetched[numbers] > NEVER))
        if len(stated):
            change, _ = self.next_change(numbers[stated], at)
            lasts = np.maximum(-((at - change) // slide), 0)[:, None] > np.arange(alive.shape[1])
            stale = self.expiry[numbers[stated]] <= at
            found[stated] = np.where(stale, (alive[stated] * lasts).sum(1), 0.0)
        return found

    def _certain(self, numbers: Ids) -> Mask:
        """Of which keys it is known when they change, or that they never do."""
        certain: Mask = self.exact[numbers] | (self.expiry[numbers] == FOREVER)
        return certain

    # Rows

    def store(
        self,
        asked: Mapping[str, Ids],
        length: int,
        rows: Mapping[str, Ids],
        owner: Ids,
        at: int,
        expiry: Ids | None = None,
        stated: Ids | None = None,
    ) -> Ids:
        """Put the answer to keys ``asked`` in place of what they had; ``owner`` says whose each row is.

        ``at`` is when it was asked for. ``expiry`` (0: unknown) is exact where given, ``stated`` an
        interval that the rows themselves state. An answer older than what is there is ignored.
        Gives the numbers of the keys.
        """
        numbers = self.number(asked, length, at)
        digest = np.zeros(length, np.int64)
        mixed = combine([rows[name] for name in self.variables] or [owner]) if len(owner) else owner
        np.add.at(digest, owner, (mixed ^ (mixed >> 31)) | 1)
        newer = self.fetched[numbers] < at
        known = newer & (self.fetched[numbers] > NEVER)
        self._learn(numbers[known], digest[known], at)
        self._compare(np.flatnonzero(known & (digest != self.digest[numbers])), numbers, rows, owner)
        if not newer.all():
            keep = newer[owner]
            rows = {name: column[keep] for name, column in rows.items()}
            owner = (np.cumsum(newer) - 1)[owner[keep]]
            expiry = expiry if expiry is None else expiry[newer]
            stated = stated if stated is None else stated[newer]
        self._replace(numbers[newer], rows, owner)
        self._date(numbers[newer], digest[newer], at, expiry, stated)
        return numbers

    def _learn(self, numbers: Ids, digest: Ids, at: int) -> None:
        if not self._learning:
            return
        began, changed = self.fetched[numbers], self.digest[numbers] != digest
        self.phases.observe(
            numbers, began, at, changed, self.rates.unchanged(numbers, at - began, random=True)
        )
        self.rates.observe(numbers, at - began, changed)

    def _compare(self, changed: Ids, numbers: Ids, rows: Mapping[str, Ids], owner: Ids) -> None:
        """Count in which variables the rows of keys (by place) are others than before."""
        if not self._learning or len(self._moved) < 2 or not len(changed):
            return
        places, old = self.places(numbers[changed])
        place = np.full(len(numbers), -1, np.int64)
        place[changed] = np.arange(len(changed))
        mine = place[owner] >= 0
        self._changes += len(changed)
        for name in self._moved:
            before, after = np.zeros(len(changed), np.int64), np.zeros(len(changed), np.int64)
            np.add.at(before, old, combine([self._columns[name][places]]) | 1)
            np.add.at(after, place[owner[mine]], combine([rows[name][mine]]) | 1)
            self._moved[name] += int((before != after).sum())

    @property
    def volatile(self) -> frozenset[str]:
        """The variables in which rows change, once enough was seen: the others hardly ever do. Empty where
        that is not known, or all of them change."""
        if self._changes < _TELLING:
            return frozenset()
        found = frozenset(name for name, count in self._moved.items() if count > _SELDOM * self._changes)
        return found if len(found) < len(self._moved) else frozenset()

    def _replace(self, numbers: Ids, rows: Mapping[str, Ids], owner: Ids) -> None:
        places, old = self.places(numbers)
        if np.array_equal(
            np.bincount(old, minlength=len(numbers)), np.bincount(owner, minlength=len(numbers))
        ):
            # As many rows as before for each key, the rule where values change: they take the old places.
            order = np.argsort(owner, kind="stable")
            for name, column in self._columns.items():
                column[places] = rows[name][order]
            self.edition += 1
            return
        gone = np.zeros(len(self), np.bool_)
        gone[numbers] = True
        keep = ~gone[self._owner]
        merged = np.concatenate((self._owner[keep], numbers[owner]))
        order = np.argsort(merged, kind="stable")
        self._owner = merged[order]
        self.edition += 1
        for name, column in self._columns.items():
            self._columns[name] = np.concatenate((column[keep], rows[name]))[order]

    def _date(self, numbers: Ids, digest: Ids, at: int, expiry: Ids | None, stated: Ids | None) -> None:
        self.fetched[numbers] = at
        self.failed[numbers] = False
        self.digest[numbers] = digest
        if stated is not None:
            self.stated[numbers] = stated
        interval = self.intervals(numbers)
        # Nothing is never for ever: where there were no rows, some may come.
        interval = np.where((digest == 0) & (interval >= NEVER_CHANGES), self._prior, interval)
        estimate = _after(np.full(len(numbers), at), interval)
        exact = np.zeros(len(numbers), np.bool_) if expiry is None else expiry > 0
        self.exact[numbers] = exact
        self.expiry[numbers] = estimate if expiry is None else np.where(exact, expiry, estimate)

    def places(self, numbers: Ids) -> tuple[Ids, Ids]:
        """Where the rows of keys are, and for each the place of its key in ``numbers``."""
        first = np.searchsorted(self._owner, numbers)
        count = np.searchsorted(self._owner, numbers, side="right") - first
        place, row = spread(first, count)
        return row, place

    def column(self, name: str) -> Ids:
        """A variable of all rows, by place."""
        return self._columns[name]

    def relation(self, numbers: Ids) -> tuple[Relation, Ids]:
        """The rows of keys, visible in ``[fetched, expiry)``, and for each the place of its key in
        ``numbers``. Rows that expired keep their interval: whoever joins decides what to do with them."""
        row, place = self.places(numbers)
        owner = numbers[place]
        columns = {name: column[row] for name, column in self._columns.items()}
        optional = frozenset(name for name, column in columns.items() if not column.all())
        return Relation(columns, self.fetched[owner], self.expiry[owner], optional), place

    # Size and state

    def forget(self, most: int) -> int:
        """Drop the keys unused for longest until at most ``most`` are left; gives how many went."""
        excess = len(self) - most
        if excess <= 0:
            return 0
        keep = np.ones(len(self), np.bool_)
        keep[np.argsort(self.used, kind="stable")[:excess]] = False
        number = np.cumsum(keep) - 1
        rows = keep[self._owner]
        self._owner = number[self._owner[rows]]
        self._columns = {name: column[rows] for name, column in self._columns.items()}
        self.keys = {name: column[keep] for name, column in self.keys.items()}
        for name in _OF_KEYS:
            setattr(self, name, getattr(self, name)[keep])
        if self._learning:
            self.rates.keep(keep)
            self.phases.keep(keep)
        self._renumbered()
        return excess

    def ids(self) -> Ids:
        """Every id that a row or a key refers to."""
        return sorted_set(np.concatenate([*self.keys.values(), *self._columns.values()]))

    def snapshot(self) -> State:
        """The whole view, for ``restore`` into one with the same key and variables."""
        keys = {f"key {place}": column for place, column in enumerate(self.keys.values())}
        rows = {f"column {place}": column for place, column in enumerate(self._columns.values())}
        state = {name: getattr(self, name) for name in _OF_KEYS}
        tables = {"keys": {**keys, **state}, "rows": {**rows, "owner": self._owner}}
        if not self._learning:
            return {}, tables
        return {"prior": self.rates.prior, "changes": self._changes, "moved": self._moved}, tables | {
            "rates": self.rates.state(),
            "phases": self.phases.state(),
        }

    def restore(self, state: State) -> None:
        """Replace everything by what ``snapshot`` gave."""
        keys, rows = state[1]["keys"], state[1]["rows"]
        self.keys = {name: np.array(keys[f"key {place}"]) for place, name in enumerate(self.keys)}
        self._columns = {name: np.array(rows[f"column {place}"]) for place, name in enumerate(self._columns)}
        self._owner = np.array(rows["owner"])
        for name in _OF_KEYS:
            setattr(self, name, np.array(keys[name]))
        self.waiting[:] = False
        if self._learning:
            self.rates.restore(state[0]["prior"], state[1]["rates"])
            self.phases.restore(state[1]["phases"])
            self._changes, self._moved = state[0]["changes"], dict(state[0]["moved"])
        self._renumbered()

    def _renumbered(self) -> None:
        self._index = SortedKeys(combine(list(self.keys.values())))
        self.edition += 1
        self.numbering += 1


def _after(time: Ids, interval: Ids) -> Ids:
    """``time + interval``, for ever where the interval is."""
    return np.where(interval >= NEVER_CHANGES, FOREVER, time + np.minimum(interval, NEVER_CHANGES))
