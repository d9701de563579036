"""What an editor completes: prefixes that people know, and the predicates seen in streams and graphs.

Of a stream the latest messages are looked at, or the beginning of its file, whenever somebody asks; what was
seen is kept. A stream that is read by workers alone (Kafka) shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from weir.errors import UsageError, WeirError
from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import TriplePattern
from weir.linked.graphs.triple_tables import DEFAULT
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.terms import IRI
from weir.runtime.control.registry import QueryInfo, StreamInfo
from weir.runtime.ingest.sources import FileSource, source_of
from weir.runtime.ingest.sources.log_writer import TNQ
from weir.runtime.running import RunningJob

PREFIXES: Mapping[str, str] = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "time": "http://www.w3.org/2006/time#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "saref": "https://saref.etsi.org/core/",
    "brick": "https://brickschema.org/schema/Brick#",
    "bot": "https://w3id.org/bot#",
    "qudt": "http://qudt.org/schema/qudt/",
    "unit": "http://qudt.org/vocab/unit/",
    "as": "https://www.w3.org/ns/activitystreams#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "dbo": "http://dbpedia.org/ontology/",
    "dbr": "http://dbpedia.org/resource/",
}
_MOST = 500
"""Predicates that are remembered of a stream."""
_LOOKED_AT = 1 << 16
"""Bytes that are looked at."""
_SMALL = 1 << 20
_DECLARED = re.compile(r"\bPREFIX\s+([\w.-]*):\s*<([^>\s]*)>", re.IGNORECASE)


class Vocabulary:
    """What was seen so far of the streams of a service."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, None]] = {}

    def of(self, job: RunningJob) -> dict[str, Any]:
        """Prefixes by name; predicates with the streams and graphs that they were seen in."""
        where: dict[str, list[str]] = {}
        streams = job.streams()
        self._seen = {each.iri: self._seen.get(each.iri, {}) for each in streams}
        for stream in streams:
            known = self._seen[stream.iri]
            known |= dict.fromkeys(list(predicates_of(*_sample(job, stream)))[: _MOST - len(known)])
            _note(where, stream.iri, known)
        extractor = job.graphs.extractor
        if extractor is not None:
            with extractor.lock:
                for name in (DEFAULT, *extractor.graphs.names()):
                    _note(where, name or "default graph", extractor.graphs.predicates(name))
        queries = job.queries()[-_MOST:]
        _note(where, "queries", dict.fromkeys(each for query in queries for each in asked_for(query)))
        declared = {name: iri for query in queries for name, iri in _DECLARED.findall(query.text)}
        return {
            "prefixes": {**declared, **PREFIXES},
            "predicates": [{"iri": iri, "seen": places} for iri, places in where.items()],
        }


def _note(where: dict[str, list[str]], place: str, predicates: Iterable[str]) -> None:
    for iri in predicates:
        where.setdefault(iri, []).append(place)


def _sample(job: RunningJob, stream: StreamInfo) -> tuple[bytes, str]:
    """Some of what a stream has brought, and its format; nothing where that is not known here."""
    if stream.source is None:
        return b"", TNQ
    source = source_of(stream.source)
    with suppress(WeirError, OSError):
        if not isinstance(source, FileSource):
            return job.receivers.writer(stream.iri).latest
        for path in source.listing()[:1]:
            with open(path, "rb") as file:
                return file.read(_LOOKED_AT), source.format_of(str(path)).name
    return b"", TNQ


def predicates_of(payload: bytes, form: str) -> Iterable[str]:
    """The predicates of a payload; of lines those at the beginning."""
    try:
        format = format_of(form)
    except UsageError:
        return []
    if format.timed:
        payload = payload[:_LOOKED_AT].rpartition(b"\n")[0]
    if not payload or len(payload) > _SMALL:
        return []
    times = None if format.timed else [0]
    try:
        found = parse_payloads([payload], format, scope="", key=b"", positions=[0], times=times)
    except (WeirError, ValueError):
        return []
    texts = found.terms[1].texts.to_list()
    return dict.fromkeys(text[1:-1] for text in texts if text and text.startswith("<"))


def asked_for(query: QueryInfo) -> Iterable[str]:
    """The predicates in a query's patterns."""
    nodes = [node for node in walk(query.query.pattern) if isinstance(node, TriplePattern)]
    return [each.predicate.value for each in nodes if isinstance(each.predicate, IRI)]
