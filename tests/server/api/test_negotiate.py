"""Content negotiation."""

from __future__ import annotations

from weir.server.api.negotiate import best


def test_negotiation() -> None:
    offered = ("application/json", "text/turtle", "text/event-stream")
    assert best("*/*", offered) == "application/json"
    assert best("text/*;q=0.5, application/json;q=0.4", offered) == "text/turtle"
    assert best("text/event-stream", offered) == "text/event-stream"
    assert best("application/json;q=0, */*;q=0.1", offered) == "text/turtle"
    assert best("image/png", offered) is None
    assert best("text/turtle;q=x", offered) is None
