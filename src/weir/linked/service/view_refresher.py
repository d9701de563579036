"""The refreshes of one call: keys are asked for, and answers become rows of the views, whenever they come.

The budget is charged when a request is sent, whatever becomes of it. While the endpoint's breaker is
open nothing is sent and nothing charged; when its cool-down is over, one key goes out as a probe.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from weir.errors import DataError, RemoteError
from weir.kernel.contract import FOREVER
from weir.linked.http import BreakerState
from weir.linked.service.config import ServiceConfig
from weir.linked.service.endpoint import Answer, RemoteLoop
from weir.linked.service.local_view import LocalView
from weir.linked.service.maintenance_graph import NeededKeys
from weir.linked.service.remote_query import (
    can_ask,
    decode,
    instant,
    interval,
    least,
    owners,
    request_text,
)
from weir.linked.service.service_parts import PartRows, ServicePart, ServiceParts
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary

_log = logging.getLogger("weir.service")


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
    """The context of a request: what was asked of which part, when."""

    part: ServicePart
    view: LocalView
    keys: Mapping[str, Ids]
    length: int
    at: int
    text: str


class ViewRefresher:
    """Asks for keys of the views (the link's, where there is one, and the value's) and stores the answers."""

    def __init__(
        self,
        target: Target,
        views: tuple[LocalView | None, LocalView],
        loop: RemoteLoop,
        dictionary: Dictionary,
    ) -> None:
        self._target = target
        self._link, self._value = views
        self._loop = loop
        self._asked: list[tuple[_Asked, Future[Answer]]] = []
        self._dictionary = dictionary
        self._patience = 1.0
        self._troubled = False

    @property
    def pending(self) -> int:
        """Requests without an outcome."""
        return sum(not future.done() for _, future in self._asked)

    @property
    def blocked(self) -> bool:
        """Whether the endpoint's breaker lets nothing pass now."""
        breaker = self._loop.breaker(self._target.endpoint, self._target.config)
        return breaker is not None and breaker.blocked

    @property
    def down(self) -> bool:
        """Whether the endpoint has been given up for now."""
        breaker = self._loop.breaker(self._target.endpoint, self._target.config)
        return breaker is not None and breaker.state is not BreakerState.CLOSED

    # Asking

    def ask(self, found: NeededKeys, chosen: Ids, at: int) -> tuple[int, int]:
        """Send requests for right nodes; gives the numbers of keys and of requests."""
        if self.down:
            chosen = chosen[:1]
        links = len(found.link)
        asked = requests = 0
        for is_link in (True, False):
            part = self._target.parts.link if is_link else self._target.parts.value
            view = self._link if is_link else self._value
            mine = chosen[chosen < links] if is_link else chosen[chosen >= links] - links
            if part is None or view is None or not len(mine):
                continue
            numbers = found.link[mine] if is_link else found.value[mine]
            numbers = self._askable(view, numbers, at)
            for start in range(0, len(numbers), self._target.config.batch):
                self._send(part, view, numbers[start : start + self._target.config.batch], at)
                requests += 1
            asked += len(numbers)
        return asked, requests

    def _askable(self, view: LocalView, numbers: Ids, at: int) -> Ids:
        """Leave out keys that no endpoint can know, such as blank nodes; they have no rows, ever."""
        good = np.ones(len(numbers), np.bool_)
        for name in view.key:
            column = view.keys[name][numbers]
            good &= np.array([can_ask(self._dictionary.decode(i)) for i in column.tolist()], np.bool_)
        if not good.all():
            never = numbers[~good]
            none = np.empty(0, np.int64)
            keys = {name: view.keys[name][never] for name in view.key}
            rows = dict.fromkeys(view.variables, none)
            view.store(keys, len(never), rows, none, at, expiry=np.full(len(never), FOREVER))
        return numbers[good]

    def _send(self, part: ServicePart, view: LocalView, numbers: Ids, at: int) -> None:
        keys = {name: view.keys[name][numbers] for name in view.key}
        terms = [[self._dictionary.decode(i) for i in keys[name].tolist()] for name in view.key]
        for name, column in zip(view.key, terms, strict=True):
            # The view outlives the window that brought the key, and so must its text.
            self._dictionary.add(keys[name], [str(term) for term in column])
        text = request_text(part, list(zip(*terms, strict=True)))
        view.waiting[numbers] = True
        future = self._loop.submit(self._target.endpoint, self._target.config, text)
        self._asked.append((_Asked(part, view, keys, len(numbers), at, text), future))

    # Receiving

    def receive(self, *, wait: bool = False) -> list[RemoteError]:
        """Put what has come into the views, having waited for the rest if so asked; gives the failures.

        An endpoint that misses the deadline is waited for half as long each time, until an answer of its
        comes that would have kept it.
        """
        deadline = self._target.config.patience
        done = futures.wait(
            [future for _, future in self._asked], deadline * self._patience if wait else 0.0
        ).done
        outcomes = [(asked, _outcome(future)) for asked, future in self._asked if future in done]
        self._asked = [(asked, future) for asked, future in self._asked if future not in done]
        failures = [error for pair in outcomes if (error := self._take(*pair)) is not None]
        if any(isinstance(answer, Answer) and answer.seconds <= deadline for _, answer in outcomes):
            self._patience = 1.0
        elif wait and self.pending:
            self._patience = max(self._patience / 2, 0.01)
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
                self._store(asked, outcome)
            except DataError as refused:
                error = RemoteError(f"{self._target.endpoint} gave a wrong answer", detail=str(refused))
        numbers = asked.view.number(asked.keys, asked.length, asked.at)
        asked.view.waiting[numbers] = False
        if error is not None:
            asked.view.failed[numbers] = True
        return error

    def _store(self, asked: _Asked, answer: Answer) -> None:
        part, valid_for = asked.part, answer.valid_for
        rows = decode(part, answer.solutions, self._dictionary, asked.text)
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


def _outcome(done: Future[Answer]) -> Answer | RemoteError:
    """What became of a request."""
    if done.cancelled():
        return RemoteError("the request was given up")
    error = done.exception()
    if error is None:
        return done.result()
    return error if isinstance(error, RemoteError) else RemoteError("a request failed", detail=repr(error))
