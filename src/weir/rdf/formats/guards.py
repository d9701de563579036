"""What a text from outside must not hold before a strict RDF parser sees it.

The parsers recurse on nested JSON, on triple terms and on JSON-LD terms that are defined by one another until
the stack is gone, which no caller can catch; they expand XML entities without a bound, and take the square of
the time for many attributes, namespaces or contexts. ``refusal`` counts these things instead of seconds, so
that a text is refused or not whatever the machine; it takes time linear in the text. Where it cannot tell how
a parser would read a text, it refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyoxigraph as ox

from weir.rdf.terms import NESTING

DEEPEST = 200
"""Nested brackets or elements in a text: a tenth of what the stack of a thread takes."""

_LONGEST_ENTITY = 200
_EXPANDED = 1 << 25
"""Characters that entities may put into a document."""
_ATTRIBUTES = 1_000
"""Attributes of an element."""
_NAMESPACES = 256
"""Namespaces declared around an element."""
_CHAIN = 100
"""Terms of a JSON-LD context, each defined by the next."""
_COPIED_AT_ONCE, _COPIED = 500_000, 32
"""Terms of JSON-LD contexts that the parser holds at once, and that it copies for each byte of the text."""

_MARK = re.compile(
    rb'\\.|<(?:[^<>"{}|^`\\\x00-\x20]|\\.)*+>|#[^\n\r]*+'
    rb'|"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|"(?:[^"\\\n\r]|\\.)*+"'
    rb"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|'(?:[^'\\\n\r]|\\.)*+'"
    rb"|(<<|>>)",
    re.DOTALL,
)
"""What opens or closes a triple term; IRIs, strings, comments and escapes are passed over."""

_JSON_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_ENTITY = re.compile(rb'<!ENTITY[ \t\r\n]+[A-Za-z_][\w.-]{0,99}[ \t\r\n]+"([^"&<>%]*+)"[ \t\r\n]*+>')
_MARKUP = re.compile(
    rb"<!--(?!-?>)(?:[^-]|-(?!->))*+-?-?>?|<!\[CDATA\[(?:[^\]]|\](?!\]>))*+\]?\]?>?"
    rb"|<\?(?!>)(?:[^?]|\?(?!>))*+\??>?"
    rb"|<(!)|<(/)[^>]*+>?|<([^>\"']*+(?:(?:\"[^\"]*+\"?|'[^']*+'?)[^>\"']*+)*+)>?"
)
"""Comments, CDATA and instructions, which are passed over; declarations, ends of elements, elements. It takes
all that it looks at, so that no byte is looked at twice."""


def refusal(data: bytes, syntax: ox.RdfFormat) -> str | None:
    """Why ``data`` must not be given to the parser, None if it may."""
    if syntax == ox.RdfFormat.JSON_LD:
        return _deep_json(data) or _contexts(data)
    if syntax == ox.RdfFormat.RDF_XML:
        return _entities(data) or _elements(data)
    return _deep_triple_terms(data)


def _deep_triple_terms(data: bytes) -> str | None:
    if data.count(b"<<") <= NESTING:
        return None
    depth = deepest = 0
    for mark in _MARK.findall(data):
        if mark:
            depth = depth + 1 if mark == b"<<" else max(depth - 1, 0)
            deepest = max(deepest, depth)
    return f"triple terms nested {deepest} deep, more than {NESTING}" if deepest > NESTING else None


# XML


def _entities(data: bytes) -> str | None:
    declared = data.count(b"<!ENTITY")
    if not declared:
        return None
    values = _ENTITY.findall(data)
    longest = max(map(len, values), default=0)
    if len(values) < declared or longest > _LONGEST_ENTITY:
        return "an XML entity that is long, names another or is not plainly written"
    if longest * data.count(b"&") > _EXPANDED:
        return f"XML entities that make more than {_EXPANDED:,} characters"
    return None


def _elements(data: bytes) -> str | None:
    """Why elements nest too deeply, have too many attributes or stand in too many namespaces."""
    if data.count(b"<") <= DEEPEST and data.count(b"=") <= _NAMESPACES:
        return None
    namespaces = [0]
    for declaration, end, tag in _MARKUP.findall(data):
        if declaration:
            if len(namespaces) > 1:
                return "an XML declaration within an element"
        elif end:
            if len(namespaces) > 1:
                namespaces.pop()
        elif tag:
            if tag.count(b"=") > _NAMESPACES:
                if tag.count(b"=") > _ATTRIBUTES:
                    return f"an XML element with more than {_ATTRIBUTES:,} attributes"
                if namespaces[-1] + tag.count(b"xmlns") > _NAMESPACES:
                    return f"more than {_NAMESPACES} XML namespaces at once"
            if not tag.endswith(b"/"):
                namespaces.append(namespaces[-1] + tag.count(b"xmlns"))
                if len(namespaces) > DEEPEST + 1:
                    return f"XML nested more than {DEEPEST} deep"
                if namespaces[-1] > _NAMESPACES:
                    return f"more than {_NAMESPACES} XML namespaces at once"
    return None


# JSON-LD


def _deep_json(data: bytes) -> str | None:
    deepest = _json_depth(data) if data.count(b"{") + data.count(b"[") > DEEPEST else 0
    return f"JSON nested {deepest} deep, more than {DEEPEST}" if deepest > DEEPEST else None


def _json_depth(data: bytes) -> int:
    bare = np.frombuffer(_JSON_STRING.sub(b"", data), np.uint8)
    opened = ((bare == ord("{")) | (bare == ord("["))).astype(np.int64)
    closed = (bare == ord("}")) | (bare == ord("]"))
    return int(np.cumsum(opened - closed).max(initial=0))


def _contexts(data: bytes) -> str | None:
    """Why the contexts of a document, which may not nest too deeply, would cost its parser too much."""
    if data.count(b":") <= _CHAIN:
        return None
    found = _Contexts()
    try:
        text = data.decode("utf-8-sig")
        json.loads(text, object_pairs_hook=found.take, parse_int=len, parse_float=len)
    except UnicodeDecodeError:
        return "not UTF-8"
    except ValueError as error:
        return f"no JSON: {error}"
    if found.chain > _CHAIN:
        return f"JSON-LD terms defined by one another more than {_CHAIN} times"
    copies = found.objects if found.scoped else found.contexts
    if copies > 1:
        deepest = _json_depth(data)
        held = min(found.terms, deepest * found.largest)
        if held * deepest > _COPIED_AT_ONCE or held * copies > _COPIED_AT_ONCE + _COPIED * len(data):
            return "JSON-LD contexts too many and too large to be copied for one another"
    return None


class _Contexts:
    """The contexts of a document as its objects are read, the inner ones first.

    ``scoped`` says that one is part of a term's definition: it is then used wherever the term is.
    """

    def __init__(self) -> None:
        self.objects = self.contexts = self.terms = self.largest = self.chain = 0
        self.scoped = False

    def take(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self.objects += 1
        made = dict(pairs)
        if len(made) + _CHAIN < len(pairs):
            raise ValueError("members of the same name")
        if "@context" in made:
            for name, value in pairs:
                if name == "@context":
                    for context in value if isinstance(value, list) else [value]:
                        self._context(context)
        return made

    def _context(self, context: Any) -> None:
        self.contexts += 1
        if not isinstance(context, dict):
            return
        self.terms += len(context)
        self.largest = max(self.largest, len(context))
        self.scoped |= any(isinstance(value, dict) and "@context" in value for value in context.values())
        if len(context) > _CHAIN:
            self.chain = max(self.chain, _longest_chain(context))


def _longest_chain(context: Mapping[str, Any]) -> int:
    """The most terms of a context of which each is defined by the next; a circle counts once."""
    lengths: dict[str, int] = {}
    for first in context:
        path = [] if first in lengths else [(first, iter(_named(first, context)))]
        while path:
            term, rest = path[-1]
            lengths.setdefault(term, 0)
            following = next((each for each in rest if each in context), None)
            if following is None:
                path.pop()
                lengths[term] += 1
                if path:
                    outer = path[-1][0]
                    lengths[outer] = max(lengths[outer], lengths[term])
            elif following not in lengths:
                path.append((following, iter(_named(following, context))))
            else:
                lengths[term] = max(lengths[term], lengths[following])
    return max(lengths.values(), default=0)


def _named(term: str, context: Mapping[str, Any]) -> list[str]:
    """The terms that the definition of a term may lead to: those that its texts are or begin with."""
    value = context[term]
    parts = [value] if isinstance(value, str) else value.values() if isinstance(value, dict) else []
    texts = [term.rpartition(":")[0], *(each for each in parts if isinstance(each, str))]
    return [name for text in texts for name in (text, text.partition(":")[0])]
