"""What is dealt to slots: together they have what there was, each its own, and every message has one home."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.plan.analysis.shares import share
from weir.rdf.formats.tnq import parse_lines
from weir.rdf.messages import Messages
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.ingest.dealing import Cut, Dealt, homes
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.parts import LaneInput

KEY = b"weir.testing"
HEAD = (
    "PREFIX : <http://e/> SELECT {what} FROM NAMED WINDOW <w> ON <s> [{window}] "
    "WHERE {{ WINDOW <w> {{ {body} }} }}"
)
GRID, COUNT = "RANGE 10 STEP 10", "TRIPLES 3"


def split(slots: int, body: str = "?x :p ?y", place: int = 0, window: str = GRID) -> Registration:
    text = HEAD.format(what="?x ?y", window=window, body=body)
    return Registration("split", text, slots=tuple(range(slots)), share=place, evaluator="interval")


def frames(slots: int, lines: str, *registrations: Registration) -> dict[int, Frame]:
    queries = {each.name: each for each in registrations}
    plan = MatchPlan(Catalog({"s": StreamEntry("s")}, queries), slots, KEY)
    given = LaneInput("0", parse_lines(lines.encode(), scope="s", key=KEY))
    found = {slot: Frame.from_bytes(frame.to_bytes()) for slot, frame in plan.frames("s", given)}
    for slot, data in plan.packed("s", given):
        assert_same(Frame.from_bytes(bytes(data)), found[slot])
    return found


def assert_same(packed: Frame, alone: Frame) -> None:
    """A frame that was made with all others is the one that was made alone."""
    for name in ("stream", "lane", "position", "high", "ended", "side"):
        assert getattr(packed, name) == getattr(alone, name), name
    for one, other in zip(arrays(packed), arrays(alone), strict=True):
        assert one.tolist() == other.tolist()
    assert packed.texts.to_pylist() == alone.texts.to_pylist()


def arrays(frame: Frame) -> list[np.ndarray]:
    lead = [] if frame.watermark is None else [frame.watermark.lead, np.array(frame.watermark.rest)]
    return [*frame.messages.columns.values(), frame.text_ids, frame.positions, frame.at_home, *lead]


def triples(frame: Frame) -> list[tuple[int, int, int]]:
    """(time of its message, place in it, subject) of each."""
    held = frame.messages
    times, places, subjects = held.time[held.message].tolist(), held.place.tolist(), held.subject.tolist()
    return list(zip(times, places, subjects, strict=True))


statements = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from("abcdefgh"), st.sampled_from("pq"), st.sampled_from("xy")),
    max_size=30,
)


def written(found: list[tuple[int, str, str, str]]) -> str:
    return "".join(f"{at}\t<http://e/{s}> <http://e/{p}> <http://e/{o}> .\n" for at, s, p, o in found)


@given(statements, st.sampled_from([1, 2, 3, 7]))
@settings(deadline=None, max_examples=60)
def test_slots_have_together_what_one_has(found: list[tuple[int, str, str, str]], slots: int) -> None:
    (one,) = frames(1, written(found), split(1)).values()
    many = frames(slots, written(found), split(slots))
    assert Counter(triples(one)) == Counter(each for frame in many.values() for each in triples(frame))
    for slot, frame in many.items():
        assert (share(frame.messages.quads, 0, slots) == slot).all()
        assert frame.messages.message.tolist() == sorted(frame.messages.message.tolist())
        assert set(frame.messages.subject.tolist()) <= set(frame.text_ids.tolist())
    told = [place for frame in many.values() for place in frame.positions[frame.at_home].tolist()]
    assert sorted(told) == sorted(one.positions.tolist()), "every message has one home"


def test_a_frame_has_its_own_messages_and_a_watermark() -> None:
    lines = written([(time, "abcdefgh"[time % 8], "p", "x") for time in range(40)])
    found = frames(4, lines, split(4))
    assert sum(len(frame.messages) for frame in found.values()) == 40
    for frame in found.values():
        assert frame.watermark is not None
        assert frame.watermark.lead.tolist() == [0] and frame.watermark.rest == 39_000


def test_a_slot_with_a_query_that_counts_gets_every_message() -> None:
    lines = written([(time, "abcdefgh"[time % 8], "p", "x") for time in range(40)])
    counts = Registration("count", HEAD.format(what="*", window=COUNT, body="?x :q ?y"), slots=(2,))
    found = frames(4, lines, split(4), counts)
    assert len(found[2].messages) == 40 and found[2].watermark is None
    assert all(len(found[slot].messages) < 40 for slot in (0, 1, 3))


def test_a_part_whose_times_a_watermark_cannot_tell_goes_to_all() -> None:
    """A message of the next decade: who is believed depends on what the lane had before."""
    lines = written([(0, "a", "p", "x"), (3650 * 86_400_000, "b", "p", "x"), (1, "c", "p", "x")])
    found = frames(3, lines, split(3))
    assert all(frame.watermark is None and len(frame.messages) == 3 for frame in found.values())


def test_slots_without_a_reader_get_no_message() -> None:
    other = Registration(
        "other", HEAD.format(what="*", window=GRID, body="?x :p ?y").replace("<s>", "<t>"), slots=(1,)
    )
    own = Registration("own", HEAD.format(what="*", window=GRID, body="?x :p ?y"), slots=(0,))
    queries = {"own": own, "other": other}
    plan = MatchPlan(Catalog({"s": StreamEntry("s"), "t": StreamEntry("t")}, queries), 2, KEY)
    given = LaneInput("0", parse_lines(written([(1, "a", "p", "x")]).encode(), scope="s", key=KEY))
    sizes = {slot: len(frame.messages) for slot, frame in plan.frames("s", given)}
    assert sizes == {0: 1, 1: 0}


def test_bytes_grow_with_rows_and_slots_not_with_their_product() -> None:
    lines = written([(time, f"a{time % 997}", "p", "x") for time in range(5000)])

    def size(slots: int) -> int:
        return sum(len(frame.to_bytes()) for frame in frames(slots, lines, split(slots)).values())

    assert size(64) < 1.5 * size(2)


COLUMNS: Any = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=40)


@given(COLUMNS)
def test_rows_are_dealt_once(pairs: list[tuple[int, int]]) -> None:
    pairs.sort(key=lambda pair: pair[1])
    slot, row = (np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1))
    bits = np.array([1 << (number % 4) for number in range(len(pairs))], np.uint8)
    dealt = Dealt.of(slot, row, bits)
    assert list(zip(dealt.slot.tolist(), dealt.row.tolist(), strict=True)) == sorted(set(pairs))
    for place, pair in enumerate(sorted(set(pairs))):
        told = [int(bit) for other, bit in zip(pairs, bits, strict=True) if other == pair]
        assert int(dealt.bits[place]) == int(np.bitwise_or.reduce(told))


@pytest.mark.parametrize("slots", [(0, 1, 2), (1,)])
def test_a_cut_has_the_messages_of_its_slots(slots: tuple[int, ...]) -> None:
    """Two messages of two triples each, and one that nobody wants."""
    message = np.array([0, 0, 1, 1, 2])
    one = np.arange(5)
    messages = Messages(np.array([5, 6, 7]), np.array([2, 2, 1]), message, one, one, one, one, one * 0)
    dealt = Dealt.of(np.array([0, 1, 1, 1]), np.array([0, 1, 2, 3]), np.zeros(4, np.uint8))
    home = homes(messages, dealt, (0, 1, 2))
    assert home.tolist() == [0, 1, 0]
    cut = Cut(messages, dealt, home, slots)
    held, index, mine = cut.of(1)
    assert (index.tolist(), mine.tolist()) == ([0, 1], [False, True])
    assert (held.time.tolist(), held.message.tolist()) == ([5, 6], [0, 1, 1])
    assert held.subject.tolist() == [1, 2, 3]
    if 0 in slots:
        held, index, mine = cut.of(0)
        assert (index.tolist(), held.message.tolist()) == ([0, 2], [0])
        assert len(cut.of(2)[0]) == 0
