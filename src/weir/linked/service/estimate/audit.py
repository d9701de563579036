"""An estimate of freshness held against the truth: what probes of rows drawn at random find.

Policies refresh what has most likely changed, so what their refreshes find says little about the rest. A
probe is a refresh of a key drawn by chance, as often as there are rows that need it: the share of probes that
find their value unchanged is the share of rows that were true, whatever the estimate says. A key that is
refreshed anyway is true, and counts as that. Probes are a share of what is spent; old ones fade.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from weir.rdf.columns import Ids, Mask

_FADE = 0.99
_SURE = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A key, by its number in a view of the given ``numbering``, as it was when it was drawn: when fetched,
    the digest of its rows, and how likely they were thought to be true (1 where it is refreshed anyway)."""

    number: int
    numbering: int
    fetched: int
    digest: int
    chance: float


@dataclass(slots=True)
class Audit:
    """Sums over probes, faded: how many, how many of them found their copy true, and what was expected;
    ``squares`` are of the weights. ``credit`` is how many probes may be made."""

    probes: float = 0.0
    true: float = 0.0
    expected: float = 0.0
    squares: float = 0.0
    credit: float = 0.0
    _pending: list[Probe] = field(default_factory=list)

    def earn(self, spent: float) -> None:
        """What is to be spent on probes; little of it can be saved."""
        self.credit = min(self.credit + spent, 2.0)

    def drawn(self, probe: Probe) -> None:
        """A probe is sent."""
        self.credit -= 1.0
        self._pending.append(probe)

    def check(self, numbering: int, fetched: Ids, digest: Ids, waiting: Mask) -> None:
        """Take in what probes found; one that got no answer is given up."""
        pending = []
        for probe in self._pending:
            if probe.numbering != numbering:
                continue
            if fetched[probe.number] > probe.fetched:
                self.found(probe.chance == 1.0 or bool(digest[probe.number] == probe.digest), probe.chance)
            elif waiting[probe.number]:
                pending.append(probe)
        self._pending = pending

    def found(self, unchanged: bool, chance: float) -> None:
        """One probe: what it found, and how likely that was thought."""
        self.probes = self.probes * _FADE + 1.0
        self.true = self.true * _FADE + float(unchanged)
        self.expected = self.expected * _FADE + chance
        self.squares = self.squares * _FADE**2 + 1.0

    @property
    def share(self) -> float | None:
        """The share of probed rows that were true; None before the first probe."""
        return self.true / self.probes if self.probes else None

    @property
    def confidence(self) -> float | None:
        """Half the width of the 95 % interval of ``share`` (after Wilson, which is sane at 0 and 1)."""
        if not self.probes:
            return None
        count = self.probes**2 / self.squares
        share = self.true / self.probes
        root = np.sqrt(share * (1 - share) / count + _SURE**2 / (4 * count**2))
        return float(_SURE * root / (1 + _SURE**2 / count))

    def state(self) -> dict[str, Any]:
        """What to keep; probes under way are not."""
        return {name: value for name, value in asdict(self).items() if not name.startswith("_")}
