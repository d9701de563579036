"""What is filled into a template is what the whole document would say, in every syntax."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from fragments_kit import EX, SECOND, T0
from weir.fragments.protocol.annotation import FOREVER, Annotation, Labeling, Method, Quad
from weir.fragments.server import Dataset
from weir.fragments.server.metadata import Described, metadata_of, values_of
from weir.fragments.server.request import parse_request
from weir.fragments.server.serialize import HTML, OFFERED, Templates, write_document

DATA: list[Quad] = [
    (f"<{EX}s>", f"<{EX}p>", '"100 % {of} \\"it\\" é"@en', ""),
    (f"<{EX}s>", f"<{EX}q>", f"<{EX}50%25>", ""),
    (f"<{EX}s>", f"<{EX}q>", '"%(page)s"', f"<{EX}graph>"),
]
LABELS: list[Quad] = [(f"<{EX}graph>", f"<{EX}ends>", '"1"', "")]
QUERIES = [
    "",
    "page=2",
    "subject=http%3A%2F%2Fexample.org%2Fs",
    f"subject={EX}s&page=3",
    "at=2026-11-15T12:00:00Z",
    "object=" + quote(f'"{"long " * 300}"'),
    "x=" + "y" * 1200 + "&page=2",
]


def described(dataset: Dataset, query: str, total: int, changes: int) -> Described:
    return Described(
        request=parse_request(query, dataset, T0),
        home="http://weir.test/50%25/",
        dataset="http://weir.test/50%25/d",
        title=dataset.title,
        annotation=dataset.annotation,
        total=total,
        page_size=dataset.page_size,
        changes=changes,
    )


@pytest.mark.parametrize("media_type", [one for one in OFFERED if one != HTML])
def test_a_filled_template_is_the_whole_document(media_type: str) -> None:
    dataset = Dataset(
        "d", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL), title="100 % of “it” {page}"
    )
    templates = Templates()
    for _ in range(2):
        for query in QUERIES:
            for total, changes in ((3, FOREVER), (1000, T0 + SECOND)):
                about = described(dataset, query, total, changes)
                labels = LABELS if media_type not in ("text/turtle", "application/n-triples") else []
                data = [*((*label[:3], about.graph) for label in labels), *DATA]
                whole = write_document(media_type, data, metadata_of(about, values_of(about)))
                assert templates.write(dataset, media_type, about, DATA, LABELS) == whole


def test_another_data_set_at_the_same_address_has_its_own() -> None:
    templates = Templates()
    texts = []
    for labeling in Labeling:
        dataset = Dataset("d", annotation=Annotation(Method.GRAPHS, labeling))
        texts.append(templates.write(dataset, "application/n-quads", described(dataset, "", 0, FOREVER), []))
    assert [b"temporal#instant" in text for text in texts] == [False, True]


def test_templates_are_bounded() -> None:
    templates = Templates()
    dataset = Dataset("d")
    for number in range(3000):
        about = described(dataset, "", 0, FOREVER)._replace(dataset=f"http://host{number}/d")
        templates.write(dataset, "text/turtle", about, [])
    assert len(templates._made) <= 1024
