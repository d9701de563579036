"""What stands in the brackets of a window, in all dialects, with Weir's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

from weir.language.algebra import windows as w
from weir.language.presets import Feature
from weir.language.syntax import durations
from weir.language.syntax.draft import OpenRange, WindowShape, WindowSpec
from weir.language.syntax.expressions import ExpressionParser
from weir.language.syntax.lexer import Kind

_LARGEST_COUNT = 2**31
_REPORTS = {
    "WINDOW": ("CLOSE", "window_close"),
    "CONTENT": ("CHANGE", "content_change"),
    "NON": ("EMPTY", "non_empty"),
}
_Choice = TypeVar("_Choice", bound=Enum)


class WindowParser(ExpressionParser):
    """Reads ``[RANGE …]``, ``[NOW]``, ``[ALL]``, ``[TRIPLES n]``, ``[ELEMENTS n]`` and past windows."""

    unnamed = 0

    def label(self) -> str:
        """A name for a window that the text leaves unnamed."""
        self.unnamed += 1
        return f".{self.unnamed}"

    def window(self) -> WindowSpec:
        at = self.tokens.offset(self.i)
        if self.texts[self.i] != "[":
            raise self.expected("a window in brackets", "for example [RANGE PT10M STEP PT1M]")
        self.i += 1
        shape = self._shape()
        options: dict[str, Any] = {}
        while not self.accept("]"):
            self._option(options)
        return WindowSpec(at, shape, options)

    # The shape

    def _shape(self) -> WindowShape:
        start, word = self.i, self.texts[self.i]
        if word == "RANGE":
            self.i += 1
            if self.texts[self.i] == "TRIPLES":
                self.use(Feature.RANGE_TRIPLES, start)
                self.i += 1
                return w.Triples(self._count())
            self.use(Feature.RANGE, start)
            return self._range(self.duration())
        if word == "NOW":
            self.i += 1
            if self.texts[self.i] == "-":
                self.use(Feature.NOW_MINUS, start)
                return self._relative()
            self.use(Feature.NOW, start)
            return w.Now()
        if word == "ALL":
            self.use(Feature.ALL)
            self.i += 1
            return w.All()
        if word == "TRIPLES" or word == "ELEMENTS":
            self.use(Feature.TRIPLES if word == "TRIPLES" else Feature.ELEMENTS)
            self.i += 1
            count, step = self._count(), None
            if self.texts[self.i] in ("STEP", "SLIDE"):
                self.use(Feature.COUNT_STEP)
                self.i += 1
                step = self._count()
            return (w.Triples if word == "TRIPLES" else w.Elements)(count, step)
        if word == "FROM":
            self.use(Feature.FROM_NOW)
            self.i += 1
            return self._relative(first=True)
        raise self.expected("RANGE, NOW, ALL, TRIPLES, ELEMENTS or FROM NOW-…")

    def _range(self, width: int) -> WindowShape:
        if self.texts[self.i] == "TUMBLING":
            self.use(Feature.TUMBLING)
            self.i += 1
            return w.Range(width, width)
        if self.texts[self.i] == "STEP" and self.texts[self.i + 1] == "MESSAGE":
            self.use(Feature.STEP_MESSAGE)
            self.i += 2
            return w.Range(width)
        return self._stepped(width)

    def _stepped(self, width: int) -> WindowShape:
        step = self._step()
        return OpenRange(width) if step is None else w.Range(width, step)

    def _step(self) -> int | None:
        if self.texts[self.i] not in ("STEP", "SLIDE"):
            return None
        self.use(Feature.STEP if self.texts[self.i] == "STEP" else Feature.SLIDE)
        self.i += 1
        return self.duration()

    def _relative(self, first: bool = False) -> WindowShape:
        """``NOW - 5 S TO NOW - 2 S SLIDE 1 S``; one that reaches to NOW is an ordinary range."""
        begin = self.i
        if first:
            self.expect("NOW")
        self.expect("-")
        start, end = self.duration(), 0
        if first or self.texts[self.i] == "TO":
            self.expect("TO")
            self.expect("NOW")
            if self.accept("-"):
                end = self.duration(zero=True)
        if end >= start:
            raise self.error("a window must begin before it ends", begin)
        if end == 0:
            return self._stepped(start)
        step = self._step()
        return w.Past(start, end, start - end if step is None else step)

    def _count(self) -> int:
        if self.kinds[self.i] != Kind.INTEGER:
            raise self.expected("a count")
        text = self.texts[self.i]
        count = int(text) if len(text) < 12 else _LARGEST_COUNT
        if not 0 < count < _LARGEST_COUNT:
            raise self.error("a count must be at least 1 and less than 2^31")
        self.i += 1
        return count

    def duration(self, zero: bool = False) -> int:
        """A length of time; what each dialect writes is a feature."""
        start = self.i
        length = self._length()
        if length is None:
            raise self.error(
                f"{self.shown(start)} is no length of time that Weir can keep",
                start,
                "lengths are whole microseconds, without months and years: PT10M, 10m, 5s, 500ms",
            )
        if length == 0 and not zero:
            raise self.error("a length of time must be more than nothing", start)
        return length

    def _length(self) -> int | None:
        kind = self.kinds[self.i]
        if kind == Kind.STRING:
            start = self.i
            self.use(Feature.XSD_DURATION)
            lexical = self.literal().lexical
            if durations.XSD_DURATION.fullmatch(lexical) is None:
                raise self.error("not an xsd:duration of days, hours, minutes and seconds", start)
            return durations.from_xsd(lexical)
        if kind == Kind.WORD and self.texts[self.i][0] == "P":
            self.use(Feature.XSD_DURATION)
            match = self.raw(durations.XSD_DURATION)
            return None if match is None else durations.from_xsd(match[0])
        if kind not in (Kind.INTEGER, Kind.DECIMAL):
            raise self.expected("a duration", "for example PT10M, 10m or 500ms")
        start = self.i
        compact = self.raw(durations.COMPACT)
        if compact is not None:
            self.use(Feature.UNIT_DURATION, start)
            return durations.from_units(compact[0])
        return self._spaced(start)

    def _spaced(self, start: int) -> int | None:
        number, unit = self.texts[start], self.texts[start + 1]
        if self.kinds[start + 1] == Kind.WORD and (unit in durations.UNITS or unit == "NS"):
            self.use(Feature.SPACED_DURATION, start)
            self.i += 2
            return durations.from_units(number + unit)
        if self.kinds[start] == Kind.INTEGER and self.may_use(Feature.BARE_DURATION):
            self.use(Feature.BARE_DURATION, start)
            self.i += 1
            return durations.from_units(number + "ms")
        raise self.error(
            f"the duration {number} has no unit", start, f"write {number}s, {number}m or {number}ms"
        )

    # Weir's options

    def _option(self, options: dict[str, Any]) -> None:
        word = self.texts[self.i]
        if word not in _OPTIONS:
            raise self.expected("']' or an option of the window", self._window_slip())
        self.use(Feature.WINDOW_OPTIONS)
        name, read = _OPTIONS[word]
        if name in options:
            raise self.error(f"{word} is given twice")
        self.i += 1
        options[name] = read(self)

    def _window_slip(self) -> str | None:
        if self.kinds[self.i] == Kind.WORD and self.kinds[self.i - 1] in (Kind.INTEGER, Kind.DECIMAL):
            return "units are d, h, m, s, ms"
        return None

    def _starting(self) -> w.Start:
        self.expect("AT")
        start = self.i
        if self.accept("FIRST"):
            return w.AtFirst()
        quoted = self.literal().lexical if self.kinds[start] in (Kind.STRING, Kind.LONG) else None
        match = self.raw(durations.INSTANT) if quoted is None else durations.INSTANT.fullmatch(quoted)
        if match is None and (quoted is None or durations.XSD_DURATION.fullmatch(quoted)):
            self.i = start
            return w.AlignedTo(self.duration())
        moment = None if match is None else durations.from_instant(match[0])
        if moment is None:
            raise self.error(
                "STARTING AT takes an xsd:dateTime, a duration or FIRST",
                start,
                'for example STARTING AT "2015-06-01T00:00:00Z" or STARTING AT PT1H',
            )
        return w.StartAt(moment)

    def _report(self) -> w.Report:
        report = w.Report()
        while True:
            word = self.texts[self.i]
            if word in _REPORTS:
                self.i += 1
                second, name = _REPORTS[word]
                self.expect(second)
                report = replace(report, **{name: True})
            elif word == "PERIODIC":
                self.i += 1
                report = replace(report, periodic=self.duration(), closed=self.accept("CLOSED"))
            else:
                raise self.expected("WINDOW CLOSE, CONTENT CHANGE, NON EMPTY or PERIODIC")
            if not self.accept(","):
                return report

    def _tick(self) -> w.Tick:
        kind = self.choice(w.TickKind, "TUPLE, BATCH, CHANGE or TIME")
        return w.Tick(kind, self.duration() if kind is w.TickKind.TIME else None)

    def _distinct(self) -> bool:
        self.expect("DISTINCT")
        return True

    def choice(self, kind: type[_Choice], what: str) -> _Choice:
        """A word that is a value of an enumeration."""
        try:
            choice = kind(self.texts[self.i])
        except ValueError:
            raise self.expected(what) from None
        self.i += 1
        return choice

    def _bounds(self) -> w.Bounds:
        start = self.i
        if self.kinds[start] == Kind.STRING:
            text = self.string()
        else:
            text = self.texts[start] + self.texts[start + 1]
            self.i += 2
        try:
            return w.Bounds(text)
        except ValueError:
            raise self.error('BOUNDS takes "[)" or "(]"', start) from None


_OPTIONS: dict[str, tuple[str, Callable[[WindowParser], Any]]] = {
    "STARTING": ("start", WindowParser._starting),
    "REPORT": ("report", WindowParser._report),
    "CONTENT": ("content", lambda parser: parser.choice(w.Content, "GRAPH or BAG")),
    "TICK": ("tick", WindowParser._tick),
    "TIMES": ("times_distinct", WindowParser._distinct),
    "LATENESS": ("lateness", lambda parser: parser.duration(zero=True)),
    "AHEAD": ("ahead", WindowParser.duration),
    "BOUNDS": ("bounds", WindowParser._bounds),
}
