"""Frames that are made together are those that are made alone, and many slots cost little more than few."""

from __future__ import annotations

import numpy as np
import pytest

from weir.rdf.formats.tnq import parse_lines
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry
from weir.runtime.ingest.dealing import Cut, Texts, homes
from weir.runtime.ingest.frames import Frame
from weir.runtime.ingest.matching import MatchPlan
from weir.runtime.ingest.packing import packed_frames
from weir.runtime.ingest.parts import LaneInput

KEY = b"weir.testing"
QUERY = (
    "PREFIX : <http://e/> SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
    "WHERE { WINDOW <w> { ?x :in ?y } }"
)


def plan_of(slots: int, *more: Registration) -> MatchPlan:
    split = Registration("split", QUERY, slots=tuple(range(slots)), share=0, evaluator="interval")
    queries = {each.name: each for each in (split, *more)}
    return MatchPlan(Catalog({"s": StreamEntry("s")}, queries), slots, KEY)


def part(messages: int, people: int = 997) -> LaneInput:
    """Messages of three readings each, and triples that nobody wants."""
    lines = [
        f"{number // 3}\t<http://e/person/{number * 7 % people}> <http://e/{predicate}> "
        f"<http://e/room/{number % 50}> .\n"
        for number in range(messages)
        for predicate in ("in", "near")[: 1 + number % 2]
    ]
    return LaneInput("0", parse_lines("".join(lines).encode(), scope="s", key=KEY))


def told(frame: Frame) -> list[object]:
    columns = [column.tolist() for column in frame.messages.columns.values()]
    texts = dict(zip(frame.text_ids.tolist(), frame.texts.to_pylist(), strict=True))
    return [columns, texts, frame.positions.tolist(), frame.at_home.tolist(), frame.side, frame.position]


@pytest.mark.parametrize("slots", [1, 2, 7, 64])
def test_frames_made_together_are_those_made_alone(slots: int) -> None:
    whole = Registration("whole", QUERY.replace("RANGE 10 STEP 10", "TRIPLES 3"), slots=(0,))
    for plan in (plan_of(slots), plan_of(slots, whole)):
        alone = {
            slot: told(Frame.from_bytes(frame.to_bytes())) for slot, frame in plan.frames("s", part(200))
        }
        together = {slot: told(Frame.from_bytes(bytes(data))) for slot, data in plan.packed("s", part(200))}
        assert together == alone


def test_slots_without_a_message_get_the_same_bytes() -> None:
    given = LaneInput("0", parse_lines(b"1\t<http://e/a> <http://e/in> <http://e/b> .\n", scope="s", key=KEY))
    found = [data for _, data in plan_of(16).packed("s", given)]
    assert len({id(data) for data in found}) <= 3
    assert sum(len(Frame.from_bytes(bytes(data)).messages) for data in found) == 1


def test_frames_have_the_messages_of_their_slots_and_their_texts() -> None:
    given = part(500)
    messages, slots = given.parsed.messages, range(8)
    dealt = plan_of(8).dealt("s", messages)
    cut = Cut(messages, dealt, homes(messages, dealt, slots), slots)
    found = packed_frames(Frame("s", "0"), cut, Texts(dealt, given.parsed.terms))
    for slot, data in found.items():
        frame, (own, index, home) = Frame.from_bytes(bytes(data)), cut.of(slot)
        assert frame.messages.subject.tolist() == own.subject.tolist()
        assert (frame.positions.tolist(), frame.at_home.tolist()) == (index.tolist(), home.tolist())
        assert {*own.subject.tolist(), *own.object.tolist()} == {*frame.text_ids.tolist()}


def test_bytes_are_those_of_triples_and_a_little_for_each_slot() -> None:
    given = part(20_000)
    few, many = (sum(len(data) for _, data in plan_of(slots).packed("s", given)) for slots in (2, 128))
    assert many - few < 128 * 400 + 8 * len(given.parsed.messages.message)
    assert np.sum(given.parsed.messages.triples) == len(given.parsed.messages.message)
