"""REGEX and REPLACE: XPath regular expressions (F&O 5.6) in time linear in the input.

Patterns come from strangers, and a backtracking matcher can be made to run for years. So a pattern is
translated into the syntax of Rust's ``regex`` crate (reached through polars), whose automata never
backtrack. Patterns without groups and with at most one quantifier, on short strings, go to Python's
``re``, which is faster for one string and cannot blow up on them. Back-references have no linear
matcher and are an error. The factor of that linear time is the size of the pattern, its counted repetitions
written out: size times length is limited too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from weir.kernel.functions.operators import ExpressionError
from weir.kernel.functions.strings import MAX_LENGTH, like, simple_text, string_literal
from weir.rdf.terms import Literal, Term
from weir.rdf.xsd.values import boolean

MAX_PATTERN = 4_096
MAX_WORK = 1 << 27
"""The greatest product of a pattern's size and the length of a text: some seconds at worst."""
_SHORT = 2_000

_NAME_START = (
    r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}"
    r"\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}"
)
_NAME = _NAME_START + r"\-.0-9\x{B7}\x{0300}-\x{036F}\x{203F}-\x{2040}"
_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "s": r"[ \t\n\r]",
    "S": r"[^ \t\n\r]",
    "w": r"[^\p{P}\p{Z}\p{C}]",
    "W": r"[\p{P}\p{Z}\p{C}]",
    "i": f"[{_NAME_START}]",
    "I": f"[^{_NAME_START}]",
    "c": f"[{_NAME}]",
    "C": f"[^{_NAME}]",
}
_ESCAPED = frozenset("\\|.?*+(){}$-[]^")
_CONTROLS = frozenset("nrt")
_BOUNDS = frozenset("bB")
_REFERENCE = re.compile("(?=[0-9])(0*)([0-9]{0,4})")
_CATEGORY = re.compile(r"\{(\^?[A-Za-z_]+)\}")
_REPEAT = re.compile(r"(?:[*+?]|\{[0-9]{1,4}(?:,[0-9]{0,4})?\})\??")
_PLAIN_CLASS = re.compile(r"\[\^?[A-Za-z0-9_](?:-?[A-Za-z0-9_])*\]")
_QUICK_CLASSES = frozenset("d")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A translated pattern; ``quick`` is its form for ``re`` where that is safe on short strings, ``size``
    about the number of its characters with repetitions written out, ``error`` why it cannot be compiled."""

    linear: str
    groups: int
    quick: re.Pattern[str] | None
    size: int
    error: str | None

    def search(self, text: str) -> bool:
        """Whether any part of the text matches."""
        self._check(text)
        if self.quick is not None and len(text) <= _SHORT and text.isascii():
            return self.quick.search(text) is not None
        return bool(pl.Series([text], dtype=pl.String).str.contains(self.linear)[0])

    def replace(self, text: str, replacement: str) -> str:
        """All matches replaced; refused before it is made where the result could be absurdly long."""
        self._check(text)
        series = pl.Series([text], dtype=pl.String)
        if len(text) * len(replacement) > MAX_LENGTH:
            matches = int(series.str.count_matches(self.linear)[0])
            if matches * len(replacement) + replacement.count("$") * len(text) > 16 * MAX_LENGTH:
                raise ExpressionError("a string of too many characters")
        return str(series.str.replace_all(self.linear, replacement)[0])

    def _check(self, text: str) -> None:
        if self.error is not None:
            raise ExpressionError(f"bad regular expression: {self.error}")
        if self.size * len(text) > MAX_WORK:
            raise ExpressionError("a regular expression too large for a text of this length")


def _compiled(linear: str, groups: int, quick: re.Pattern[str] | None, size: int) -> Pattern:
    """The pattern, compiled once to see whether it can be: what cannot is refused without a second try."""
    try:
        pl.Series([""], dtype=pl.String).str.contains(linear)
    except pl.exceptions.PolarsError as error:
        return Pattern(linear, groups, None, size, str(error))
    return Pattern(linear, groups, quick, size, None)


def regex(text: Term, pattern: Term, flags: Term | None = None) -> Literal:
    """REGEX (17.4.3.14): whether any part of the text matches."""
    source = string_literal(text)
    compiled = translate(simple_text(pattern), _mode(flags))
    return boolean(compiled.search(source.lexical))


def replace(text: Term, pattern: Term, replacement: Term, flags: Term | None = None) -> Literal:
    """REPLACE (17.4.3.15): an error where the pattern matches the empty string (FORX0003)."""
    source = string_literal(text)
    mode = _mode(flags)
    compiled = translate(simple_text(pattern), mode)
    if compiled.search(""):
        raise ExpressionError("the pattern of REPLACE matches the empty string")
    template = _template(simple_text(replacement), compiled.groups, literal="q" in mode)
    return like(source, compiled.replace(source.lexical, template))


def _mode(flags: Term | None) -> str:
    """The flags, each once: what is remembered of a pattern stays small."""
    return "" if flags is None else "".join(sorted(set(simple_text(flags))))


def _template(replacement: str, groups: int, *, literal: bool) -> str:
    """XPath's replacement string in the crate's syntax: ``$N`` is a group, ``\\$`` and ``\\\\`` stand for
    themselves. Of ``$12`` only as many digits count as there are groups; one digit of no group is nothing."""
    if literal:
        return replacement.replace("$", "$$")
    out: list[str] = []
    place = 0
    while place < len(replacement):
        char = replacement[place]
        place += 1
        if char == "\\":
            if replacement[place : place + 1] not in ("\\", "$"):
                raise ExpressionError("a backslash in a replacement must precede a backslash or a dollar")
            out.append("$$" if replacement[place] == "$" else "\\")
            place += 1
        elif char == "$":
            digits = _REFERENCE.match(replacement, place)
            if digits is None:
                raise ExpressionError("a dollar in a replacement must precede a digit")
            zeros, number = digits.groups()
            while int(number or 0) > max(groups, 9):
                number = number[:-1]
            place += len(zeros) + len(number)
            out.append(f"${{{int(number or 0)}}}" if int(number or 0) <= groups else "")
        else:
            out.append(char)
    return "".join(out)


@lru_cache(maxsize=1_024)
def translate(pattern: str, flags: str = "") -> Pattern:
    """An XPath pattern and its flags (s, m, i, x, q) as a linear-time one; an error where it is none."""
    if len(pattern) > MAX_PATTERN:
        raise ExpressionError("a regular expression of too many characters")
    if set(flags) - set("smixq"):
        raise ExpressionError(f"unknown flags of a regular expression: {flags}")
    if "q" in flags:
        body, groups = re.escape(pattern), 0
        quick = re.compile(body, re.IGNORECASE if "i" in flags else 0) if pattern.isascii() else None
        mode = "(?i)" if "i" in flags else ""
        return _compiled(mode + _rust_escape(pattern), groups, quick, len(pattern))
    translator = _Translator(_without_space(pattern) if "x" in flags else pattern)
    body = translator.run()
    mode = "".join(flag for flag in "smi" if flag in flags)
    linear = f"(?{mode}){body}" if mode else body
    return _compiled(linear, translator.groups, translator.quick(mode), translator.size)


def _times(repeat: str) -> int:
    """How often a quantifier writes out what it repeats: ``{2,5}`` five times, ``{2,}`` three, ``*`` once."""
    low, comma, high = repeat.rstrip("?").strip("{}").partition(",")
    return int(high or (int(low) + len(comma) if low.isdigit() else 1)) or 1


def _rust_escape(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$#&\-~])", r"\\\1", text)


def _without_space(pattern: str) -> str:
    """Flag x: white space goes, except in character classes."""
    out: list[str] = []
    depth, escaped = 0, False
    for char in pattern:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "[":
            depth += 1
        elif char == "]":
            depth = max(depth - 1, 0)
        elif depth == 0 and char in " \t\n\r":
            continue
        out.append(char)
    return "".join(out)


class _Translator:
    """One pass over an XPath pattern; refuses what XPath does not have."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.groups = 0
        self.quantifiers = 0
        self.simple = True
        self._open: list[int] = []
        self._before = self.size = 0

    def run(self) -> str:
        out: list[str] = []
        while self.place < len(self.pattern):
            before = self.size
            out.append(self._atom())
            if out[-1] in ("(", "(?:"):
                self._open.append(before)
            elif out[-1] == ")" and self._open:
                self._before = self._open.pop()
            elif self.size == before:
                self._before = before
                self.size += 1
        return "".join(out)

    def quick(self, mode: str) -> re.Pattern[str] | None:
        """The pattern for ``re``, if it has no groups, no Unicode classes and at most one quantifier."""
        if not self.simple or self.groups or self.quantifiers > 1 or not self.pattern.isascii():
            return None
        if "$" in self.pattern or "m" in mode:
            return None
        flags = (re.DOTALL if "s" in mode else 0) | (re.IGNORECASE if "i" in mode else 0)
        try:
            return re.compile(self.pattern, flags | re.ASCII)
        except re.error:
            return None

    def _take(self) -> str:
        if self.place >= len(self.pattern):
            raise ExpressionError("a regular expression ends too early")
        self.place += 1
        return self.pattern[self.place - 1]

    def _atom(self) -> str:
        char = self._take()
        if char == "\\":
            return self._escape()
        if char == "[":
            self.simple = self.simple and bool(_PLAIN_CLASS.match(self.pattern, self.place - 1))
            return self._class()
        if char == "(":
            if self.pattern.startswith("?:", self.place):
                self.place += 2
                self.simple = False
                return "(?:"
            if self.pattern.startswith("?", self.place):
                raise ExpressionError("XPath has no (? in a regular expression but (?:")
            self.groups += 1
            return "("
        if char in "*+?{":
            return self._quantifier()
        if char in "}]":
            raise ExpressionError(f"an unescaped {char} in a regular expression")
        return "\\" + char if char in "#&-~" else char

    def _quantifier(self) -> str:
        """One of ``* + ? {m,n}`` and perhaps the ``?`` of reluctance; it needs something to repeat."""
        repeat = _REPEAT.match(self.pattern, self.place - 1)
        if (
            repeat is None
            or self.place == 1
            or (self.pattern[self.place - 2] in "|(^" and not self._escaped())
        ):
            raise ExpressionError("bad repetition in a regular expression")
        self.place = repeat.end()
        self.quantifiers += 1
        self.size += (self.size - self._before) * (_times(repeat.group()) - 1)
        if self.pattern[self.place : self.place + 1] in ("*", "+", "{"):
            raise ExpressionError("a repetition of a repetition in a regular expression")
        return repeat.group()

    def _escaped(self) -> bool:
        """Whether the character before the present one is escaped."""
        before = self.pattern[: self.place - 2]
        return (len(before) - len(before.rstrip("\\"))) % 2 == 1

    def _escape(self) -> str:
        char = self._take()
        if char in _CLASSES:
            self.simple = self.simple and char in _QUICK_CLASSES
            return _CLASSES[char]
        if char in "pP":
            self.simple = False
            category = _CATEGORY.match(self.pattern, self.place)
            if category is None:
                raise ExpressionError("bad Unicode category in a regular expression")
            self.place = category.end()
            return f"\\{char}{{{category.group(1)}}}"
        if char in _BOUNDS:
            self.simple = False
            return "\\" + char
        if char in _ESCAPED or char in _CONTROLS:
            return "\\" + char
        raise ExpressionError(f"\\{char} in a regular expression is not supported")

    def _class(self) -> str:
        """A bracket expression; ``[a-z-[aeiou]]`` is XPath's subtraction, ``--`` the crate's."""
        out = ["["]
        if self.pattern.startswith("^", self.place):
            out.append("^")
            self.place += 1
        empty = True
        while True:
            char = self._take()
            if char == "]":
                if empty:
                    raise ExpressionError("an empty character class in a regular expression")
                out.append("]")
                return "".join(out)
            if char == "-" and self.pattern.startswith("[", self.place):
                self.place += 1
                out.append("--" + self._class())
                if self._take() != "]":
                    raise ExpressionError("a subtraction must end its character class")
                out.append("]")
                return "".join(out)
            empty = False
            if char == "\\":
                out.append(self._escape())
            elif char == "[":
                raise ExpressionError("an unescaped [ in a character class")
            elif char == "-" and (out[-1] in ("[", "^") or self.pattern.startswith("]", self.place)):
                out.append("\\-")
            else:
                out.append("\\" + char if char in "&~^#" else char)
