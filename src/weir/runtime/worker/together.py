"""Queries of a group that are evaluated together, in one step: what they answer, and which of them fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.kernel.contract import FOREVER, NOT_ITS_OWN, Answers, Slab
from weir.kernel.matching.shared import SharedAnswers, SharedEvaluator
from weir.rdf.columns import NEVER
from weir.runtime.control.failure import Failure
from weir.runtime.ingest.order import Inbox
from weir.runtime.worker.alone import Failures, failure_of
from weir.runtime.worker.culprits import culprits, took_too_long
from weir.runtime.worker.members import Member, SharedQueries

_QUICK = 0.25
"""The share of a query's time in which it is found out whether it is the one that takes too long."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What one query answered in one step."""

    member: Member
    answers: Answers


@dataclass(frozen=True, slots=True)
class AnsweredTogether:
    """What queries that are evaluated together answered in one step, and how long that took."""

    members: Mapping[str, Member]
    answers: SharedAnswers
    seconds: float = 0.0


@dataclass(slots=True)
class Together:
    """The queries of ``shared``, which read ``stream`` from ``box``."""

    shared: SharedQueries
    members: dict[str, Member]
    stream: str
    box: Inbox
    failures: Failures

    @property
    def through(self) -> int:
        """The time that they are evaluated through."""
        return self.box.progress.high if self.box.progress.ended else self.box.complete

    def ending(self, ending: Mapping[str, Failure]) -> Iterator[Answered]:
        """Those that are ending: each by itself, from the state before the batch, as far as it goes. They are
        not among the others any more."""
        for name in sorted(self.members.keys() & ending.keys()):
            answers = None
            with self.failures.of(self.members[name].registration):
                evaluation = self._evaluation(ending[name].before)
                if evaluation is not None:
                    answers = counting(evaluation(self.shared.only([name])).of(name), ending[name])
            if answers is not None:
                yield Answered(self.members[name], answers)
        for name in self.members.keys() & ending.keys():
            self.shared.drop(name)
            del self.members[name]

    def advance(self) -> AnsweredTogether | None:
        """What they answer; None where there is nothing to evaluate, or where some of them fail."""
        evaluation = self._evaluation()
        if evaluation is None:
            return None
        answers: list[SharedAnswers] = []
        began = time.perf_counter()
        error = self._attempt(list(self.members), lambda: answers.append(evaluation(self.shared.evaluator)))
        if error is None:
            for member in self.members.values():
                member.given, member.done = self.box.complete, self.box.progress.ended
            return AnsweredTogether(self.members, answers[0], time.perf_counter() - began)
        share = _QUICK if took_too_long(error) else 1.0
        found = culprits(
            list(self.members),
            lambda names: self._attempt(names, lambda: evaluation(self.shared.only(names)), share),
        )
        for name, own in found.items():
            told = self.failures.told(own)
            self.failures.add(failure_of(self.members[name].registration, told, self.failures.slot))
        return None

    def _attempt(
        self, names: Sequence[str], work: Callable[[], object], share: float = 1.0
    ) -> BaseException | None:
        """Work on several queries; what it raised."""
        try:
            with self.failures.limit.over(names, share):
                work()
        except NOT_ITS_OWN:
            raise
        except BaseException as error:
            return error
        return None

    def _evaluation(self, most: int | None = None) -> Callable[[SharedEvaluator], SharedAnswers] | None:
        """What advances an evaluator over what the inbox has; None where there is nothing."""
        members, box = self.members.values(), self.box
        given, end = max((member.given for member in members), default=NEVER), box.progress.ended
        if any(member.done for member in members):
            for member in members:
                member.done = True
            return None
        if not members or box.complete == NEVER or (box.complete <= given and not end):
            return None
        through = self.through
        upto = FOREVER if end else box.complete

        room = None if self.failures.room is None else self.failures.room * len(members)

        def slab(since: int) -> Slab:
            return Slab({self.stream: box.take(given, upto, since)}, through, end, most=most, room=room)

        return lambda evaluator: evaluator.advance(slab, box.settled(upto))


def counting(answers: Answers, ending: Failure) -> Answers:
    """What counts of the answers of a query that ends: all, where its evaluations were counted, else those
    before it does."""
    if ending.before is not None or ending.at is None:
        return answers
    return answers.older(ending.at)
