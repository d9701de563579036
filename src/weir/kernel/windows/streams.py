"""What is kept of the streams of a query: messages in order, windows, the live triples of its patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.kernel.operators import Slot
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.instants import LOWEST
from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.reduction import ReducedTriples
from weir.kernel.windows.window import Window
from weir.rdf.columns import Ids


class Streams:
    """``default`` names the windows that are part of the default graph; ``triples`` are kept by pattern and
    ``readers`` are the windows that show them."""

    def __init__(self) -> None:
        self.arrivals: dict[str, Arrivals] = {}
        self.windows: dict[str, Window] = {}
        self.default: list[str] = []
        self.triples: dict[tuple[object, ...], LiveTriples] = {}
        self.readers: dict[int, dict[str, Window]] = {}
        self.triples_of: dict[str, list[LiveTriples]] = {}

    def seal(self) -> None:
        """Once everything is declared and compiled."""
        self.triples_of = {
            name: [each for key, each in self.triples.items() if key[0] == name] for name in self.arrivals
        }

    def windows_of(self, stream: str) -> list[Window]:
        """The windows over one stream."""
        return [window for window in self.windows.values() if window.spec.stream == stream]

    def forget_followers(self) -> None:
        """Before the plan is compiled anew; live triples stay."""
        for each in self.triples.values():
            each.followers.clear()

    def release(self, bounds: Mapping[str, tuple[Ids, Ids]], time: int) -> None:
        """Drop what no instant after the last of ``bounds`` (at ``time``) can show."""
        for whole in self.triples.values():
            windows = self.readers[id(whole)]
            for each in (whole, *(each for each in whole.followers if isinstance(each, ReducedTriples))):
                each.drop(min(_expired(each, window, bounds) for window in windows.values()))
        for name, arrivals in self.arrivals.items():
            times = arrivals.times
            count = int(times.searchsorted(time))
            for window in self.windows_of(name):
                spec = window.spec
                if spec.unit is not None:
                    # A report waits for the next tick.
                    count = min(count, int(times.searchsorted(time - spec.unit)))
                if spec.width is not None:
                    low = int(bounds[spec.name][0][-1])
                    kept = times.searchsorted(low) if spec.rows_by == "time" else low - arrivals.log.first
                    count = min(count, int(kept))
            arrivals.log.drop(count)

    def triples_for(
        self, window: Window, slots: Sequence[Slot | None], extra: Sequence[str], *, once: bool
    ) -> LiveTriples:
        """The live triples of a pattern whose variables are named by their slots."""
        spec = window.spec
        if spec.bag and not once:
            keeping = Keeping.BAG
        elif spec.width is None and spec.count is None and not extra:
            keeping = Keeping.FIRST
        else:
            keeping = Keeping.LATEST
        floor = window.floor if keeping is Keeping.FIRST else LOWEST
        needed = {each.spec.rows_by for each in self.windows_of(spec.stream)}
        coordinates = tuple(sorted(needed.union(extra)))
        key = (spec.stream, tuple(slots), keeping, floor, coordinates)
        found = self.triples.get(key)
        if found is None:
            found = self.triples[key] = LiveTriples(slots, coordinates, keeping, floor)
        self.readers.setdefault(id(found), {})[spec.name] = window
        return found

    def ids(self) -> list[Ids]:
        """The terms of live rows and of waiting messages."""
        found: list[Ids] = []
        for each in self.triples.values():
            found += [each.rows.column(place) for place in range(len(each.columns))]
        for arrivals in self.arrivals.values():
            waiting = arrivals.pending
            found += [waiting.subject, waiting.predicate, waiting.object, waiting.graph]
        return found


def _expired(triples: LiveTriples, window: Window, bounds: Mapping[str, tuple[Ids, Ids]]) -> int:
    """How many of the oldest rows the window no longer shows."""
    low = bounds[window.spec.name][0][-1]
    return int(triples.coordinate(window.spec.rows_by).searchsorted(low))
