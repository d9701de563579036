"""A data set's facts as a Linked Data Event Stream: ``/NAME/ldes`` is its view, ``/NAME/ldes/N`` a page.

A member is a named graph that holds the triple, and about which the default graph says which fact it is a
version of, when that was created, and the interval in which the fact holds. The view has two relations to
each full page, with the times of its first and last member, and one to the page that still grows; full
pages never change. What retention no longer keeps is 410 (gone), and the view says since when all is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weir.fragments.ldes import Member, Span
from weir.fragments.protocol import event_streams as ldes
from weir.fragments.protocol.annotation import (
    FINAL,
    FOREVER,
    INITIAL,
    INTERVAL,
    Quad,
    TripleText,
    time_text,
)
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.responses import Response, failure
from weir.fragments.server.serialize import NQUADS, converted, encoded, lines
from weir.linked.http.headers import SECOND, negotiate
from weir.rdf.terms import XSD

STREAM = "ldes"
"""What follows the name of a data set in the address of its event stream."""
_OFFERED = (NQUADS, "application/trig", "application/ld+json")
_LASTING = 7 * 86_400 * SECOND


def event_stream(dataset: Dataset, base: str, page: str, accept: str) -> Response:
    """The view of an event stream, or a page of it by its number."""
    media_type = negotiate(accept, _OFFERED)
    if not dataset.store.members.most:
        return failure(404, f"the data set {dataset.name} has no event stream")
    if media_type is None:
        return failure(406, f"an event stream is served as {', '.join(_OFFERED)}")
    if page and (not page.isdecimal() or len(page) > 15):
        return failure(404, f"an event stream has no page {page[:40]!r}")
    view = f"{base}/{dataset.name}/{STREAM}"
    with dataset.lock:
        members = dataset.store.members
        count, spans = members.next_number, members.spans()
        found = members.page(int(page)) if page else []
    if found is None:
        gone = bool(spans) and int(page) < spans[0].page
        return failure(410 if gone else 404, f"the event stream has no page {page}{' any more' * gone}")
    full = bool(page) and any(span.full for span in spans if span.page == int(page))
    stream: list[TripleText] = [
        (f"<{view}#stream>", ldes.TYPE, ldes.EVENT_STREAM),
        (f"<{view}#stream>", ldes.TIMESTAMP_PATH, ldes.CREATED),
        (f"<{view}#stream>", ldes.VERSION_OF_PATH, ldes.IS_VERSION_OF),
        (f"<{view}#stream>", ldes.VIEW, f"<{view}>"),
        (f"<{view}>", ldes.TYPE, ldes.NODE),
    ]
    if page:
        quads = [*_graphless(stream), *_members(view, dataset.prefix, found)]
    else:
        quads = [*_graphless(stream), *_graphless(_relations(view, spans, _since(dataset, spans)))]
    body = converted(encoded(lines(quads)), media_type)
    tag = b'"%s-ldes%d-%x"' % (dataset.nonce, _OFFERED.index(media_type), int(page) if full else count)
    age = _LASTING if full else dataset.revalidate
    return Response(200, media_type, body, tag, age=age, immutable=full)


def _graphless(triples: Iterable[TripleText]) -> Iterator[Quad]:
    return ((s, p, o, "") for s, p, o in triples)


def _since(dataset: Dataset, spans: Sequence[Span]) -> Iterator[TripleText]:
    """The retention policy: all since a time where some went, else everything."""
    members = dataset.store.members
    if members.oldest and spans:
        yield "_:kept", ldes.TYPE, ldes.POINT_IN_TIME_POLICY
        yield "_:kept", ldes.POINT_IN_TIME, time_text(spans[0].first)
    elif members.age < FOREVER:
        yield "_:kept", ldes.TYPE, ldes.DURATION_AGO_POLICY
        yield "_:kept", ldes.VALUE, f'"PT{members.age // SECOND}S"^^<{XSD}duration>'


def _relations(view: str, spans: Sequence[Span], policy: Iterable[TripleText]) -> Iterator[TripleText]:
    kept = list(policy)
    if kept:
        yield f"<{view}>", ldes.VIEW_DESCRIPTION, "_:description"
        yield "_:description", ldes.RETENTION_POLICY, "_:kept"
        yield from kept
    for span in spans:
        bounds = [(ldes.SINCE, span.first)] + ([(ldes.UNTIL, span.last)] if span.full else [])
        for number, (kind, value) in enumerate(bounds):
            relation = f"_:r{span.page}x{number}"
            yield f"<{view}>", ldes.RELATION, relation
            yield relation, ldes.TYPE, kind
            yield relation, ldes.TARGET, f"<{view}/{span.page}>"
            yield relation, ldes.PATH, ldes.CREATED
            yield relation, ldes.VALUE, time_text(value)


def _members(view: str, prefix: str, members: Sequence[Member]) -> Iterator[Quad]:
    for number, created, of, fact in members:
        member, interval = f"<{prefix}version:{number}>", f"_:i{number}"
        yield f"<{view}#stream>", ldes.MEMBER, member, ""
        yield member, ldes.IS_VERSION_OF, f"<{prefix}graph:{of}>", ""
        yield member, ldes.CREATED, time_text(created), ""
        yield member, INTERVAL, interval, ""
        yield interval, INITIAL, time_text(fact.start), ""
        yield interval, FINAL, time_text(fact.end), ""
        yield *fact.triple, member
