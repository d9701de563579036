"""XSD values: from a literal to the value it denotes (XML Schema 1.1 Datatypes; SPARQL 1.1 section 17.1).

``value_of`` gives None for every literal whose datatype Weir does not know or whose lexical form is
ill-typed: such a literal is a term and nothing more. Equal values need not be equal terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from weir.rdf.terms import XSD, XSD_STRING, Literal
from weir.rdf.xsd.durations import DURATION_TYPES, Duration, parse_duration
from weir.rdf.xsd.moments import MOMENT_TYPES, Moment, parse_moment
from weir.rdf.xsd.numbers import NUMERIC_TYPES, Number, parse_number

XSD_BOOLEAN = XSD + "boolean"


@dataclass(frozen=True, slots=True)
class Text:
    """The value of a simple literal (``xsd:string``)."""

    value: str


@dataclass(frozen=True, slots=True)
class TaggedText:
    """The value of a language-tagged string; ``direction`` is empty where it has none."""

    value: str
    language: str
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Boolean:
    """The value of an ``xsd:boolean``."""

    value: bool


Value: TypeAlias = Text | TaggedText | Boolean | Number | Moment | Duration

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

TRUE = Literal("true", XSD_BOOLEAN)
FALSE = Literal("false", XSD_BOOLEAN)


def boolean(value: bool) -> Literal:
    """The canonical literal of a truth value."""
    return TRUE if value else FALSE


def parse_boolean(lexical: str) -> bool | None:
    """The truth value of an ``xsd:boolean`` form, None where it is none."""
    return _BOOLEANS.get(lexical)


@lru_cache(maxsize=65_536)
def value_of(literal: Literal) -> Value | None:
    """The value a literal denotes; None if its datatype is unknown or its form ill-typed."""
    datatype = literal.datatype
    if datatype == XSD_STRING:
        return Text(literal.lexical)
    if literal.language is not None:
        return TaggedText(literal.lexical, literal.language, literal.direction or "")
    if datatype in NUMERIC_TYPES:
        return parse_number(literal.lexical, datatype)
    if datatype == XSD_BOOLEAN:
        known = _BOOLEANS.get(literal.lexical)
        return None if known is None else Boolean(known)
    if datatype in MOMENT_TYPES:
        return parse_moment(literal.lexical, datatype)
    if datatype in DURATION_TYPES:
        return parse_duration(literal.lexical, datatype)
    return None


def effective_boolean(literal: Literal) -> bool | None:
    """The effective boolean value (SPARQL 1.2 section 17.2.2); None is a type error.

    Strings count by their length, NaN and zero as false. SPARQL 1.1 also gave one to tagged strings and to
    ill-typed booleans and numbers.
    """
    value = value_of(literal)
    if isinstance(value, Text):
        return bool(value.value)
    if isinstance(value, Boolean):
        return value.value
    if isinstance(value, Number):
        return bool(value.value) and value.value == value.value
    return None
