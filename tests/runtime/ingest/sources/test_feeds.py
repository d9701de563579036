"""A feed whose input has ended refuses to go on where there is more; a source tells its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from weir.errors import CheckpointError
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.feeds import Feed, Place, Reached, Source


@dataclass
class Growing(Feed):
    """Has so many items."""

    items: int

    def latest(self, start: Reached, finishing: bool) -> Reached:
        return {"n": self.items, "end": finishing}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        return []

    def beyond(self, reached: Reached) -> object | None:
        return f"item {reached['n']}" if self.items > reached["n"] else None


@dataclass(frozen=True)
class Growth(Source):
    """Grows."""

    kind: ClassVar[str] = "growth"

    items: int = 1

    def check(self) -> None: ...

    def feed(self, place: Place) -> Feed:
        return Growing(self.items)


def test_only_an_input_that_has_ended_may_not_grow() -> None:
    feed = Growing(2)
    end = feed.latest({}, True)
    feed.refuse_more(end)
    feed.items = 3
    feed.refuse_more({**end, "end": False})
    with pytest.raises(CheckpointError, match="has ended, but there is more: item 2"):
        feed.refuse_more(end)


def test_a_source_is_endless_and_plain_values() -> None:
    assert Growth(3).as_json() == {"kind": "growth", "items": 3}
    assert Growth().endless
