"""Resolution of relative IRIs (RFC 3986 section 5.2) and of prefixed names."""

from __future__ import annotations

import re

_PARTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)

WELL_KNOWN = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "f": "http://larkc.eu/csparql/sparql/jena/ext#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "swrc": "http://swrc.ontoware.org/ontology#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def _without_dots(path: str) -> str:
    """``remove_dot_segments`` of RFC 3986 section 5.2.4."""
    out: list[str] = []
    segments = path.split("/")
    for place, segment in enumerate(segments):
        last = place == len(segments) - 1
        if segment == "..":
            if len(out) > 1 or (out and out[0] != ""):
                out.pop()
            if last:
                out.append("")
        elif segment == ".":
            if last:
                out.append("")
        else:
            out.append(segment)
    return "/".join(out)


def resolve(reference: str, base: str | None) -> str:
    """``reference`` against ``base``; left as written where there is no base."""
    if base is None:
        return reference
    match = _PARTS.fullmatch(reference)
    origin = _PARTS.fullmatch(base)
    if match is None or origin is None or match[1] is not None:
        return reference
    _, authority, path, query, fragment = match.groups()
    if authority is not None:
        path = _without_dots(path)
    else:
        authority = origin[2]
        if not path:
            path = origin[3]
            query = origin[4] if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        elif authority is not None and not origin[3]:
            path = _without_dots("/" + path)
        else:
            path = _without_dots(origin[3][: origin[3].rfind("/") + 1] + path)
    return "".join(
        (
            f"{origin[1]}:" if origin[1] is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )
