"""What a page says of itself: counts, links to other pages, forms, and until when it holds."""

from __future__ import annotations

from fragments_kit import EX, SECOND, T0
from weir.fragments.protocol import controls
from weir.fragments.protocol.annotation import EXPIRATION, FOREVER, Annotation, Labeling, Method, time_text
from weir.fragments.protocol.controls import AT, VALUES
from weir.fragments.server.dataset import Dataset
from weir.fragments.server.metadata import Described, metadata_of, values_of
from weir.fragments.server.request import parse_request


def said(query: str, total: int, changes: int = FOREVER, *, history: bool = False) -> dict[str, list[str]]:
    """The objects of a page's metadata by predicate."""
    labeling = Labeling.INTERVAL if history else Labeling.EXPIRATION
    dataset = Dataset("d", page_size=10, annotation=Annotation(Method.GRAPHS, labeling))
    about = Described.of(dataset, parse_request(query, dataset, T0), "http://weir.test", total, changes)
    found: dict[str, list[str]] = {}
    _, own, shared = metadata_of(about, values_of(about))
    for _, predicate, object_ in (*own, *shared):
        found.setdefault(predicate, []).append(object_)
    return found


def test_a_page_in_the_middle_links_to_its_neighbours() -> None:
    page = said(f"subject={EX}s&page=2", 25)
    assert page[controls.PRIMARY_TOPIC] == [f"<http://weir.test/d?subject={EX}s&page=2>"]
    assert page[controls.NEXT] == [f"<http://weir.test/d?subject={EX}s&page=3>"]
    assert page[controls.PREVIOUS] == page[controls.FIRST] == [f"<http://weir.test/d?subject={EX}s&page=1>"]
    assert page[controls.TOTAL_ITEMS][0].startswith('"25"')


def test_a_last_page_has_none_after_it() -> None:
    assert controls.NEXT not in said("page=3", 25)


def test_a_page_says_when_it_changes() -> None:
    assert said("", 1, T0 + SECOND)[EXPIRATION] == [time_text(T0 + SECOND)]
    assert EXPIRATION not in said("", 1)


def test_two_forms_and_an_instant_only_where_there_is_history() -> None:
    assert len(said("", 0)[controls.SEARCH]) == 2
    assert f"<{VALUES}>" in said("", 0)[controls.PROPERTY]
    assert f"<{AT}>" not in said("", 0)[controls.PROPERTY]
    assert f"<{AT}>" in said("", 0, history=True)[controls.PROPERTY]


def test_a_long_address_is_not_repeated_more_than_needed() -> None:
    page = said(f"subject={EX}{'s' * 1200}", 25)
    assert controls.FIRST not in page and controls.NEXT in page
