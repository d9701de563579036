"""Fragments written from templates: what all pages of a data set share is written once, with gaps.

A page of two triples carries some forty of metadata and controls, which differ from those of other pages
in a few terms alone. The text around those terms is made once for each set of them that applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from weir.fragments.protocol.annotation import Quad
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.formats import SYNTAXES, Syntax, write_jsonld
from weir.fragments.server.metadata import Described, metadata_of, values_of

_Key: TypeAlias = tuple[Dataset, str, str, str, int, bool, bool, tuple[str, ...]]
_MOST = 1024


class Template(NamedTuple):
    """``own`` has a ``%b`` for each of the values that ``chosen`` takes; ``controls`` are always the same."""

    own: bytes
    chosen: Callable[[dict[str, bytes]], Any]
    controls: bytes


class Templates:
    """The templates of a server's data sets, by all that they depend on."""

    def __init__(self) -> None:
        self._made: dict[_Key, Template] = {}

    def write(
        self,
        dataset: Dataset,
        media_type: str,
        about: Described,
        data: Sequence[Quad],
        labels: Sequence[Quad] = (),
    ) -> tuple[bytes, ...]:
        """The document of one page in pieces, as ``write_document`` writes it from its metadata."""
        values = values_of(about)
        syntax = SYNTAXES.get(media_type)
        if syntax is None:
            return (_bytes(write_jsonld(data, metadata_of(about, values, labels))),)
        own, chosen, controls = self.of(dataset, media_type, about, tuple(values))
        filled = own % chosen({name: value.encode() for name, value in values.items()})
        said = syntax.labels(about.graph, [quad[:3] for quad in labels]) if labels else ""
        return filled, controls, _bytes(f"{said}{syntax.closing}{syntax.data(data)}")

    def of(self, dataset: Dataset, media_type: str, about: Described, names: tuple[str, ...]) -> Template:
        """The template of a page for which there are values of these names."""
        request, _, address, title, _, _, page_size, _ = about
        key = (dataset, media_type, address, title, page_size, about.brief, not request.fragment, names)
        return self._made.get(key) or self._make(key, SYNTAXES[media_type], about)

    def _make(self, key: _Key, syntax: Syntax, about: Described) -> Template:
        graph, own, controls, _ = metadata_of(about, {name: f"\0{name}\0" for name in key[-1]})
        text = syntax.own(graph, own).replace("%", "%%")
        names = re.findall(r"\0(\w+)\0", text)
        template = Template(
            own=_bytes(re.sub(r"\0\w+\0", "%b", text)),
            chosen=itemgetter(*names),
            controls=_bytes(syntax.controls(graph, controls)),
        )
        if len(self._made) >= _MOST:
            self._made.clear()
        self._made[key] = template
        return template


def _bytes(text: str) -> bytes:
    """Lone surrogates, which only broken clients and data have, are replaced."""
    return text.encode("utf-8", "replace")
