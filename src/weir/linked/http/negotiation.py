"""Content negotiation: which of the media types on offer is wanted most (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Sequence

_RANGES = 64
"""How many media ranges of a header are looked at."""


def negotiate(accept: str, offered: Sequence[str]) -> str | None:
    """The best of ``offered`` for an Accept header, None where none is acceptable (406).

    Of equal quality, the one that is named most exactly, then the one that is offered first; that is the
    answer, too, where nothing is asked for.
    """
    if not accept.strip():
        return offered[0]
    ranges = [_range(part) for part in accept.split(",")[:_RANGES]]
    best, chosen = (0.0, 0), None
    for media_type in offered:
        exactness, quality = _quality(media_type, ranges)
        if quality and (quality, exactness) > best:
            best, chosen = (quality, exactness), media_type
    return chosen


def _quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> tuple[int, float]:
    """How exact the most exact range is that a media type is in, and the quality that it gives."""
    exactness = {media_type: 2, f"{media_type.partition('/')[0]}/*": 1, "*/*": 0}
    return max(
        ((exactness[name], quality) for name, quality in ranges if name in exactness), default=(0, 0.0)
    )


def _range(part: str) -> tuple[str, float]:
    name, *parameters = part.lower().split(";")
    quality = 1.0
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                quality = min(1.0, max(0.0, float(value)))
            except ValueError:
                quality = 0.0
    return name.strip(), quality
