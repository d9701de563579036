"""Content negotiation: which of the types that can be made is wanted most (RFC 9110, 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request

from weir.server.problems import Problem


def chosen(request: Request, offered: Sequence[str]) -> str:
    """The best of ``offered`` for a request, the first where nothing is asked for; else 406."""
    accept = request.headers.get("accept", "").strip()
    if not accept:
        return offered[0]
    found = best(accept, offered)
    if found is None:
        raise Problem(406, "none of these types can be made", f"known are {', '.join(offered)}")
    return found


def best(accept: str, offered: Sequence[str]) -> str | None:
    """Of types of equal quality the one that is named most exactly, then the one that is offered first."""
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    ranked: list[tuple[float, int, int, str]] = []
    for place, each in enumerate(offered):
        major = each.partition("/")[0]
        fits = [
            (exact, quality)
            for wanted, quality in ranges
            for exact, text in ((2, each), (1, f"{major}/*"), (0, "*/*"))
            if wanted == text
        ]
        if fits:
            exact, quality = max(fits)
            if quality > 0:
                ranked.append((-quality, -exact, place, each))
    return min(ranked)[3] if ranked else None


def _range(part: str) -> tuple[str, float]:
    name, *parameters = part.split(";")
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip().lower() == "q":
            try:
                quality = min(1.0, max(0.0, float(value.strip())))
            except ValueError:
                quality = 0.0
    return name.strip().lower(), quality
