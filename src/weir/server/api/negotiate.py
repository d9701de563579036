"""Content negotiation of the service's responses."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request

from weir.linked.http import negotiation
from weir.server.problems import Problem


def chosen(request: Request, offered: Sequence[str]) -> str:
    """The best of ``offered`` for a request, the first where nothing is asked for; else 406."""
    found = negotiation.negotiate(request.headers.get("accept", ""), offered)
    if found is None:
        raise Problem(406, "none of these types can be made", f"known are {', '.join(offered)}")
    return found
