"""Which evaluation fails, where one of many that are made in one pass does.

A pass over thousands of evaluation times fails as a whole, also where all of them together are too much and
each alone is not. So a pass that fails is made again in halves, down to the one evaluation that fails by
itself. That makes failures, and the limits on rows and combinations, independent of how input was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from weir.errors import OutOfTime
from weir.kernel.contract import NOT_ITS_OWN, FailedAt, Slab, refuse_more
from weir.kernel.windows.evaluation_times import Clock, Evaluations

T = TypeVar("T")


class Pass(Generic[T]):
    """What ``evaluate`` gives for the chunks of a clock, one after the other, is ``found``; only the first
    ``most`` evaluations of the slab are made where it says so. ``size`` is how many answers there are in what
    ``evaluate`` gives: where the slab has no room for more, the next evaluation fails."""

    __slots__ = ("_answers", "_clock", "_done", "_evaluate", "_most", "_room", "_size", "found")

    def __init__(
        self, clock: Clock, evaluate: Callable[[Evaluations], T], slab: Slab, size: Callable[[T], int]
    ) -> None:
        self.found: list[T] = []
        self._clock = clock
        self._evaluate = evaluate
        self._size = size
        self._most, self._room = slab.most, slab.room
        self._done = self._answers = 0

    @property
    def full(self) -> bool:
        """Whether no more are to be made."""
        return self._most is not None and self._done >= self._most

    def take(self, chunk: Evaluations) -> None:
        """Make the evaluations of a chunk. Raises ``FailedAt``; what ``evaluate`` raised is its cause."""
        if self._most is not None and self._done + len(chunk.times) > self._most:
            chunk = chunk.part(0, self._most - self._done)
        try:
            refuse_more(self._answers, self._room)
            made = self._evaluate(chunk)
        except NOT_ITS_OWN:
            raise
        except BaseException as error:
            full = self._room is not None and self._answers > self._room
            if full or len(chunk.times) == 1 or isinstance(error, OutOfTime):
                raise FailedAt(chunk.times.item(0), self._done) from error
        else:
            self.found.append(made)
            self._answers += self._size(made)
            self._done += len(chunk.times)
            return
        self._take_halves(chunk)

    def _take_halves(self, chunk: Evaluations) -> None:
        before, middle = self._clock.last, len(chunk.times) // 2
        for half in (chunk.part(0, middle), chunk.part(middle, len(chunk.times))):
            self.take(half)
            self._clock.last = half.last
        self._clock.last = before
