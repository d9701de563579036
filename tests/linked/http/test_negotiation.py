"""Content negotiation (RFC 9110, section 12.5.1)."""

from __future__ import annotations

import pytest

from weir.linked.http.negotiation import negotiate

OFFERED = ("application/json", "text/turtle", "text/event-stream")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/*;q=0.5, application/json;q=0.4", "text/turtle"),
        ("text/event-stream", "text/event-stream"),
        ("TEXT/Turtle; Q=0.9", "text/turtle"),
        ("application/json;q=0, */*;q=0.1", "text/turtle"),
        ("*/*, text/event-stream", "text/event-stream"),
        ("image/png", None),
        ("text/turtle;q=x", None),
    ],
)
def test_the_best_type(accept: str, chosen: str | None) -> None:
    assert negotiate(accept, OFFERED) == chosen
