"""Plots as SVG: the same figures give the same text, so that a test can tell whether a plot is current."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

Value = float | None
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f")
_WIDTH, _HEIGHT = 720, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 190, 34, 62


@dataclass(frozen=True, slots=True)
class Plot:
    """Series over ``x``, which are numbers or names; ``spread`` gives the least and most of each value."""

    title: str
    x: Sequence[str | float]
    series: Mapping[str, Sequence[Value]]
    y_label: str
    x_label: str = ""
    log_x: bool = False
    log_y: bool = False
    spread: Mapping[str, Sequence[tuple[float, float] | None]] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether ``x`` are names, which are not joined by lines."""
        return any(isinstance(value, str) for value in self.x)

    def svg(self) -> str:
        """The whole picture; without a value there is none to draw."""
        xs = [float(number) for number in range(len(self.x))] if self.named else [float(v) for v in self.x]
        ys = [v for values in self.series.values() for v in values if v is not None]
        ys += [end for each in self.spread.values() for pair in each if pair is not None for end in pair]
        across = _Axis(xs, self.log_x and not self.named, _LEFT, _WIDTH - _RIGHT, pad=self.named)
        up = _Axis(ys if self.log_y else [0.0, *ys], self.log_y, _HEIGHT - _BOTTOM, _TOP)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            ' font-family="sans-serif" font-size="11">',
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            _text(_LEFT, 20, self.title, size=13),
            *self._frame(across, up, xs),
        ]
        for number, (label, values) in enumerate(self.series.items()):
            colour = COLOURS[number % len(COLOURS)]
            parts += self._line(across, up, xs, values, self.spread.get(label, ()), colour)
            height = _TOP + 8 + 17 * number
            parts.append(f'<circle cx="{_WIDTH - _RIGHT + 16}" cy="{height - 4}" r="4" fill="{colour}"/>')
            parts.append(_text(_WIDTH - _RIGHT + 26, height, label))
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _frame(self, across: _Axis, up: _Axis, xs: Sequence[float]) -> list[str]:
        low, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts = [f'<path d="M{_LEFT} {_TOP}V{low}H{right}" fill="none" stroke="#444"/>']
        for tick in up.ticks():
            y = up.at(tick)
            parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
            parts.append(_text(_LEFT - 6, y + 4, short(tick), anchor="end"))
        if self.named:
            marks = [(across.at(x), str(name)) for x, name in zip(xs, self.x, strict=True)]
        else:
            marks = [(across.at(tick), short(tick)) for tick in across.ticks()]
        slanted = self.named and max((len(name) for _, name in marks), default=0) > 60 // max(len(marks), 1)
        for x, name in marks:
            turn = f' transform="rotate(-30 {x:.1f} {low + 16})"' if slanted else ""
            parts.append(_text(x, low + 16, name, anchor="end" if slanted else "middle", more=turn))
        if self.x_label:
            parts.append(_text((_LEFT + right) / 2, _HEIGHT - 8, self.x_label, anchor="middle"))
        middle = (_TOP + low) / 2
        turn = f' transform="rotate(-90 16 {middle:.1f})"'
        return [*parts, _text(16, middle, self.y_label, anchor="middle", more=turn)]

    def _line(
        self,
        across: _Axis,
        up: _Axis,
        xs: Sequence[float],
        values: Sequence[Value],
        spread: Sequence[tuple[float, float] | None],
        colour: str,
    ) -> list[str]:
        points = [
            (across.at(x), up.at(value))
            for x, value in zip(xs, values, strict=True)
            if value is not None and up.shows(value)
        ]
        parts = []
        if not self.named and len(points) > 1:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for x, pair in zip(xs, spread, strict=False):
            if pair is not None and all(up.shows(end) for end in pair):
                ends = f"M{across.at(x):.1f} {up.at(pair[0]):.1f}V{up.at(pair[1]):.1f}"
                parts.append(f'<path d="{ends}" stroke="{colour}"/>')
        return parts + [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points]


class _Axis:
    """Where a value stands between two ends, by its size or by its logarithm."""

    def __init__(
        self, values: Sequence[float], log: bool, start: float, end: float, *, pad: bool = False
    ) -> None:
        self._log, self._start, self._end = log, start, end
        shown = [value for value in values if not log or value > 0] or [1.0]
        low, high = min(shown), max(shown)
        if log:
            low, high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        elif pad:
            low, high = low - 0.5, high + 0.5
        else:
            step = _step(high - low)
            low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        self._low, self._high = low, high if high > low else low + 1

    def shows(self, value: float) -> bool:
        return value > 0 or not self._log

    def at(self, value: float) -> float:
        place = math.log10(value) if self._log else value
        return self._start + (place - self._low) / (self._high - self._low) * (self._end - self._start)

    def ticks(self) -> list[float]:
        if self._log:
            every = max(1, round((self._high - self._low) / 8))
            return [10.0**power for power in range(int(self._low), int(self._high) + 1, every)]
        step = _step(self._high - self._low)
        first = math.ceil(self._low / step)
        return [number * step for number in range(first, math.floor(self._high / step + 1e-9) + 1)]


def _step(width: float) -> float:
    """A round step that cuts ``width`` into about five parts."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width / 5))
    return next(power * each for each in (1, 2, 5, 10) if width / (power * each) <= 6)


def short(value: float) -> str:
    """A number with the letters k, M, G where it is large."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 11, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"{more}>{escape(text)}</text>'
    )
