"""Which annotations a server uses, and which patterns are dynamic, found out by small fragments."""

from __future__ import annotations

import asyncio

import pytest

from fragments_kit import ANNOTATIONS, EX, SECOND, T0, annotate, opened
from fragments_naive import NaiveServer
from weir.fragments.client.detect import Dynamics, detect_annotations
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method, Quad
from weir.fragments.protocol.controls import OBJECT, PREDICATE, SUBJECT, Form

STATIC: list[Quad] = [(f"<{EX}s>", f"<{EX}label>", '"static"', "")]
FACT = Fact(f"<{EX}s>", f"<{EX}delay>", '"5"', T0, T0 + SECOND)
FORM = Form(
    "http://weir.test/d{?subject,predicate,object}",
    {SUBJECT: "subject", PREDICATE: "predicate", OBJECT: "object"},
)


def quads(annotation: Annotation | None) -> list[Quad]:
    if annotation is None:
        return STATIC
    implicit = annotation.method is Method.IMPLICIT
    node = FORM.implicit_graph(FACT.triple) if implicit else f"<{EX}node>"
    return STATIC + annotate(FACT, annotation, node, f"<{EX}span>")


def detected(annotation: Annotation | None) -> tuple[tuple[Annotation, ...], list[bool]]:
    """The annotations found, and whether labels, delays and what is not there count as dynamic."""

    async def run() -> tuple[tuple[Annotation, ...], list[bool]]:
        async with opened(NaiveServer(lambda: quads(annotation))) as source:
            found = await detect_annotations(source)
            dynamics = Dynamics(source, found)
            patterns = [(None, f"<{EX}{name}>", None, "") for name in ("label", "delay", "none")]
            return found, [await dynamics.dynamic(pattern) for pattern in patterns]

    return asyncio.run(run())


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_annotations_are_found(annotation: Annotation) -> None:
    assert detected(annotation) == ((annotation,), [False, True, True])


def test_flat_intervals_are_found() -> None:
    flat = Annotation(Method.GRAPHS, Labeling.INTERVAL, flat=True)
    assert detected(flat)[0] == (flat,)


def test_without_labels_nothing_is_dynamic() -> None:
    assert detected(None) == ((), [False, False, False])
