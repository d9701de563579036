"""Streams described for others."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from server_kit import still_service
from weir.server.api.stream_catalog import TYPES, catalog, document


@pytest.mark.parametrize("media_type", TYPES)
def test_streams_and_results_are_described_in_every_syntax(media_type: str, tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register("SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }", 'it "is"', "cqels", "auto")
    data = document(catalog(service, "http://h:1"), media_type)
    triples = set(ox.parse(data, format=ox.RdfFormat.from_media_type(media_type)))
    held = {(each.subject.value, each.predicate.value.rpartition("#")[2]) for each in triples}
    assert ("http://e/s", "hasEndpoint") in held
    addresses = {each.object.value for each in triples if each.predicate.value.endswith("#accessURL")}
    assert "http://h:1/api/streams/s/messages" in addresses
    assert any(each.endswith("/results") for each in addresses)


def test_one_stream_alone(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    told = catalog(service, "http://h:1", service.stream("s"))
    assert "/api/queries/" not in told
