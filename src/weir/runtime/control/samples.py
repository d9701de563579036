"""What streams begin with, looked at when a query is registered, so that its layout suits what will come.

Only files are looked into: what a broker will send nobody knows. The layout is decided once, and stands in
the control log, so a job that starts again has the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from weir.language.algebra.fold import walk
from weir.language.algebra.patterns import TriplePattern
from weir.language.algebra.query import Query
from weir.plan.analysis.demand import demands
from weir.plan.analysis.rates import Rates
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.rdf.terms import IRI
from weir.runtime.control.catalog import StreamEntry
from weir.runtime.ingest.matching import Selection
from weir.runtime.ingest.sources import FileSource, Source, source_of
from weir.storage.files import read_range

BYTES = 1 << 20
_FEWEST = 1000
"""Fewer triples tell nothing."""


def sources_of(streams: Mapping[str, StreamEntry]) -> dict[str, Source]:
    """Where streams come from, but for those that come by DataFrames."""
    return {iri: source_of(each.source) for iri, each in streams.items() if each.source is not None}


def rates_of(query: Query, sources: Mapping[str, Source], streams: Sequence[str]) -> Rates:
    """What the beginning of its streams tells of a query; nothing where they are no files."""
    dictionary = Dictionary()
    found = []
    for stream, wanted in demands(query, tuple(streams)).items():
        source = sources.get(stream)
        if isinstance(source, FileSource):
            found.append(Selection(wanted, dictionary).of(_beginning(source, dictionary.key)).quads)
    quads = [np.concatenate(column) for column in zip(*found, strict=True)] if found else []
    if not quads or len(quads[0]) < _FEWEST:
        return Rates()
    commonest = {place: float(np.unique(quads[place], return_counts=True)[1].max()) for place in range(3)}
    patterns = [node for node in walk(query.pattern) if isinstance(node, TriplePattern)]
    predicates = {each.predicate for each in patterns if isinstance(each.predicate, IRI)}
    parts = {each: float(np.mean(quads[1] == dictionary.encode(each))) for each in predicates}
    return Rates({place: most / len(quads[0]) for place, most in commonest.items()}, parts)


def _beginning(source: FileSource, key: bytes) -> Messages:
    """Of the first file, if it can be read from the middle. One that cannot be read is told of when it is
    its turn."""
    try:
        path = next(path for path in source.listing() if source.cut(str(path)))
        data = read_range(path, 0, BYTES)
    except (StopIteration, OSError):
        return Messages()
    whole = data if len(data) < BYTES else data[: data.rfind(b"\n") + 1]
    return parse_lines(whole, scope=path.name, key=key).messages
