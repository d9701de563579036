"""A page of an event stream, taken apart: its members, and where more of them lie.

A member is what TREE's extraction algorithm finds without a shape: the triples about it, those of blank
nodes in them, and all of the graph that has its name. A relation says of everything behind it that its
times lie on one side of a value; several relations to one page all hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urljoin

from weir.errors import DataError, RemoteError
from weir.fragments.protocol import event_streams as ldes
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, TripleText, read_time
from weir.rdf.formats.guarded_parser import parse_document


class Item(NamedTuple):
    """A member: its time (µs), None where it says none, its name, and its triples, those of its own graph
    among them."""

    time: int | None
    name: str
    triples: tuple[TripleText, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A page, and between which times all members behind it lie."""

    url: str
    lower: int = BEGINNING
    upper: int = FOREVER


class TreePage(NamedTuple):
    """``path`` is the predicate that states times, where the page says which."""

    items: tuple[Item, ...]
    links: tuple[Link, ...]
    path: str | None


def parse_tree_page(url: str, body: bytes, media_type: str, path: str | None, most: int) -> TreePage:
    """The page that lies at ``url``; times are read by ``path``, or by what the page itself declares.

    What cannot be read is a ``RemoteError``.
    """
    try:
        quads = parse_document(body, media_type, base=url, most=most)
    except DataError as error:
        raise RemoteError(f"the page {url} is malformed", detail=str(error)) from None
    said: dict[str, dict[str, list[str]]] = defaultdict(dict)
    graphs: dict[str, list[TripleText]] = defaultdict(list)
    for s, p, o, g in quads:
        if not g:
            said[s].setdefault(p, []).append(o)
        else:
            graphs[g].append((s, p, o))
    declared = [o for about in said.values() for o in about.get(ldes.TIMESTAMP_PATH, ())]
    path = path or next((o for o in declared if o[0] == "<"), None)
    names = dict.fromkeys(o for about in said.values() for o in about.get(ldes.MEMBER, ()))
    items = tuple(_item(name, said, graphs.get(name, ()), path, url) for name in names)
    links = _links(url, said, path)
    if not links and not items:
        views = dict.fromkeys(o for about in said.values() for o in about.get(ldes.VIEW, ()) if o[0] == "<")
        links = [Link(urljoin(url, view[1:-1])) for view in views if view != f"<{url}>"][:1]
    return TreePage(items, tuple(links), path)


def _item(
    name: str,
    said: Mapping[str, Mapping[str, Sequence[str]]],
    own: Iterable[TripleText],
    path: str | None,
    url: str,
) -> Item:
    triples: list[TripleText] = []
    waiting, known = [name], {name}
    while waiting:
        subject = waiting.pop()
        for predicate, objects in said.get(subject, {}).items():
            for object_ in objects:
                triples.append((subject, predicate, object_))
                if object_.startswith("_:") and object_ not in known:
                    known.add(object_)
                    waiting.append(object_)
    times = said.get(name, {}).get(path, ()) if path is not None else ()
    triples.extend(own)
    return Item(_time(times[0], url) if times else None, name, tuple(triples))


def _links(url: str, said: Mapping[str, Mapping[str, Sequence[str]]], path: str | None) -> list[Link]:
    bounds: dict[str, tuple[int, int]] = {}
    for about in list(said.values()):
        for relation in about.get(ldes.RELATION, ()):
            told = said.get(relation, {})
            targets = [o for o in told.get(ldes.TARGET, ()) if o[0] == "<"]
            lower, upper = BEGINNING, FOREVER
            if path is not None and path in told.get(ldes.PATH, ()) and told.get(ldes.VALUE):
                value, kinds = told[ldes.VALUE][0], told.get(ldes.TYPE, ())
                if ldes.SINCE in kinds or ldes.AFTER in kinds:
                    lower = _time(value, url)
                elif ldes.UNTIL in kinds or ldes.BEFORE in kinds:
                    upper = _time(value, url)
            for target in targets:
                address = urljoin(url, target[1:-1]).partition("#")[0]
                least, most = bounds.get(address, (BEGINNING, FOREVER))
                bounds[address] = max(least, lower), min(most, upper)
    return [Link(address, lower, upper) for address, (lower, upper) in bounds.items()]


def _time(text: str, url: str) -> int:
    try:
        return read_time(text)
    except DataError as error:
        raise RemoteError(f"the page {url} has a time that is none", detail=error.primary) from None
