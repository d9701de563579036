"""Messages that come late and in any batches, and what queries over them answer."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from weir.testing import Scenario

Message = tuple[int, str, str, str]
MESSAGES = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.sampled_from("pq"), st.sampled_from("xyz")),
    max_size=14,
)


def line(message: Message) -> str:
    time, subject, predicate, target = message
    return f"{time}\t<http://e/{subject}> <http://e/{predicate}> <http://e/{target}> .\n"


def answers(
    queries: dict[str, str], evaluator: str, batches: list[list[Message]], **how: Any
) -> dict[str, list[dict[str, Any]]]:
    """What each query says, in the order in which it does; no message is too late."""
    scenario = Scenario(queries, evaluator=evaluator, **how)
    found = scenario.run(["".join(map(line, batch)) for batch in batches], "s")
    assert all(not step.dropped for step in scenario.steps)
    return {name: [each for each in found if each["query"] == name] for name in queries}


@st.composite
def cut_and_shuffled(draw: st.DrawFn) -> tuple[list[Message], list[list[Message]]]:
    """Messages of distinct times in order, and the same delayed by less than the lateness, in batches."""
    unique = {message[0]: message for message in draw(MESSAGES)}
    ordered = [unique[time] for time in sorted(unique)]
    delays = [draw(st.integers(0, 29)) for _ in ordered]
    arrival = sorted(range(len(ordered)), key=lambda i: ordered[i][0] + delays[i])
    batches: list[list[Message]] = [[]]
    for place in arrival:
        batches[-1].append(ordered[place])
        if draw(st.booleans()):
            batches.append([])
    return ordered, batches
