"""A query's text, and how a place in it becomes a line, a column and an error.

Code point escapes (``\\u00e9``, SPARQL 1.1 section 19.2) are resolved before anything else reads the
text, so an offset counts in the resolved text; ``Source`` maps it back to what the user wrote.
"""

from __future__ import annotations

import re

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
