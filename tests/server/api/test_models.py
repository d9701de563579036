"""The bodies of requests."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from weir.server.api.models import GraphUrl, NewQuery, NewStream, Publication, described_body


def test_unknown_members_are_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        NewQuery.model_validate({"text": "ASK {}", "nmae": "q"})


@pytest.mark.parametrize("iri", ["no iri", "e/s", "http://e/<s>", "http://e/ s"])
def test_a_stream_has_an_absolute_iri(iri: str) -> None:
    with pytest.raises(ValidationError):
        NewStream(iri=iri)
    assert NewStream(iri="http://e/s").heartbeat == "auto"


def test_bounds_are_kept() -> None:
    with pytest.raises(ValidationError):
        Publication(lifetime=0)
    with pytest.raises(ValidationError):
        NewStream(iri="http://e/s", lateness=4000)


def test_a_body_is_described_by_its_media_types() -> None:
    described = described_body("text/turtle", **{"application/json": GraphUrl.model_json_schema()})
    content = described["requestBody"]["content"]
    assert content["text/turtle"] == {"schema": {"type": "string"}}
    assert content["application/json"]["schema"]["required"] == ["url"]
