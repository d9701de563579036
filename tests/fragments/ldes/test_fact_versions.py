"""Members of an event stream: numbered for ever, never changed, in pages of which the oldest go."""

from __future__ import annotations

import random

from fragments_kit import EX, SECOND, T0
from weir.fragments.ldes.fact_versions import PAGE, Change, Member, Members
from weir.fragments.protocol.annotation import Fact


def change(number: int, end: int = 10) -> Change:
    return number, Fact(f"<{EX}s{number}>", f"<{EX}p>", f'"{number}"', T0, T0 + end * SECOND)


def recorded(members: Members, count: int, at_once: int = 7) -> None:
    for low in range(0, count, at_once):
        some = [change(n) for n in range(low, min(count, low + at_once))]
        members.record(some, T0 + low * SECOND)


def everything(members: Members) -> list[Member]:
    return [member for span in members.spans() for member in members.page(span.page) or ()]


def test_every_change_is_a_member_in_order() -> None:
    members = Members(10_000)
    recorded(members, 2 * PAGE + 30)
    found = everything(members)
    assert [member.number for member in found] == list(range(2 * PAGE + 30)) == [m.of for m in found]
    assert [member.fact for member in found] == [change(n)[1] for n in range(2 * PAGE + 30)]
    assert [(span.page, span.full) for span in members.spans()] == [(0, True), (1, True), (2, False)]
    for span in members.spans():
        page = members.page(span.page) or []
        assert (span.first, span.last) == (page[0].created, page[-1].created)


def test_times_never_fall() -> None:
    members = Members(10_000)
    draw = random.Random(1)
    for number in range(600):
        members.record([change(number)], T0 + draw.randrange(1000) * SECOND)
    times = [member.created for member in everything(members)]
    assert times == sorted(times) and len(set(times)) > 3


def test_the_oldest_pages_go_and_the_others_keep_their_numbers() -> None:
    members = Members(3 * PAGE)
    recorded(members, 20 * PAGE + 1, at_once=50)
    assert members.oldest == 17 and members.page(16) is None and members.page(21) is None
    assert 3 * PAGE <= len(members) <= 4 * PAGE
    assert [member.number for member in everything(members)] == list(range(17 * PAGE, 20 * PAGE + 1))


def test_pages_older_than_the_age_go() -> None:
    members = Members(10**9, age=100 * SECOND)
    recorded(members, PAGE, at_once=PAGE)
    members.record([change(1)], T0 + 101 * SECOND)
    assert members.oldest == 1 and [span.page for span in members.spans()] == [1]


def test_what_is_kept_comes_back() -> None:
    members = Members(3 * PAGE)
    recorded(members, 9 * PAGE + 5, at_once=50)
    again = Members(3 * PAGE)
    again.oldest, again.latest = members.oldest, members.latest
    for page, columns in members.columns():
        again.restore(page, columns)
    assert everything(again) == everything(members) and again.spans() == members.spans()
    for each in (members, again):
        each.record([change(n) for n in range(PAGE)], T0)
    assert everything(again) == everything(members) and again.oldest == members.oldest


def test_without_room_nothing_is_kept() -> None:
    members = Members(0)
    recorded(members, 10)
    assert not members.spans() and not len(members)
