"""Rows of different engines made comparable: multisets of rows whose terms are compared by value.

Numbers are compared by value, because stores normalise them, and those with fractions to some digits, because
sums may be added up in another order, and divisions end somewhere. Blank nodes keep their names: who compares
rows with them looks around them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

_XSD = "http://www.w3.org/2001/XMLSchema#"
_ROUNDED = frozenset({_XSD + "double", _XSD + "float", _XSD + "decimal"})
BLANK = "blank node"
DIGITS = 12
"""Significant digits of a number with a fraction that are compared."""

Cell = tuple[str, Hashable]
Row = tuple[tuple[str, Cell], ...]
Rows = Counter[Row]


def cell_of(term: Mapping[str, Any]) -> Cell:
    """A term in SPARQL's JSON; a literal without a datatype is a string."""
    if term["type"] == "uri":
        return "uri", term["value"]
    if term["type"] == "bnode":
        return BLANK, term["value"]
    return literal(term["value"], term.get("datatype", _XSD + "string"), term.get("xml:lang"))


def literal(text: str, datatype: str, language: str | None) -> Cell:
    """A literal by its value where it has one that is compared."""
    try:
        if datatype in _ROUNDED:
            return datatype, f"{float(text):.{DIGITS}g}"
        if datatype == _XSD + "integer":
            return datatype, int(text)
    except ValueError:
        pass
    return datatype, (text, language)


def row_of(bindings: Mapping[str, Mapping[str, Any]]) -> Row:
    """A row; the order in which an engine names its variables says nothing."""
    return tuple((name, cell_of(bindings[name])) for name in sorted(bindings))


def rows_of(lines: Iterable[bytes | str]) -> Rows:
    """All rows of result lines, whenever they came."""
    return Counter(row_of(json.loads(line)["bindings"]) for line in lines)


def difference(due: Rows, came: Rows) -> str | None:
    """What is missing and what is too much, with an example; None where nothing is."""
    missing, extra = due - came, came - due
    if not missing and not extra:
        return None
    shown = next(iter(missing or extra))
    return f"{missing.total()} rows missing, {extra.total()} too many, for example {shown}"
