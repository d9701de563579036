"""The most frequent request, answered at once: one pattern of static triples whose matches fit on one page.

All such fragments of a data set in one syntax are the same but for the address, the count and the triples,
so the rest is put together once, on a ``Sheet``. What it answers is to the byte what ``Responder`` does;
whatever else can be asked for is left to that.
"""

from __future__ import annotations

import re

from weir.fragments.protocol.annotation import FOREVER
from weir.fragments.protocol.controls import text_of
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.formats import SYNTAXES
from weir.fragments.server.index import Bound
from weir.fragments.server.metadata import LONG, Described
from weir.fragments.server.request import IRI, decoded, parse_request
from weir.fragments.server.respond import Responder, etag
from weir.fragments.server.response import SECOND, Head, opening

_STRING = re.compile(r'"[^"\\\n\r]*"(?:@[a-z]{1,8}(?:-[a-z0-9]{1,8})*)?')
"""Literals whose text is the same in a form's field and in N-Triples."""


class Sheet:
    """Fragments of one data set at one address in one syntax."""

    def __init__(
        self, responder: Responder, dataset: Dataset, home: str, address: str, media_type: str
    ) -> None:
        self.responder = responder
        self.dataset = dataset
        self.home = home
        self.address = address
        self.media_type = media_type
        self.syntax = SYNTAXES[media_type]
        limits = dataset.limits
        self.longest = min(LONG - len(address) - 1, limits.query_string, limits.term)
        self.version = (-1, -1)
        self.moment = (-1, -1)
        self.opening = b""

    def answer(self, query: str, now: int, second: int) -> bytes | None:
        """The response to a ``safe`` query string at a time; None where it is for the responder."""
        pattern = plain_pattern(query) if 0 < len(query) <= self.longest else None
        if pattern is None:
            return None
        dataset = self.dataset
        with dataset.lock:
            index, version = dataset.static, dataset.version(pattern[1])
        if version[1]:
            return None
        run = index.find(pattern)
        total = 0 if run is None else run.high - run.low
        if total > dataset.page_size:
            return None
        if version != self.version:
            self._describe(query, version)
        moment = (now // SECOND, second)
        if moment != self.moment:
            self._date(moment)
        quads = self.syntax.data([] if run is None else index.slice(run, 0, total))
        values = {"page": f"{self.address}?{query}".encode(), "total": b"%d" % total}
        own, chosen, controls = self.template
        data = f"{self.syntax.closing}{quads}".encode("utf-8", "replace")
        said = own % chosen(values)
        length = b"content-length: %d\r\n\r\n" % (len(said) + len(controls) + len(data))
        self.responder.counters["requests"] += 1
        return b"".join((self.opening, length, said, controls, data))

    def _describe(self, query: str, version: tuple[int, int]) -> None:
        dataset = self.dataset
        request = parse_request(query, dataset, 0)
        about = Described(
            request,
            self.home,
            self.address,
            dataset.title,
            dataset.annotation,
            0,
            dataset.page_size,
            FOREVER,
        )
        self.template = self.responder.templates.of(dataset, self.media_type, about, ("page", "total"))
        self.version, self.moment = version, (-1, -1)

    def _date(self, moment: tuple[int, int]) -> None:
        """What comes before the length, for a second by the application's clock and the wall's."""
        tag = etag(self.dataset.nonce, self.media_type, self.version, FOREVER)
        age = self.responder.static_age // SECOND
        head = Head(200, self.media_type, tag, False, age, moment[0] + age)
        self.moment, self.opening = moment, opening(head, moment[1])


def plain_pattern(query: str) -> Bound | None:
    """The triple pattern of a query string; None where it asks for anything else, or is malformed."""
    s = p = o = None
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if "%" in value or "+" in value:
            value = decoded(value)
        if IRI.fullmatch(value):
            term = f"<{value}>"
        elif _STRING.fullmatch(value):
            term = value
        else:
            other = text_of(value) if value else None
            if not isinstance(other, str):
                return None
            term = other
        if name == "subject":
            s = term
        elif name == "predicate":
            p = term
        elif name == "object":
            o = term
        else:
            return None
    return s, p, o, None
