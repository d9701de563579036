"""The refreshes of one call: keys are asked for, and answers become rows of the views, whenever they come.

The budget is charged when a request is sent, whatever becomes of it. While the endpoint's breaker is
open nothing is sent and nothing charged; when its cool-down is over, one key goes out as a probe.

Where an endpoint has cut its answer, the rest is asked for: half the keys at a time, and what belongs to a
single key in pages. Each is a request like any other, sent at once or, under a budget, when the next
evaluations allow; until all have come the view stays as it was.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np

from weir.errors import DataError, RemoteError
from weir.kernel.contract import FOREVER
from weir.linked.service.config import ServiceConfig
from weir.linked.service.endpoint import Answer, RemoteLoop
from weir.linked.service.ledger import Ledger
from weir.linked.service.local_view import NEVER, LocalView
from weir.linked.service.maintenance_graph import NeededKeys
from weir.linked.service.remote_query import (
    Page,
    Solutions,
    appended,
    can_ask,
    decode,
    instant,
    interval,
    least,
    owners,
    request_text,
)
from weir.linked.service.service_parts import PartRows, ServicePart, ServiceParts
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary

_log = logging.getLogger("weir.service")

_PAGES = 1000
"""How many pages an answer may have."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a call asks for, of which endpoint, under which settings."""

    query: str
    endpoint: str
    config: ServiceConfig
    parts: ServiceParts
    silent: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    """The context of a request: what was asked of which part, when; of a ``page``, what was ``read``
    before it."""

    part: ServicePart
    view: LocalView
    keys: Mapping[str, Ids]
    length: int
    at: int
    page: Page | None = None
    read: Solutions | None = None

    def some(self, places: slice) -> _Asked:
        """The same for some of the keys."""
        keys = {name: column[places] for name, column in self.keys.items()}
        return replace(self, keys=keys, length=len(range(self.length)[places]))


class ViewRefresher:
    """Asks for keys of the views (the link's, where there is one, and the value's) and stores the answers."""

    def __init__(
        self,
        target: Target,
        views: tuple[LocalView | None, LocalView],
        ledger: Ledger,
        loop: RemoteLoop,
        dictionary: Dictionary,
    ) -> None:
        self._target = target
        self._link, self._value = views
        self._ledger = ledger
        self._loop = loop
        self._asked: list[tuple[_Asked, Future[Answer]]] = []
        self._owed: list[_Asked] = []
        self._dictionary = dictionary
        self._troubled = False

    @property
    def pending(self) -> int:
        """Requests without an outcome."""
        return sum(not future.done() for _, future in self._asked)

    @property
    def owed(self) -> int:
        """Requests for the rest of answers that were cut, still to be sent."""
        return len(self._owed)

    @property
    def blocked(self) -> bool:
        """Whether the endpoint's breaker lets nothing pass now."""
        breaker = self._loop.breaker(self._target.endpoint, self._target.config)
        return breaker is not None and breaker.blocked

    @property
    def down(self) -> bool:
        """Whether the endpoint has been given up for now."""
        breaker = self._loop.breaker(self._target.endpoint, self._target.config)
        return breaker is not None and breaker.open

    # Asking

    def ask(self, found: NeededKeys, chosen: Ids, at: int, rest: int = 0) -> tuple[int, int]:
        """Send ``rest`` of the requests that are owed, and those for right nodes; gives the numbers of keys
        and of requests."""
        if self.down:
            rest = min(rest, 1)
            chosen = chosen[: 1 - rest]
        links = len(found.link)
        asked, requests = 0, self._go_on(rest)
        parts = self._target.parts
        for part, view, numbers in (
            (parts.link, self._link, found.link[chosen[chosen < links]]),
            (parts.value, self._value, found.value[chosen[chosen >= links] - links]),
        ):
            if part is None or view is None:
                continue
            numbers = self._askable(view, numbers, at)
            for start in range(0, len(numbers), self._target.config.batch):
                self._send(part, view, numbers[start : start + self._target.config.batch], at)
                requests += 1
            asked += len(numbers)
        return asked, requests

    def reachable(self, found: NeededKeys, chosen: Ids) -> Ids:
        """Right nodes by which ``chosen`` ones can be refreshed: a value that belongs to a remote blank node
        can only be had by the links that lead to it."""
        links = len(found.link)
        if self._link is None or not (chosen >= links).any():
            return chosen
        values = chosen[chosen >= links]
        lost = values[~self._writable(self._value, found.value[values - links])]
        if not len(lost):
            return chosen
        lefts = found.edge_left[np.isin(found.edge_right, lost)]
        ways = found.link_of[lefts]
        ways = ways[~self._link.waiting[found.link[ways]]]
        nodes = np.concatenate((chosen[~np.isin(chosen, lost)], ways))
        distinct: Ids = nodes[np.sort(np.unique(nodes, return_index=True)[1])]
        return distinct

    def _writable(self, view: LocalView, numbers: Ids) -> Mask:
        """Which keys can stand in a request."""
        good = np.ones(len(numbers), np.bool_)
        for name in view.key:
            column = view.keys[name][numbers]
            good &= np.array([can_ask(self._dictionary.decode(i)) for i in column.tolist()], np.bool_)
        return good

    def _askable(self, view: LocalView, numbers: Ids, at: int) -> Ids:
        """Leave out keys that no endpoint can know, such as blank nodes; they have no rows, ever."""
        good = self._writable(view, numbers)
        if not good.all():
            never = numbers[~good]
            none = np.empty(0, np.int64)
            keys = {name: view.keys[name][never] for name in view.key}
            rows = dict.fromkeys(view.variables, none)
            view.store(keys, len(never), rows, none, at, expiry=np.full(len(never), FOREVER))
        return numbers[good]

    def _go_on(self, most: int) -> int:
        """Send what is owed, so many requests at most."""
        some, self._owed = self._owed[:most], self._owed[most:]
        for asked in some:
            self._submit(asked)
        return len(some)

    def _send(self, part: ServicePart, view: LocalView, numbers: Ids, at: int) -> None:
        view.waiting[numbers] = True
        keys = {name: view.keys[name][numbers] for name in view.key}
        self._submit(_Asked(part, view, keys, len(numbers), at))

    def _submit(self, asked: _Asked) -> None:
        view, keys = asked.view, asked.keys
        terms = [[self._dictionary.decode(i) for i in keys[name].tolist()] for name in view.key]
        for name, column in zip(view.key, terms, strict=True):
            # The view outlives the window that brought the key, and so must its text.
            self._dictionary.add(keys[name], [str(term) for term in column])
        text = request_text(asked.part, list(zip(*terms, strict=True)), asked.page)
        # Under a limit every attempt is an evaluation's own, and charged to it.
        attempts = 1 if self._ledger.limited else None
        future = self._loop.submit(
            self._target.endpoint, self._target.config, text, self._ledger.gate, attempts
        )
        self._asked.append((asked, future))

    def take_over(self, view: LocalView) -> None:
        """Put the rows of a view over all the variables into those of the two parts, as old as they are."""
        times, when = np.unique(view.fetched, return_inverse=True)
        for place, at in enumerate(times.tolist()):
            numbers = np.flatnonzero(when == place)
            if at == NEVER or self._link is None:
                continue
            rows, _ = view.places(numbers)
            whole = PartRows({name: view.column(name)[rows] for name in view.variables}, len(rows))
            keys = {name: view.keys[name][numbers] for name in view.key}
            self._put(self._link, whole.distinct(self._link.variables), keys, len(numbers), at, None)
            values = whole.distinct(self._value.key)
            mine = whole.distinct(self._value.variables)
            self._put(self._value, mine, values.columns, values.length, at, None)

    # Receiving

    def receive(self, at: int, *, wait: bool = False) -> list[RemoteError]:
        """Put what has come into the views, having waited for the rest if so asked; gives the failures.

        All calls of an endpoint wait for it together: one deadline an evaluation time, and none at all once
        it has missed one, until an answer of its comes that would have kept it.
        """
        deadline, failures = self._target.config.patience, list[RemoteError]()
        while True:
            failures += self._received(at, deadline, wait=wait)
            # Without a limit the rest of an answer is asked for at once.
            if self._ledger.limited or self.blocked or not self._go_on(self.owed):
                return failures
            if not wait:
                return failures

    def _received(self, at: int, deadline: float, *, wait: bool) -> list[RemoteError]:
        left = self._ledger.patience(at, deadline) if wait else 0.0
        done = futures.wait([future for _, future in self._asked], left).done
        outcomes = [(asked, _outcome(future)) for asked, future in self._asked if future in done]
        self._asked = [(asked, future) for asked, future in self._asked if future not in done]
        failures = [error for pair in outcomes if (error := self._take(*pair)) is not None]
        if any(isinstance(answer, Answer) and answer.seconds <= deadline for _, answer in outcomes):
            self._ledger.stalled = False
        elif wait and self.pending:
            self._ledger.stalled = True
        if outcomes:
            self._report(failures)
        return failures

    def _report(self, failures: Sequence[RemoteError]) -> None:
        if failures and not self._troubled:
            _log.warning("query %s goes on from its view: %s", self._target.query, failures[0])
        elif not failures and self._troubled:
            _log.warning("query %s hears from %s again", self._target.query, self._target.endpoint)
        self._troubled = bool(failures)

    def _take(self, asked: _Asked, outcome: Answer | RemoteError) -> RemoteError | None:
        error = outcome if isinstance(outcome, RemoteError) else None
        if isinstance(outcome, Answer):
            try:
                if rest := self._rest(asked, outcome):
                    self._owed += rest
                    return None
                self._store(asked, outcome)
            except Exception as refused:
                # Whatever an endpoint can say that nobody foresaw is a failed call, never more.
                detail = str(refused) if isinstance(refused, DataError) else repr(refused)
                error = RemoteError(f"{self._target.endpoint} gave a wrong answer", detail=detail)
        numbers = asked.view.number(asked.keys, asked.length, asked.at)
        asked.view.waiting[numbers] = False
        if error is not None:
            asked.view.failed[numbers] = True
        return error

    def _rest(self, asked: _Asked, answer: Answer) -> list[_Asked]:
        """What is still to be asked for until the answer is whole."""
        found, page = answer.solutions, asked.page
        if page is None:
            if not answer.cut:
                return []
            _log.warning("%s cuts its answers after %d rows", self._target.endpoint, found.length)
            if asked.length > 1:
                half = asked.length // 2
                return [asked.some(slice(None, half)), asked.some(slice(half, None))]
            if found.length < 2:
                raise DataError("an answer cut to a row has no pages")
            return [replace(asked, page=Page(found.length))]
        if found.length < page.size:
            return []
        if page.offset > _PAGES * page.size:
            raise DataError(f"the answer has more than {_PAGES} pages")
        read = _whole(asked, answer)
        return [replace(asked, page=Page(page.size, read.length - 1), read=read)]

    def _store(self, asked: _Asked, answer: Answer) -> None:
        part, valid_for = asked.part, answer.valid_for
        rows = decode(part, _whole(asked, answer), self._dictionary, self._target.endpoint)
        mine = rows if part.along is None else rows.distinct(part.variables)
        self._put(asked.view, mine, asked.keys, asked.length, asked.at, valid_for)
        if part.along is None:
            return
        keys = rows.distinct(self._value.key)
        own = [name for name in self._value.variables if name not in self._value.key]
        there = np.logical_and.reduce([rows.columns[name] != 0 for name in own])
        values = rows.take(there).distinct(self._value.variables)
        self._put(self._value, values, keys.columns, keys.length, asked.at, valid_for)

    def _put(
        self,
        view: LocalView,
        rows: PartRows,
        keys: Mapping[str, Ids],
        length: int,
        at: int,
        valid_for: float | None,
    ) -> None:
        owner, mine = owners(rows, view.key, keys, length)
        if not mine.all():
            rows, owner = rows.take(mine), owner[mine]
        config = self._target.config
        expiry = np.full(length, 0 if valid_for is None else max(at + int(valid_for * 1e6), 1))
        stated = None
        if config.expires_variable in rows.columns:
            times = least(rows.columns[config.expires_variable], owner, length, self._dictionary, instant)
            expiry = np.where(times > 0, times, expiry)
        if config.interval_variable in rows.columns:
            column = rows.columns[config.interval_variable]
            stated = least(column, owner, length, self._dictionary, interval)
        columns = {name: rows.columns[name] for name in view.variables}
        view.store(keys, length, columns, owner, at, expiry, stated)


def _whole(asked: _Asked, answer: Answer) -> Solutions:
    """An answer with the pages before it."""
    return answer.solutions if asked.read is None else appended(asked.read, answer.solutions)


def _outcome(done: Future[Answer]) -> Answer | RemoteError:
    """What became of a request."""
    if done.cancelled():
        return RemoteError("the request was given up")
    error = done.exception()
    if error is None:
        return done.result()
    return error if isinstance(error, RemoteError) else RemoteError("a request failed", detail=repr(error))
