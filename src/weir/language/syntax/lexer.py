"""Text → tokens by one compiled regular expression (SPARQL 1.1 section 19.8, terminals).

White space and comments are skipped before each token. Quantifiers are possessive and a prefix has at
most 256 characters, so that no input makes the expression backtrack for long. Numbers are unsigned
here: whether a sign belongs to a number depends on what stands before it.
"""

from __future__ import annotations

import re
from enum import IntEnum

from weir.language.syntax.source import Source

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
