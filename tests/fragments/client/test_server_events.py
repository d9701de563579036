"""Events from bytes, wherever they are cut."""

from __future__ import annotations

import pytest

from weir.fragments.client.server_events import EventReader


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_they_are_cut(size: int) -> None:
    text = b"data: a\r\ndata:b\r\rid: 7\ndata\n\n: comment\nevent: x\n\nretry: 10\ndata:  c\r\n\r\ndata: torn"
    reader = EventReader(100)
    events = [event for at in range(0, len(text), size) for event in reader.feed(text[at : at + size])]
    told = [(event.data, event.id, event.retry) for event in events if event.data is not None]
    assert told == [(b"a\nb", None, None), (b"", "7", None), (b" c", None, 0.01)]
