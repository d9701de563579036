"""Panes with the head and panes by themselves: the same store, whatever their sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weir.runtime.direct import MemoryStore
from weir.runtime.worker.state_store import ROOM, SMALL, BundledStore

SIZES = st.sampled_from([0, 1, 500, SMALL, SMALL + 1])
STEPS = st.lists(st.lists(st.tuples(st.sampled_from("abcdefghijklmnop"), SIZES | st.none())), max_size=6)


@given(STEPS)
def test_what_is_put_is_found_also_by_another_worker(steps: list[list[tuple[str, int | None]]]) -> None:
    inner, known = MemoryStore(), dict[str, bytes]()
    for number, changes in enumerate(steps):
        store = BundledStore(inner)
        assert store.head() == (None if not number else f'{{"n": {number - 1}}}'.encode())
        for name, size in changes:
            if size is None and name in known:
                store.remove(name)
                del known[name]
            elif size is not None:
                known[name] = bytes([number]) * size
                store.put(name, known[name])
        store.set_head(f'{{"n": {number}}}'.encode())
        again = BundledStore(inner)
        again.head()
        assert {name: again.pane(name) for name in known} == known
        assert set(inner.panes) == {name for name in inner.panes if name in known}
        head = inner.head()
        assert head is not None and len(head) < ROOM + 4000


def test_a_store_that_is_cleared_is_empty() -> None:
    inner = MemoryStore()
    store = BundledStore(inner)
    assert store.head() is None
    store.put("a", b"x")
    store.put("b", b"x" * (SMALL + 1))
    store.set_head(b"{}")
    store.clear()
    assert (inner.head(), inner.panes) == (None, {})
