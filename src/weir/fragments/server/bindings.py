"""Bindings-restricted patterns (brTPF): the ``values`` of a request in SPARQL's VALUES syntax.

``(?s ?o) { (<a> "x"@en) (UNDEF <b>) }`` restricts a pattern whose places name those variables: a quad
matches where it matches the pattern with some row filled in (Hartig & Buil-Aranda, section 3).
"""

from __future__ import annotations

import re

from weir.errors import UsageError
from weir.fragments.server.index import Bound
from weir.rdf.terms import Literal, Variable

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<mark>[(){}])
      | (?P<variable>[?$][^\s(){}?$<>"]+)
      | (?P<undef>UNDEF)\b
      | (?P<iri><[^\x00-\x20<>"{}|^`\\]*>)
      | (?P<blank>_:[^\s(){}]+)
      | "(?P<lexical>(?:[^"\\\n\r]|\\.)*)"(?:@(?P<tag>[A-Za-z]+(?:-[A-Za-z0-9]+)*)|\^\^<(?P<type>[^<>"\s]+)>)?
      | (?P<number>[+-]?\d+)(?=[\s)}])
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_XSD_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"

Row = dict[str, str]


def parse_values(text: str, most: int) -> list[Row]:
    """The rows of a VALUES clause without its keyword, each as texts by variable name."""
    tokens = _Tokens(text)
    names: list[str] = []
    several = tokens.next() == "("
    if not several:
        tokens.back()
    while tokens.peek_variable():
        names.append(tokens.next()[1:])
        if not several:
            break
    if several:
        tokens.expect(")")
    if not names:
        raise UsageError("the values name no variable")
    tokens.expect("{")
    rows: list[Row] = []
    while (token := tokens.next()) != "}":
        if several:
            if token != "(":
                raise UsageError(f"expected '(' in the values, found {token!r}")
            cells = [tokens.next() for _ in names]
            tokens.expect(")")
        else:
            cells = [token]
        if any(cell in ("(", ")", "{", "}") or cell[0] in "?$" for cell in cells):
            raise UsageError("a row of the values has the wrong number of terms")
        rows.append({name: cell for name, cell in zip(names, cells, strict=True) if cell != "UNDEF"})
        if len(rows) > most:
            raise UsageError(f"more than {most} bindings in one request")
    tokens.finish()
    return rows


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.at = self.last = 0

    def next(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise UsageError("malformed values", detail=f"at character {self.at + 1}")
        self.last, self.at = self.at, match.end()
        if match["lexical"] is not None:
            lexical = _ESCAPE.sub(_unescape, match["lexical"])
            if match["tag"]:
                return str(Literal.tagged(lexical, match["tag"]))
            return str(Literal(lexical, match["type"])) if match["type"] else str(Literal(lexical))
        if match["number"]:
            return str(Literal(match["number"], _XSD_INTEGER))
        return match[0].strip()

    def back(self) -> None:
        self.at = self.last

    def peek_variable(self) -> bool:
        match = _TOKEN.match(self.text, self.at)
        return match is not None and match["variable"] is not None

    def expect(self, mark: str) -> None:
        found = self.next()
        if found != mark:
            raise UsageError(f"expected {mark!r} in the values, found {found!r}")

    def finish(self) -> None:
        if self.at != len(self.text):
            raise UsageError("malformed values", detail=f"text after the end, at character {self.at + 1}")


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "uU" and len(code) > 1:
        try:
            return chr(int(code[1:], 16))
        except (ValueError, OverflowError):
            raise UsageError(f"no such character: \\{code}") from None
    if code not in _ESCAPES:
        raise UsageError(f"unknown escape in the values: \\{code}")
    return _ESCAPES[code]


Place = str | Variable | None


def restrict(places: tuple[Place, Place, Place, Place], rows: list[Row]) -> tuple[list[Bound], bool]:
    """The distinct patterns that rows make of one, without those that another takes in.

    The second part says whether two of them may still match the same quad.
    """
    made: dict[Bound, None] = {}
    for row in rows:
        s, p, o, g = (row.get(place.name) if isinstance(place, Variable) else place for place in places)
        made[(s, p, o, g)] = None
    shapes = {tuple(text is None for text in pattern) for pattern in made}
    if len(shapes) == 1:
        return list(made), False
    kept = [
        pattern for pattern in made if not any(other != pattern and _covers(other, pattern) for other in made)
    ]
    return kept, len({tuple(text is None for text in pattern) for pattern in kept}) > 1


def _covers(general: Bound, special: Bound) -> bool:
    return all(wide is None or wide == narrow for wide, narrow in zip(general, special, strict=True))
