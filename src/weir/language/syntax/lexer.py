"""A query's text, how a place in it becomes a line, a column and an error, and its tokens.

Tokens are found by one compiled regular expression (SPARQL 1.2 section 19.8, terminals). Code point escapes
(``\\u00e9``) stand in IRIs and strings only, and are resolved with them.

White space and comments are skipped before each token. Quantifiers are possessive and a prefix has at
most 256 characters, so that no input makes the expression backtrack for long. Numbers are unsigned
here: whether a sign belongs to a number depends on what stands before it.
"""

from __future__ import annotations

import re
from enum import IntEnum

from weir.errors import SyntaxError

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Source:
    """The text of a query, and the file it came from."""

    __slots__ = ("file", "text")

    def __init__(self, text: str, file: str | None = None) -> None:
        self.text = " " + text[1:] if text.startswith("\ufeff") else text
        self.file = file
        lone = _SURROGATE.search(self.text)
        if lone is not None:
            raise self.error(lone.start(), f"\\u{ord(lone[0]):04X} is not a character")

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, counted from 1."""
        line, start = 1, 0
        for match in _LINE_END.finditer(self.text, 0, offset):
            line, start = line + 1, match.end()
        return line, offset - start + 1

    def error(self, offset: int, primary: str, hint: str | None = None) -> SyntaxError:
        """The error to raise for something wrong at an offset."""
        line, column = self.place(offset)
        shown = _SURROGATE.sub("\ufffd", _LINE_END.sub("\n", self.text))
        return SyntaxError(primary, line=line, column=column, source=shown, file=self.file, hint=hint)


_BASE = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_MORE = r"0-9\u00B7\u0300-\u036F\u203F-\u2040"
_CHARS = _BASE + "_" + _MORE + r"\-"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_PREFIX = rf"(?:[{_BASE}](?:[{_CHARS}]|\.+(?=[{_CHARS}])){{0,255}}+)?"
_LOCAL = rf"(?:(?:[{_BASE}_0-9:]|{_PLX})(?:[{_CHARS}:]|{_PLX}|\.+(?=[{_CHARS}:%\\]))*+)?"
_UCHAR = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ECHAR = rf"\\[tbnrf\"'\\]|{_UCHAR}"


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
    rf"|(<(?:[^<>\"{{}}|^`\\\x00-\x20]|{_UCHAR})*+>)"
    r"|(a(?![A-Za-z0-9_]))"
    r"|([A-Za-z][A-Za-z0-9_]*+)"
    r"|((?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)[eE][+-]?[0-9]++)"
    r"|([0-9]*\.[0-9]++)"
    r"|([0-9]++)"
    r"|(\^\^|&&|\|\||!=|<=|>=|<<\(|\)>>|<<|>>|\{\||\|\}|[~{}()\[\].;,=<>!*/+|^?-])"
    rf"|(\"(?!\"\")(?:[^\"\\\n\r]|{_ECHAR})*+\"|'(?!'')(?:[^'\\\n\r]|{_ECHAR})*+')"
    rf"|(\"\"\"(?:\"{{0,2}}(?:[^\"\\]|{_ECHAR}))*+\"\"\"|'''(?:'{{0,2}}(?:[^'\\]|{_ECHAR}))*+''')"
    rf"|(_:[{_BASE}_0-9](?:[{_CHARS}]|\.+(?=[{_CHARS}]))*+)"
    r"|(@[A-Za-z]++(?:-[A-Za-z0-9]++)*+(?:--[A-Za-z]++)?)"
    r"|(\Z)"
    r"|(.))",
    re.DOTALL,
)


class Tokens:
    """The tokens of a text as parallel lists; keywords are in upper case in ``texts``.

    The end stands twice, so that one token of lookahead is always there. Offsets are looked up on
    demand: only errors need them.
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
