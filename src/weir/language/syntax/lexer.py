"""A query's text, how a place in it becomes a line, a column and an error, and its tokens.

Code point escapes (``\\u00e9``, SPARQL 1.1 section 19.2) are resolved before anything else reads the
text, so an offset counts in the resolved text; ``Source`` maps it back to what the user wrote.

Tokens are found by one compiled regular expression (SPARQL 1.1 section 19.8, terminals).

White space and comments are skipped before each token. Quantifiers are possessive and a prefix has at
most 256 characters, so that no input makes the expression backtrack for long. Numbers are unsigned
here: whether a sign belongs to a number depends on what stands before it.
"""

from __future__ import annotations

import re
from enum import IntEnum

from weir.errors import SyntaxError

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Source:
    """``written`` is the user's text, ``text`` the same with code point escapes resolved."""

    __slots__ = ("_shifts", "file", "text", "written")

    def __init__(self, written: str, file: str | None = None) -> None:
        if written.startswith("\ufeff"):
            written = " " + written[1:]
        self.written = written
        self.file = file
        self._shifts: list[tuple[int, int]] = []
        lone = _SURROGATE.search(written)
        if lone is not None:
            raise self._error_at(lone.start(), f"\\u{ord(lone[0]):04X} is not a character", None)
        self.text = self._resolve() if "\\u" in written or "\\U" in written else written

    def _resolve(self) -> str:
        parts: list[str] = []
        done = length = 0
        for match in _ESCAPE.finditer(self.written):
            digits = match[1] or match[2]
            if digits is None:
                continue
            code = int(digits, 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise self._error_at(match.start(), f"\\u{digits} is not a character", None)
            kept = self.written[done : match.start()]
            parts += (kept, chr(code))
            length += len(kept) + 1
            done = match.end()
            self._shifts.append((length, done - length))
        parts.append(self.written[done:])
        return "".join(parts)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in ``text``, counted from 1 in the text as written."""
        return self._place_written(self._written_offset(offset))

    def _written_offset(self, offset: int) -> int:
        shift = 0
        for start, moved in self._shifts:
            if offset >= start:
                shift = moved
        return offset + shift

    def _place_written(self, offset: int) -> tuple[int, int]:
        line, start = 1, 0
        for match in _LINE_END.finditer(self.written, 0, offset):
            line, start = line + 1, match.end()
        return line, offset - start + 1

    def _error_at(self, offset: int, primary: str, hint: str | None) -> SyntaxError:
        line, column = self._place_written(offset)
        shown = _SURROGATE.sub("\ufffd", _LINE_END.sub("\n", self.written))
        return SyntaxError(primary, line=line, column=column, source=shown, file=self.file, hint=hint)

    def error(self, offset: int, primary: str, hint: str | None = None) -> SyntaxError:
        """The error to raise for something wrong at an offset in ``text``."""
        return self._error_at(self._written_offset(offset), primary, hint)


_BASE = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_MORE = r"0-9\u00B7\u0300-\u036F\u203F-\u2040"
_CHARS = _BASE + "_" + _MORE + r"\-"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_PREFIX = rf"(?:[{_BASE}](?:[{_CHARS}]|\.+(?=[{_CHARS}])){{0,255}}+)?"
_LOCAL = rf"(?:(?:[{_BASE}_0-9:]|{_PLX})(?:[{_CHARS}:]|{_PLX}|\.+(?=[{_CHARS}:%\\]))*+)?"
_ECHAR = r"\\[tbnrf\"'\\]"


class Kind(IntEnum):
    """Token kinds; the number is the group of the expression that matched."""

    VARIABLE = 1
    PREFIXED = 2
    IRI = 3
    A = 4
    WORD = 5
    DOUBLE = 6
    DECIMAL = 7
    INTEGER = 8
    MARK = 9
    STRING = 10
    LONG = 11
    BLANK = 12
    LANGUAGE = 13
    END = 14
    BAD = 15


_TOKEN = re.compile(
    r"(?:[ \t\r\n]++|\#[^\r\n]*+)*+(?:"
    rf"([?$][{_BASE}_0-9][{_BASE}_{_MORE}]*+)"
    rf"|({_PREFIX}:{_LOCAL})"
    r"|(<[^<>\"{}|^`\\\x00-\x20]*+>)"
    r"|(a(?![A-Za-z0-9_]))"
    r"|([A-Za-z][A-Za-z0-9_]*+)"
    r"|((?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[eE][+-]?[0-9]++)"
    r"|([0-9]*\.[0-9]++)"
    r"|([0-9]++)"
    r"|(\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,=<>!*/+|^?-])"
    rf"|(\"(?!\"\")(?:[^\"\\\n\r]|{_ECHAR})*+\"|'(?!'')(?:[^'\\\n\r]|{_ECHAR})*+')"
    rf"|(\"\"\"(?:\"{{0,2}}(?:[^\"\\]|{_ECHAR}))*+\"\"\"|'''(?:'{{0,2}}(?:[^'\\]|{_ECHAR}))*+''')"
    rf"|(_:[{_BASE}_0-9](?:[{_CHARS}]|\.+(?=[{_CHARS}]))*+)"
    r"|(@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)"
    r"|(\Z)"
    r"|(.))",
    re.DOTALL,
)


class Tokens:
    """The tokens of a text as parallel lists; keywords are in upper case in ``texts``.

    The end stands twice, so that one token of lookahead is always there. Offsets are looked up on
    demand: only errors and the tree's positions need them.
    """

    __slots__ = ("_matches", "kinds", "source", "texts")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._matches = matches = list(_TOKEN.finditer(source.text))
        matches.append(matches[-1])
        kinds = [match.lastindex or 0 for match in matches]
        self.kinds = kinds
        self.texts = [
            match[kind].upper() if kind == 5 else match[kind]
            for match, kind in zip(matches, kinds, strict=True)
        ]

    def offset(self, index: int) -> int:
        """Where a token starts."""
        return self._matches[index].start(self.kinds[index])

    def end(self, index: int) -> int:
        """Where a token ends."""
        return self._matches[index].end()

    def written(self, index: int) -> str:
        """A token as the user wrote it."""
        return self._matches[index][self.kinds[index]]
