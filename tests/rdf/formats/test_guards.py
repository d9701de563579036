"""What is refused before a parser sees it, what is not; and finding out takes time linear in the text."""

from __future__ import annotations

import json
from typing import Any

import pyoxigraph as ox
import pytest

from weir.rdf.formats.guards import DEEPEST, refusal
from weir.rdf.terms import NESTING

JSON, XML, TURTLE = ox.RdfFormat.JSON_LD, ox.RdfFormat.RDF_XML, ox.RdfFormat.TURTLE
OPEN = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
DEEP = DEEPEST + 1


def xml(inside: str, before: str = "") -> bytes:
    return f"{before}{OPEN}{inside}</rdf:RDF>".encode()


def bomb(declaration: str) -> bytes:
    """Entities, each ten times the one before it, in 600 bytes."""
    values = ["xxxxxxxxxx", *(f"&a{n};" * 10 for n in range(7))]
    every = "".join(declaration.format(f"a{n}", value) for n, value in enumerate(values))
    return xml('<e:a rdf:about="http://e/a"><e:p>&a7;</e:p></e:a>', f"<!DOCTYPE rdf [{every}]>")


def jsonld(terms: int, ids: str = "http://e/{}", contexts: int = 0) -> bytes:
    """A document with so many terms in its context, and objects in it that have a context each."""
    made = {f"t{n}": ids.format(n, n + 1) for n in range(terms)}
    return json.dumps({"@context": made, "http://e/p": [{"@context": {}}] * contexts}).encode()


@pytest.mark.parametrize(
    ("data", "syntax", "reason"),
    [
        (b"[" * DEEP + b"]" * DEEP, JSON, "nested"),
        (b'"' + b"[" * DEEP, JSON, None),
        (b'"\\"' + b'"[' * DEEP, JSON, None),
        (jsonld(5000, "t{1}:x"), JSON, "one another"),
        (jsonld(5000), JSON, None),
        (jsonld(5000, "t{1}:x").replace(b"@", b"\\u0040"), JSON, "one another"),
        (jsonld(2000, contexts=9), JSON, None),
        (jsonld(9000, contexts=9000), JSON, "contexts"),
        (jsonld(20, contexts=9000), JSON, None),
        (b'{"a": 1' + b', "a": 1' * 500, JSON, "no JSON"),
        (xml("<e:a>" * DEEP), XML, "nested"),
        (xml('<e:a x=">">' * DEEP), XML, "nested"),
        (xml('<e:a x="</e:a>">' * DEEP), XML, "nested"),
        (xml("<e:a><!--</e:a>-->" * DEEP), XML, "nested"),
        (xml("<e:a><![CDATA[</e:a>]]>" * DEEP), XML, "nested"),
        (xml("<e:a><?x </e:a>?>" * DEEP), XML, "nested"),
        (xml("<e:a><!--></e:a>" * DEEP), XML, "declaration"),
        (xml('<e:a><!DOCTYPE x "</e:a>">' * DEEP), XML, "declaration"),
        (xml("<e:a/>" * DEEP + "<e:a></e:a>" * DEEP), XML, None),
        (xml("<e:a {}/>".format(" ".join(f"e:b{n}=''" for n in range(1001)))), XML, "attributes"),
        (xml("<e:a {}/>".format(" ".join(f"xmlns:b{n}='x'" for n in range(300)))), XML, "namespaces"),
        (xml('<e:a xmlns:b="x" xmlns:c="x">' * 150), XML, "namespaces"),
        (xml('<e:a xmlns:b="x" xmlns:c="x"></e:a>' * 150), XML, None),
        (bomb('<!ENTITY {} "{}">'), XML, "entity"),
        (bomb('<!ENTITY{} "{}">'), XML, "entity"),
        (bomb('<!ENTITY\xa0{} "{}">'), XML, "entity"),
        (bomb('<!ENTITY % {} "{}">'), XML, "entity"),
        (xml("&a;" * 1_000_000, f'<!DOCTYPE r [<!ENTITY a "{"x" * 200}">]>'), XML, "characters"),
        (xml("&a;", '<!DOCTYPE r [<!ENTITY a "http://e/"> <!ENTITY b "x">]>'), XML, None),
        (b"<< " * (NESTING + 1), TURTLE, "triple terms"),
    ],
)
def test_what_a_parser_may_see(data: bytes, syntax: ox.RdfFormat, reason: str | None) -> None:
    found = refusal(data, syntax)
    assert found is None if reason is None else reason in (found or "")


FLOODS: list[tuple[bytes, Any]] = [
    (b"<e", XML),
    (b"<e ", XML),
    (b'<a x="', XML),
    (b"<a x='\"", XML),
    (b"<!ENTITY ", XML),
    (b"<!ENTITY a", XML),
    (b'<!ENTITY a "', XML),
    (b"<!--", XML),
    (b"<!--->", XML),
    (b"<![CDATA[", XML),
    (b"<?", XML),
    (b"</", XML),
    (b"<e:a><e:p>", XML),
    (b'"\\"', JSON),
    (b'"\\', JSON),
    (b"[{", JSON),
    (b'{"a":', JSON),
    (b"<", TURTLE),
    (b"<<", TURTLE),
    (b"<\\<", TURTLE),
    (b'"""\\', TURTLE),
    (b"'''\\'", TURTLE),
    (b'""" << ', TURTLE),
    (b"\"' <<", TURTLE),
]


@pytest.mark.parametrize(("flood", "syntax"), FLOODS, ids=[repr(each) for each, _ in FLOODS])
def test_a_guard_takes_no_square_of_the_time(flood: bytes, syntax: ox.RdfFormat) -> None:
    """Linear is a fraction of a second here; the square would be minutes, and end at the time-out."""
    data = flood * (4_000_000 // len(flood))
    found = refusal(data, syntax)
    assert found is None or "more than" in found or "no JSON" in found or "entity" in found
