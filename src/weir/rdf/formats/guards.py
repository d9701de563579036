"""Messages that would break the parser instead of being refused by it.

The strict parser recurses on nested JSON and triple terms until its stack is gone, which no caller can
catch, and expands XML entities without a bound. A message from outside must not be able to end a worker.
"""

from __future__ import annotations

import re

import numpy as np
import pyoxigraph as ox

DEEPEST = 500
"""Nested brackets, elements or triple terms in a message."""

_LONGEST_ENTITY = 200
_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_ENTITY = re.compile(rb"<!ENTITY\s+[^\"'>]*(\"[^\"]*\"|'[^']*'|>)")
_TAG = re.compile(rb"<(/?)[A-Za-z_][^>]*?(/?)>")


def refusal(data: bytes, syntax: ox.RdfFormat) -> str | None:
    """Why ``data`` must not be given to the parser, None if it may."""
    if syntax == ox.RdfFormat.JSON_LD:
        return _deep_json(data)
    if syntax == ox.RdfFormat.RDF_XML:
        return _entities(data) or _deep_xml(data)
    return _deep_terms(data.count(b"<<"))


def statement_refusal(text: str) -> str | None:
    """The same for one N-Quads statement."""
    return _deep_terms(text.count("<<"))


def _deep_terms(count: int) -> str | None:
    return f"more than {DEEPEST} triple terms, which are not supported" if count > DEEPEST else None


def _deep_json(data: bytes) -> str | None:
    if data.count(b"{") + data.count(b"[") <= DEEPEST:
        return None
    bare = np.frombuffer(_JSON_STRING.sub(b"", data), np.uint8)
    opened = ((bare == ord("{")) | (bare == ord("["))).astype(np.int64)
    closed = (bare == ord("}")) | (bare == ord("]"))
    deepest = int(np.cumsum(opened - closed).max(initial=0))
    return f"JSON nested {deepest} deep, more than {DEEPEST}" if deepest > DEEPEST else None


def _deep_xml(data: bytes) -> str | None:
    if data.count(b"<") <= DEEPEST:
        return None
    depth = deepest = 0
    for closes, alone in _TAG.findall(data):
        depth += -1 if closes else not alone
        deepest = max(deepest, depth)
    return f"XML nested {deepest} deep, more than {DEEPEST}" if deepest > DEEPEST else None


def _entities(data: bytes) -> str | None:
    for value in _ENTITY.findall(data):
        if b"&" in value or len(value) > _LONGEST_ENTITY:
            return "an XML entity that is long or names another"
    return None
