"""A history of changes that nobody invented: the offsets from UTC of the world's time zones, week by week.

The package ``tzdata`` has them as the IANA time zone database records them. Each zone is a key, its offset
the remote value; it changes where daylight saving begins or ends, and now and then by decree. Every zone is
needed once a week, and the budget lets a part of them be asked for. Zones that were always alike are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir_bench.freshness.bound import bound
from weir_bench.freshness.data import Setting, Trace, Window
from weir_bench.freshness.learned import LearnedRun, play

WEEK = 7 * 86_400_000
FIRST, LAST = datetime(1980, 1, 1, 12, tzinfo=UTC), datetime(2020, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ZoneTrace(Trace):
    """``versions[week, zone]`` counts the changes of each zone's offset."""

    versions: NDArray[np.int64] | None = None

    def version(self, at: int) -> Ids:
        assert self.versions is not None
        found: Ids = self.versions[at // WEEK]
        return found


def zones(every: int = 1, first: datetime = FIRST, last: datetime = LAST) -> ZoneTrace:
    """The history between two dates, of each ``every``-th distinct zone."""
    weeks = [first + timedelta(weeks=n) for n in range((last - first) // timedelta(weeks=1))]
    histories = set()
    for name in sorted(available_timezones())[::every]:
        zone = ZoneInfo(name)
        local = (at.astimezone(zone).replace(tzinfo=None) for at in weeks)
        histories.add(
            tuple(
                (wall - at.replace(tzinfo=None)).total_seconds()
                for wall, at in zip(local, weeks, strict=True)
            )
        )
    offsets = np.array(sorted(histories)).astype(np.int64).T
    changed = np.zeros(offsets.shape, np.int64)
    changed[1:] = offsets[1:] != offsets[:-1]
    count = offsets.shape[1]
    setting = Setting(
        left=count, right=count, edges=count, width=WEEK, slide=WEEK, evaluations=len(weeks), warm_up=0.25
    )
    all_of = np.arange(count)
    ones = np.ones(count, np.int64)
    windows = tuple(Window(n * WEEK, all_of, ones, ones) for n in range(len(weeks)))
    return ZoneTrace(setting, all_of, all_of, ones * WEEK, ones, windows, changed.cumsum(0))


def zones_figures(share: float, every: int = 1) -> dict[str, object]:
    """Who is told nothing against who never learns, with a budget of so many of the zones a week."""
    data = zones(every)
    budget = max(int(share * data.setting.right), 1)
    runs: dict[str, LearnedRun] = {
        how: play(data, how, budget, 1, even=False) for how in ("rand", "lru", "learned")
    }
    return {
        "zones": data.setting.right,
        "weeks": data.setting.evaluations,
        "budget": budget,
        "freshness": {how: run.freshness for how, run in runs.items()},
        "estimate": runs["learned"].estimate,
        "audited": runs["learned"].audited,
        "bound": bound(data, budget),
    }
