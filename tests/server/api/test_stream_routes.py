"""Streams over HTTP."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from server_kit import call, still_service
from weir.server.api.stream_routes import TYPES, catalog, stream_json

LINE = b"1000\t<http://e/a> <http://e/b> <http://e/c> .\n"


def test_streams_are_made_listed_described_and_deleted(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    made = call(service, "POST", "/api/streams", json={"iri": "http://e/t", "id": "tea"})
    assert (made.status_code, made.headers["location"]) == (201, "/api/streams/tea")
    assert call(service, "POST", "/api/streams", json={"iri": "http://e/t"}).status_code == 409
    assert call(service, "POST", "/api/streams", json={"iri": "http://e/u", "id": "tea"}).status_code == 409
    listed = call(service, "GET", "/api/streams").json()["streams"]
    assert [each["id"] for each in listed] == ["s", "tea"]
    turtle = call(service, "GET", "/api/streams/tea", headers={"accept": "text/turtle"}).text
    assert "vocals:RDFStream" in turtle
    assert call(service, "DELETE", "/api/streams/tea").status_code == 204
    assert call(service, "GET", "/api/streams/tea").status_code == 404


def test_messages_are_on_disk_when_they_are_acknowledged(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    header = {"content-type": "application/x-tnq"}
    pushed = call(service, "POST", "/api/streams/s/messages", content=LINE + b"bad\n", headers=header)
    assert pushed.status_code == 202
    assert pushed.json()["accepted"] == 1
    assert [each["line"] for each in pushed.json()["rejected"]] == [2]
    told = stream_json(service, service.stream("s"))
    assert (told.id, told.source, told.backlog) == ("s", "log", service.pushed["http://e/s"].writer.backlog())
    assert service.pushed["http://e/s"].accepted == 1


@pytest.mark.parametrize(
    ("media_type", "body", "query", "status"),
    [
        ("image/png", b"x", "", 415),
        ("application/x-tnq", b"bad\n", "", 422),
        ("text/turtle", b"<a> <b>", "", 422),
        ("application/x-tnq", LINE, "?time=soon", 422),
    ],
)
def test_bad_messages_are_problems(
    media_type: str, body: bytes, query: str, status: int, tmp_path: Path
) -> None:
    header = {"content-type": media_type}
    service = still_service(tmp_path)
    answer = call(service, "POST", f"/api/streams/s/messages{query}", content=body, headers=header)
    assert answer.status_code == status


def test_a_body_that_is_not_as_described_tells_where(tmp_path: Path) -> None:
    wrong = call(still_service(tmp_path), "POST", "/api/streams", json={"iri": "no iri"})
    assert (wrong.status_code, wrong.json()["errors"][0]["place"]) == (422, "body/iri")


@pytest.mark.parametrize("media_type", TYPES)
def test_streams_and_results_are_described_in_every_syntax(media_type: str, tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.register("SELECT * { STREAM <http://e/s> [NOW] { ?a ?b ?c } }", 'it "is"', "cqels", "auto")
    data = call(service, "GET", "/api/streams", headers={"accept": media_type}).content
    triples = set(ox.parse(data, format=ox.RdfFormat.from_media_type(media_type)))
    held = {(each.subject.value, each.predicate.value.rpartition("#")[2]) for each in triples}
    assert ("http://e/s", "hasEndpoint") in held
    addresses = {each.object.value for each in triples if each.predicate.value.endswith("#accessURL")}
    assert any(each.endswith("/api/streams/s/messages") for each in addresses)
    assert any(each.endswith("/results") for each in addresses)


def test_one_stream_alone(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    told = catalog(service, "http://h:1", service.stream("s"))
    assert "/api/queries/" not in told
