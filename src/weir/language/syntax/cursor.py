"""A place in the tokens, what the grammar expects there, and which dialects the text still fits.

The parser is one superset grammar. A construct that some dialects lack is announced with ``use``, which
narrows the candidates; a construct that leaves none is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from weir.errors import SyntaxError
from weir.language.algebra.query import Dialect
from weir.language.presets import PRESETS, Feature, Preset
from weir.language.syntax.lexer import Kind, Tokens

BRACKETS = 100
"""Brackets of all kinds, one within another."""

CHAIN = 150
"""Operators in one chain whose tree leans to one side: paths, sums, the patterns of a group."""

_BITS = {dialect: 1 << place for place, dialect in enumerate(PRESETS)}
_MASKS = {feature: sum(_BITS[dialect] for dialect in feature.dialects) for feature in Feature}
_EVERY = sum(_BITS.values())

_KEYWORDS = (
    "AFTER", "AHEAD", "ALL", "AS", "ASC", "ASK", "AT", "BASE", "BIND", "BOUNDS", "BY", "CHANGE", "CLOSE",
    "COMPUTED", "CONSTRUCT", "CONTENT", "COUNT", "DESC", "DESCRIBE", "DISTINCT", "DSTREAM", "ELEMENTS",
    "EMIT", "EMPTY", "EVERY", "EXISTS", "FILTER", "FROM", "GRAPH", "GROUP", "HAVING", "ISTREAM",
    "LATENESS", "LIMIT", "MINUS", "NAMED", "NOT", "NOW", "OFFSET", "ON", "OPTIONAL", "ORDER", "PERIODIC",
    "PREFIX", "PREVIOUS", "QUERY", "RANGE", "REDUCED", "REGISTER", "REPORT", "RSTREAM", "SELECT",
    "SERVICE", "SILENT", "SLIDE", "STARTING", "STEP", "STREAM", "TICK", "TRIPLES", "TUMBLING", "UNDEF",
    "UNION", "VALUES", "WHERE", "WINDOW",
)  # fmt: skip


def _titles(presets: Iterable[Preset]) -> str:
    return " or ".join(preset.title for preset in presets)


class Cursor:
    """Reads ``tokens`` from left to right; ``i`` is the place."""

    def __init__(self, tokens: Tokens, dialect: Dialect | None) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.i = 0
        self.depth = 0
        self.explicit = dialect
        self.candidates = _EVERY if dialect is None else _BITS[dialect]
        self.used: list[tuple[Feature, int]] = []

    # Dialects

    def use(self, feature: Feature, index: int | None = None) -> None:
        """Note a construct that only some dialects have."""
        index = self.i if index is None else index
        left = self.candidates & _MASKS[feature]
        if not left:
            self._refuse(feature, index)
        self.candidates = left
        self.used.append((feature, index))

    def may_use(self, feature: Feature) -> bool:
        """Whether a construct leaves a dialect that the text fits."""
        return bool(self.candidates & _MASKS[feature])

    def _refuse(self, feature: Feature, index: int) -> None:
        owners = _titles(PRESETS[dialect] for dialect in feature.dialects)
        if self.explicit is not None:
            title = PRESETS[self.explicit].title
            named = feature.title.removeprefix("a ").removeprefix("an ")
            raise self.error(f"{title} has no {named}", index, f"it is {owners}")
        fits = _titles(self.presets)
        first, place = next((f, p) for f, p in self.used if _MASKS[f] != _EVERY)
        hint = (
            f"it is {fits} by {first.title} on line {self._line(place)}; one query is written in one dialect"
        )
        if first is Feature.BARE_AGGREGATE:
            hint = f"{hint}; outside CQELS-QL write ({self.tokens.written(place)}(…) AS ?name)"
        raise self.error(f"{feature.title} is {owners}, but this query is {fits}", index, hint)

    @property
    def presets(self) -> tuple[Preset, ...]:
        """The dialects that the text fits so far."""
        return tuple(preset for dialect, preset in PRESETS.items() if _BITS[dialect] & self.candidates)

    # Errors

    def error(self, primary: str, index: int | None = None, hint: str | None = None) -> SyntaxError:
        """An error at a token, by default the present one."""
        index = self.i if index is None else index
        return self.tokens.source.error(self.tokens.offset(index), primary, hint)

    def shown(self, index: int) -> str:
        """A token as an error names it."""
        if self.kinds[index] == Kind.END:
            return "the end of the query"
        text = self.tokens.written(index)
        return f"'{text if len(text) <= 40 else text[:37] + '...'}'"

    def expected(self, what: str, hint: str | None = None) -> SyntaxError:
        """An error that says what should stand at the present token."""
        return self.error(f"expected {what}, found {self.shown(self.i)}", None, hint or self._slip())

    def _slip(self) -> str | None:
        """A hint for what commonly goes wrong at a token that does not fit."""
        kind, text = self.kinds[self.i], self.texts[self.i]
        if kind == Kind.BAD:
            if text in "\"'":
                return "the string is not closed on its line; use three quotes for a string of several lines"
            if text in "`“”‘’":
                return 'strings stand in straight quotes: "…"'
            return None
        if text == "<":
            return "an IRI in <…> may hold no spaces, quotes or braces"
        if kind == Kind.END:
            opened = self._open_bracket()
            if opened is not None:
                return f"the '{self.texts[opened]}' on line {self._line(opened)} is not closed"
        if kind == Kind.WORD:
            near = get_close_matches(text, _KEYWORDS, 1, 0.75)
            if near and near[0] != text:
                return f"did you mean {near[0]}?"
            if text not in _KEYWORDS:
                word = self.tokens.written(self.i)
                return f"a variable is written ?{word}, a name with its prefix (:{word}) or as <{word}>"
        return None

    def _line(self, index: int) -> int:
        return self.tokens.source.place(self.tokens.offset(index))[0]

    def _open_bracket(self) -> int | None:
        """The innermost bracket open at the end of the text."""
        stack: list[int] = []
        for index, (kind, text) in enumerate(zip(self.kinds, self.texts, strict=True)):
            if kind == Kind.MARK and text in "{([":
                stack.append(index)
            elif kind == Kind.MARK and text in "})]" and stack:
                stack.pop()
        return stack[-1] if stack else None

    # Reading

    def expect(self, text: str, what: str | None = None) -> None:
        """Pass one mark or keyword; ``what`` names all that may stand there."""
        if self.texts[self.i] != text:
            raise self.expected(what or (text if text.isalpha() else f"'{text}'"))
        self.i += 1

    def accept(self, text: str) -> bool:
        """Pass one mark or keyword if it is there."""
        if self.texts[self.i] == text:
            self.i += 1
            return True
        return False

    def raw(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match the text itself at the present token, and pass the tokens that the match covers."""
        match = pattern.match(self.tokens.source.text, self.tokens.offset(self.i))
        if match is None:
            return None
        while self.kinds[self.i] != Kind.END and self.tokens.offset(self.i) < match.end():
            self.i += 1
        return match

    def enter(self, mark: str) -> None:
        """Pass a bracket that opens."""
        self.expect(mark)
        self.depth += 1
        if self.depth > BRACKETS:
            raise self.error(f"brackets nest more than {BRACKETS} deep", self.i - 1)

    def leave(self, mark: str, what: str | None = None) -> None:
        """Pass the bracket that closes; ``what`` names all that may stand there."""
        self.expect(mark, what)
        self.depth -= 1

    def bounded(self, length: int, what: str, at: int | None = None) -> None:
        """Refuse chains too long to be handled as a tree."""
        if length > CHAIN:
            raise self.error(f"more than {CHAIN} {what}", at)
