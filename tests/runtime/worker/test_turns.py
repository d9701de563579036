"""Queries that call SERVICE take turns in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weir.kernel.contract import Answers, Steps
from weir.language import parse
from weir.runtime.worker.turns import calls_services, in_order_of_time, levels


def steps(name: str, times: Sequence[int], log: list[str]) -> Steps:
    for time in times:
        yield time
        log.append(f"{name}{time}")
    return Answers(np.array(times), {}, evaluations=len(times))


def test_times_in_order_and_those_of_a_time_together() -> None:
    log: list[str] = []
    due = {"b": steps("b", [1, 3], log), "a": steps("a", [2, 3], log), "c": steps("c", [], log)}

    def work(name: str, step: Callable[[], None]) -> None:
        step()

    found = in_order_of_time(due, lambda at, names: log.append(f"{at}:{''.join(names)}"), work)
    assert log == ["1:b", "b1", "2:a", "a2", "3:ab", "a3", "b3"]
    assert {name: answers.evaluations for name, answers in found.items()} == {"a": 2, "b": 2, "c": 0}


def test_one_that_fails_is_left_out() -> None:
    log: list[str] = []

    def work(name: str, step: Callable[[], None]) -> None:
        if name != "b" or not log:
            step()

    due = {name: steps(name, [1, 2], log) for name in "ab"}
    found = in_order_of_time(due, lambda at, names: None, work)
    assert log == ["a1", "a2"] and set(found) == {"a"}


def query(name: str, stream: str, service: bool) -> str:
    where = "SERVICE <http://e/q> { ?s ?p ?v }" if service else ""
    return f"""REGISTER RSTREAM <{name}> AS CONSTRUCT {{ ?s ?p ?o }}
    FROM NAMED WINDOW <w> ON <{stream}> [RANGE 1s] WHERE {{ WINDOW <w> {{ ?s ?p ?o }} {where} }}"""


def test_who_reads_what_a_calling_query_makes_comes_a_level_later() -> None:
    texts = {
        "a": query("http://e/a", "http://e/s", True),
        "b": query("http://e/b", "http://e/a", False),
        "c": query("http://e/c", "http://e/b", True),
        "d": query("http://e/d", "http://e/s", False),
    }
    queries = {name: parse(text) for name, text in texts.items()}
    found = levels("abcd", queries)
    assert found == {"a": (0, True), "b": (1, False), "c": (1, True), "d": (0, False)}
    assert calls_services(queries["a"]) and not calls_services(queries["d"])
