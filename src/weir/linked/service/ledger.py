"""An endpoint's ledger: what it may be asked now, who of those that want something gets it, what was spent.

Counted are HTTP requests, each attempt one. Three limits hold, each for the whole endpoint and, where a query
brings one of its own, for that query too: γ at an evaluation time; Γ over a period of event time, which
accrues evenly, may be saved within the period, and is borrowed for one evaluation at most; and a rate on the
wall clock, a bucket that holds one second's tokens. A server that asks to be left alone closes the ledger.

Queries take turns (deficit round-robin; a request is the quantum): who has waited longest comes first, what
was never fetched before what is merely stale, and the clauses of a query share its turns the same way. One
that was passed over for as long as everybody takes for a turn goes first, whatever it wants. Law: no limit is
ever exceeded, in whatever order evaluations come, and nobody who wants something waits for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from weir.linked.http import Gate
from weir.linked.service.config import Budget
from weir.linked.service.local_view import State

NO_LIMIT = 1 << 62
_KEPT = 64
"""How many instants and periods of each length are remembered; in older ones nothing can be spent."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Requests: ``now`` at most at this evaluation, ``ahead`` over the whole horizon. ``keys`` is how many
    keys these may ask for now."""

    now: int
    ahead: int
    keys: int = NO_LIMIT


@dataclass(frozen=True, slots=True)
class Wants:
    """How many requests a call could use: for keys never fetched, and for stale ones."""

    missing: int = 0
    stale: int = 0

    def __bool__(self) -> bool:
        return self.missing + self.stale > 0


@dataclass(slots=True)
class Claim:
    """A call's place in the queue: its query, what it wants by what is known, when it was served last (by
    count), and at how many times since it wanted something and got nothing."""

    query: str
    wants: Wants = field(default_factory=Wants)
    served: int = 0
    waited: int = 0


@dataclass(slots=True)
class Bucket:
    """Tokens that grow with the wall clock (s), ``rate`` a second, up to one second's, or one."""

    rate: float
    tokens: float
    stamp: float

    def refill(self, now: float) -> int:
        """The whole tokens there are."""
        self.tokens = min(max(1.0, self.rate), self.tokens + max(now - self.stamp, 0.0) * self.rate)
        self.stamp = now
        return max(int(self.tokens + 1e-9), 0)


class Ledger:
    """``budget`` is the limit of the endpoint; None leaves it to what queries bring with them (``join``): of
    those the largest counts. ``lately`` is what was spent since somebody emptied it: query, evaluation time
    and requests."""

    def __init__(self, budget: Budget | None = None, clock: Callable[[], float] = time.time) -> None:
        self.budget = budget
        self.gate = Gate(clock)
        self._clock = clock
        self._own: dict[str, Budget | None] = {}
        self._claims: dict[str, Claim] = {}
        self._spent: dict[int, dict[int, dict[str, int]]] = {}
        self._keys: dict[int, int] = {}
        self._bucket: Bucket | None = None
        self._count = 0
        self._at: int | None = None
        self._to_come: set[str] = set()
        self._deadline = (NO_LIMIT, 0.0)
        self.stalled = False
        self.lately: list[tuple[str, int, int]] = []

    # Who takes part

    def join(self, query: str, own: Budget | None, call: str | None = None) -> None:
        """A call of a query shares the ledger, and is held to a budget of its own; it may want something."""
        self._claims.setdefault(query if call is None else call, Claim(query, Wants(missing=1)))
        known = self._own.get(query)
        self._own[query] = own if known is None or own is None else larger((known, own))

    def leave(self, query: str) -> None:
        """A query is gone; what it spent stays spent."""
        self._own.pop(query, None)
        self._claims = {name: claim for name, claim in self._claims.items() if claim.query != query}

    @property
    def limit(self) -> Budget | None:
        """What holds for the endpoint."""
        if self.budget is not None:
            return self.budget
        return larger([own for own in self._own.values() if own is not None])

    @property
    def limited(self) -> bool:
        """Whether any limit but a closed gate holds: then an attempt that fails is not repeated unasked."""
        return self.limit is not None

    # How long to wait

    def patience(self, at: int, deadline: float) -> float:
        """For how many seconds the answers of an evaluation time may still be waited for, which began when
        the first call did; not at all while the endpoint is ``stalled``, that is, has missed a deadline."""
        if self.stalled:
            return 0.0
        now = time.monotonic()
        if self._deadline[0] != at:
            self._deadline = (at, now + deadline)
        return max(self._deadline[1] - now, 0.0)

    # What may be spent

    def together(self, at: int, queries: Iterable[str]) -> None:
        """All that are due at ``at``: what they want is kept for them until they have come."""
        due = set(queries)
        self._at = at
        self._to_come = {name for name, claim in self._claims.items() if claim.query in due}

    def allowance(
        self,
        query: str,
        at: int,
        slide: int,
        horizon: int,
        *,
        call: str | None = None,
        wants: Wants | None = None,
    ) -> Allowance:
        """What a call of ``query`` may send at ``at``, if it is evaluated every ``slide`` for ``horizon``
        times; nothing is kept back of what nobody else that is still to come claims."""
        name = query if call is None else call
        claim = self._claims.setdefault(name, Claim(query))
        claim.wants = Wants(missing=NO_LIMIT) if wants is None else wants
        if self._at != at:
            self.together(at, {each.query for each in self._claims.values()})
        self._to_come.discard(name)
        free = self._free(at, slide)
        wanting = {name: claim, **{each: self._claims[each] for each in sorted(self._to_come)}}
        shares = _shares(free, wanting)
        others = sum(count for each, count in shares.items() if each != name)
        now = min(free - others, self._own_free(query, at, slide))
        return Allowance(max(now, 0), max(self._ahead(at, slide, horizon, now), 0), self._keys_left(at))

    def slides(self, at: int, slide: int) -> int:
        """How many evaluations, this one included, the present period still has: what Γ can be moved to."""
        limit = self.limit
        if limit is None or limit.per_period is None:
            return NO_LIMIT
        return max(1, -(-(limit.period - at % limit.period) // slide))

    def spend(
        self,
        query: str,
        at: int,
        requests: int,
        *,
        call: str | None = None,
        keys: int = 0,
        left: Wants | None = None,
    ) -> None:
        """Note that so many requests were sent, whatever became of them, and what could not be asked for."""
        self.charge(query, at, requests)
        if requests:
            self.lately.append((query, at, requests))
        self._keys[at] = self._keys.get(at, 0) + keys
        while len(self._keys) > _KEPT:
            del self._keys[min(self._keys)]
        if self._bucket is not None:
            self._bucket.tokens -= requests
        claim = self._claims.setdefault(query if call is None else call, Claim(query))
        wanted = bool(claim.wants)
        if requests:
            self._count += 1
            claim.served, claim.waited = self._count, 0
        elif wanted:
            claim.waited += 1
        # Whoever wanted something will want something again, if only one request.
        claim.wants = left if left else Wants(stale=int(wanted))

    def charge(self, query: str, at: int, requests: int) -> None:
        """Note requests that a query sent at ``at``, when it is no longer there to want more."""
        # Instants last: a period that is new is made of those before.
        for length in sorted({1, *self._periods()}, reverse=True):
            windows = self._windows(length)
            mine = windows.setdefault(at // length, {})
            mine[query] = mine.get(query, 0) + requests
            while len(windows) > _KEPT:
                del windows[min(windows)]

    def follow(self, earlier: Ledger) -> None:
        """Take over what the clock on the wall decides from the ledger of an attempt that was given up: what
        was sent then was sent."""
        self._bucket = earlier._bucket
        self.gate.until = max(self.gate.until, earlier.gate.until)

    def _free(self, at: int, slide: int) -> int:
        """What the endpoint may still be asked now, by anybody."""
        if self.gate.closed:
            return 0
        limit = self.limit
        if limit is None:
            return NO_LIMIT
        free = _left(limit, at, slide, lambda length: self._sum(length, at, None))
        if limit.rate is not None:
            if self._bucket is None or self._bucket.rate != limit.rate:
                full = max(1.0, limit.rate) if self._bucket is None else self._bucket.tokens
                self._bucket = Bucket(limit.rate, full, self._clock())
            free = min(free, self._bucket.refill(self._clock()))
        return max(free, 0)

    def _own_free(self, query: str, at: int, slide: int) -> int:
        own = self._own.get(query)
        if own is None:
            return NO_LIMIT
        return _left(own, at, slide, lambda length: self._sum(length, at, query))

    def _ahead(self, at: int, slide: int, horizon: int, now: int) -> int:
        limit = self.limit
        if limit is None:
            return NO_LIMIT
        sharing = max(len({claim.query for claim in self._claims.values() if claim.wants}), 1)
        ahead = NO_LIMIT
        if limit.per_evaluation is not None:
            ahead = now + (horizon - 1) * limit.per_evaluation // sharing
        if limit.per_period is not None:
            gone = at % limit.period + horizon * slide
            total = limit.per_period * gone // limit.period - self._sum(limit.period, at, None)
            ahead = min(ahead, max(total // sharing, now))
        return ahead

    def _keys_left(self, at: int) -> int:
        limit = self.limit
        if limit is None or limit.keys is None:
            return NO_LIMIT
        left = limit.keys - self._keys.get(at, 0)
        waiting = [name for name in self._to_come if self._claims[name].wants]
        return max(left - len(waiting) * (left // (len(waiting) + 1)), 0)

    @property
    def spent(self) -> dict[str, int]:
        """What each query has spent in the latest period, or at the latest instant where Γ has no limit."""
        limit = self.limit
        length = 1 if limit is None or limit.per_period is None else limit.period
        windows = self._spent.get(length, {})
        return dict(windows[max(windows)]) if windows else {}

    def _periods(self) -> list[int]:
        budgets = [self.limit, *self._own.values()]
        return [each.period for each in budgets if each is not None and each.per_period is not None]

    def _windows(self, length: int) -> dict[int, dict[str, int]]:
        """What was spent in each period of a length; one that nobody asked for before is made of instants."""
        if length not in self._spent:
            found: dict[int, dict[str, int]] = {}
            for at, by in self._spent.get(1, {}).items():
                mine = found.setdefault(at // length, {})
                for query, requests in by.items():
                    mine[query] = mine.get(query, 0) + requests
            self._spent[length] = found
        return self._spent[length]

    def _sum(self, length: int, at: int, query: str | None) -> int:
        """What was spent in the instant or period of ``at``, by one or by all; where that is no longer known,
        more than anything allows."""
        windows = self._windows(length)
        if len(windows) >= _KEPT and at // length < min(windows):
            return NO_LIMIT
        by = windows.get(at // length, {})
        return sum(by.values()) if query is None else by.get(query, 0)

    # State

    def snapshot(self) -> State:
        """What was spent and who waits, for ``restore``."""
        spent = [
            [length, index, query, count]
            for length, windows in self._spent.items()
            for index, by in windows.items()
            for query, count in by.items()
        ]
        claims = [
            [name, c.query, min(c.wants.missing, NO_LIMIT), c.wants.stale, c.served, c.waited]
            for name, c in self._claims.items()
        ]
        bucket = None if self._bucket is None else list(astuple(self._bucket))
        return {
            "spent": spent,
            "keys": [list(pair) for pair in self._keys.items()],
            "claims": claims,
            "bucket": bucket,
            "count": self._count,
            "closed": self.gate.until,
        }, {}

    def restore(self, state: State) -> None:
        """Replace what was spent."""
        values: Mapping[str, Any] = state[0]
        self._spent = {}
        for length, index, query, count in values["spent"]:
            self._spent.setdefault(length, {}).setdefault(index, {})[query] = count
        self._keys = dict(values["keys"])
        self._claims = {
            name: Claim(query, Wants(missing, stale), served, waited)
            for name, query, missing, stale, served, waited in values["claims"]
        }
        self._bucket = None if values["bucket"] is None else Bucket(*values["bucket"])
        self._count = values["count"]
        self.gate.until = values["closed"]
        self._at, self._to_come = None, set()


def larger(budgets: Sequence[Budget]) -> Budget | None:
    """The largest of each limit that any of several budgets has; Γ is compared as Γ by its period."""
    if not budgets:
        return None
    flexible = [each for each in budgets if each.per_period is not None]
    most = max(flexible, key=lambda each: (each.per_period or 0) / each.period, default=None)
    return Budget(
        max((each.per_evaluation for each in budgets if each.per_evaluation is not None), default=None),
        None if most is None else most.per_period,
        budgets[0].period if most is None else most.period,
        rate=max((each.rate for each in budgets if each.rate is not None), default=None),
        keys=max((each.keys for each in budgets if each.keys is not None), default=None),
    )


def _left(limit: Budget, at: int, slide: int, spent: Callable[[int], int]) -> int:
    """What γ and Γ leave at ``at``."""
    left = NO_LIMIT
    if limit.per_evaluation is not None:
        left = limit.per_evaluation - spent(1)
    if limit.per_period is not None:
        gone = at % limit.period + slide
        accrued = min(limit.per_period * gone // limit.period, limit.per_period)
        left = min(left, accrued - spent(limit.period))
    return left


def _shares(free: int, claims: Mapping[str, Claim]) -> dict[str, int]:
    """How many requests each call gets of ``free`` ones: in rounds of one a query, those that have something
    missing or have waited too long first, then by who was served longest ago."""
    left = {name: claim.wants.missing + claim.wants.stale for name, claim in claims.items() if claim.wants}
    if free >= sum(left.values()):
        return left
    patience = len(left)

    def rank(name: str) -> tuple[bool, int, str]:
        claim = claims[name]
        return not (claim.wants.missing or claim.waited > patience), claim.served, name

    queues: dict[str, list[str]] = {}
    for name in sorted(left, key=rank):
        queues.setdefault(claims[name].query, []).append(name)
    shares = dict.fromkeys(left, 0)
    while free > 0 and queues:
        # As many whole rounds at once as everybody can use.
        rounds = max(min(min(left[queue[0]] for queue in queues.values()), free // len(queues)), 1)
        if any(len(queue) > 1 for queue in queues.values()):
            rounds = 1
        for query, queue in list(queues.items()):
            take = min(rounds, free)
            name = queue.pop(0)
            shares[name] += take
            left[name] -= take
            free -= take
            if left[name] > 0:
                queue.append(name)
            if not queue:
                del queues[query]
    return shares
