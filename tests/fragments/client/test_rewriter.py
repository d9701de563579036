"""Facts with their validity through every annotation: what is published comes back."""

from __future__ import annotations

import asyncio

import pytest

from fragments_kit import ANNOTATIONS, EX, SECOND, T0, Crank, dataset, opened
from weir.fragments.client.matcher import Rewriter
from weir.fragments.client.quad_source import Horizon, Keys
from weir.fragments.protocol.annotation import BEGINNING, Annotation, Fact, Labeling, Method
from weir.fragments.server import FragmentsApp

FACTS = [
    Fact(f"<{EX}s{n}>", f"<{EX}{name}>", f'"{n}"', T0, T0 + (n + 1) * SECOND)
    for n in range(3)
    for name in ("delay", "platform")
]


def found(annotation: Annotation, keys: Keys | None = None) -> list[Fact]:
    clock = Crank()
    app = FragmentsApp([dataset([], FACTS, annotation)], clock=clock.now)

    async def run() -> list[Fact]:
        async with opened(app, clock, plain=True) as source:
            facts, _ = await Rewriter(source, annotation, T0, Horizon()).matching(
                (None, f"<{EX}delay>", None), keys
            )
            return sorted(facts)

    return asyncio.run(run())


def published(annotation: Annotation) -> list[Fact]:
    """Expirations do not tell when a fact began."""
    delays = sorted(fact for fact in FACTS if fact.predicate == f"<{EX}delay>")
    if annotation.labeling is Labeling.INTERVAL:
        return delays
    return [fact._replace(start=BEGINNING) for fact in delays]


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_facts_come_back_with_their_validity(annotation: Annotation) -> None:
    assert found(annotation) == published(annotation)


@pytest.mark.parametrize("method", list(Method))
def test_keys_restrict_them(method: Method) -> None:
    annotation = Annotation(method, Labeling.INTERVAL)
    keys = Keys((0, 2), ((f"<{EX}s1>", '"1"'), (f"<{EX}s2>", '"1"')))
    assert found(annotation, keys) == published(annotation)[1:2]
