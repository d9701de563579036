"""Mailboxes: the deadline holds whatever the server does, and late answers come with the next collection."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from service_servers import Mood, MoodyServer, moody
from weir.linked.service.config import ServiceConfig
from weir.linked.service.refresher import Mailbox, RemoteLoop, shared_loop

pytestmark = pytest.mark.network

CONFIG = ServiceConfig(timeout=5.0, retries=0)


@pytest.fixture
def server() -> Iterator[MoodyServer]:
    with moody() as running:
        yield running


@pytest.fixture
def loop() -> Iterator[RemoteLoop]:
    running = RemoteLoop()
    yield running
    running.close()


def test_answers_in_time_are_collected(server: MoodyServer, loop: RemoteLoop) -> None:
    box = Mailbox(loop)
    for tag in range(5):
        box.ask(server.endpoint, CONFIG, "SELECT * {}", tag)
    found = box.collect(5)
    assert sorted(outcome.tag for outcome in found) == [0, 1, 2, 3, 4]
    assert all(outcome.answer is not None for outcome in found)
    assert box.pending == 0 and box.collect(0.1) == []


def test_the_deadline_holds_and_late_answers_come_later(server: MoodyServer, loop: RemoteLoop) -> None:
    server.mood, server.delay = Mood.SLOW, 0.5
    box = Mailbox(loop)
    box.ask(server.endpoint, CONFIG, "SELECT * {}", "late")
    started = time.monotonic()
    assert box.collect(0.1) == []
    assert time.monotonic() - started < 0.4
    assert box.pending == 1
    assert [outcome.tag for outcome in box.collect(5)] == ["late"]


def test_failures_are_outcomes(server: MoodyServer, loop: RemoteLoop) -> None:
    server.mood = Mood.GARBAGE
    box = Mailbox(loop)
    box.ask(server.endpoint, CONFIG, "SELECT * {}", "bad")
    box.ask("http://[", CONFIG, "SELECT * {}", "worse")
    found = {outcome.tag: outcome for outcome in box.collect(5)}
    assert found.keys() == {"bad", "worse"}
    assert all(outcome.answer is None and outcome.error is not None for outcome in found.values())


def test_cancelled_requests_have_an_outcome(server: MoodyServer, loop: RemoteLoop) -> None:
    server.mood = Mood.SLOW
    box = Mailbox(loop)
    box.ask(server.endpoint, CONFIG, "SELECT * {}", "given up")
    box.collect(0.05)
    box.cancel()
    (outcome,) = box.collect(2)
    assert outcome.error is not None and "given up" in str(outcome.error)


def test_two_askers_do_not_see_each_other(server: MoodyServer, loop: RemoteLoop) -> None:
    one, two = Mailbox(loop), Mailbox(loop)
    one.ask(server.endpoint, CONFIG, "SELECT * {}", "one")
    two.ask(server.endpoint, CONFIG, "SELECT * {}", "two")
    assert [outcome.tag for outcome in two.collect(5)] == ["two"]
    assert [outcome.tag for outcome in one.collect(5)] == ["one"]


def test_a_process_has_one_shared_loop() -> None:
    assert shared_loop() is shared_loop()
