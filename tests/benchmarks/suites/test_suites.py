"""NEXMark and the social network: every question runs and every row is what a store answers anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from weir_bench.suites.auctions import AUCTIONS
from weir_bench.suites.benchmark import SUITES, one, replayed
from weir_bench.suites.check import answered, check, expected
from weir_bench.suites.social import SOCIAL
from weir_bench.suites.suite import BLOCK, Question, Suite

EVERY = [(suite, question) for suite in SUITES for question in suite.questions]


@pytest.mark.parametrize(("suite", "question"), EVERY, ids=lambda value: value.name)
def test_every_row_is_what_a_store_answers(suite: Suite, question: Question, tmp_path: Path) -> None:
    messages, static = suite.lines(500), suite.write_static(tmp_path)
    text, seconds = replayed(suite, question, messages, static)
    rows, wrong = check(suite, question, messages, static, text)
    assert wrong is None and rows > 0 and seconds > 0


def test_the_check_finds_a_row_too_few_and_one_too_many(tmp_path: Path) -> None:
    question = next(each for each in AUCTIONS.questions if each.name == "Q16")
    messages = AUCTIONS.lines(300)
    text, _ = replayed(AUCTIONS, question, messages, None)
    first, rest = text.split(b"\n", 1)
    assert "1 rows missing" in str(check(AUCTIONS, question, messages, None, rest)[1])
    assert "1 too many" in str(check(AUCTIONS, question, messages, None, first + b"\n" + text)[1])
    later = first.replace(b"2023", b"2024") + b"\n"
    assert "there should be nothing" in str(check(AUCTIONS, question, messages, None, text + later)[1])


def test_a_triple_stays_while_one_of_its_messages_is_in_the_window(tmp_path: Path) -> None:
    """Window of 2 s, a step a second: u visits at 0 and at 1; at 3 only the second visit is in it."""
    line = "{}\t<http://example.org/social#u> <http://example.org/social#visits> <http://example.org/x> .\n"
    question = Question("t", "", "?u", "?u s:visits ?x .", range_ms=2_000, step_ms=1_000)
    messages = [line.format(0), line.format(1_000)]
    assert [at for at, _ in expected(SOCIAL, question, messages, None)] == [1_000, 2_000, 3_000]
    text, _ = replayed(SOCIAL, question, messages, None)
    assert check(SOCIAL, question, messages, None, text) == (3, None)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_blocks_make_one_stream_in_the_order_of_time(suite: Suite) -> None:
    longer = suite.lines(BLOCK + 20)
    times = [int(text.partition("\t")[0]) for text in longer]
    assert times == sorted(times) and len(set(times)) == BLOCK + 20
    assert longer[-20:] == suite.block(1, 20)["text"].to_list()


def test_of_fifty_events_one_is_a_person_and_three_are_auctions() -> None:
    lines = AUCTIONS.lines(500)
    assert sum("#name>" in text for text in lines) == 10
    assert sum("#seller>" in text for text in lines) == 30
    assert sum("#bidder>" in text for text in lines) == 460


def test_a_published_question_is_asked_or_has_a_reason() -> None:
    asked = {question.name for question in AUCTIONS.questions}
    assert asked | set(AUCTIONS.unsaid) == {f"Q{number}" for number in range(23)}
    assert not asked & set(AUCTIONS.unsaid) and all(len(why) > 15 for why in AUCTIONS.unsaid.values())


def test_what_is_measured_is_what_is_checked(tmp_path: Path) -> None:
    question = replace(SOCIAL.questions[0])
    static = SOCIAL.write_static(tmp_path)
    told = one(SOCIAL, question, SOCIAL.lines(1_000), static, 1_000)
    assert told["difference"] is None and told["triples_a_second"] > 0
    assert told["rows"] == sum(
        rows.total() for rows in answered(replayed(SOCIAL, question, SOCIAL.lines(1_000), static)[0]).values()
    )
