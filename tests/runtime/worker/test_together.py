"""Queries that are evaluated together, in one step."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import Answers
from weir.runtime.control.failure import Failure
from weir.runtime.worker.together import Together, counting
from weir.testing import Scenario

TEXTS = {
    f"q{k}": f"PREFIX : <http://e/> REGISTER RSTREAM <q{k}> AS SELECT ?y FROM NAMED WINDOW <w> ON <s> "
    f"[RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ :x{k} :p ?y . ?z :p ?y }} }}"
    for k in range(16)
}
LINES = "".join(f"{time}\t<http://e/x{time % 16}> <http://e/p> <http://e/y> .\n" for time in range(1, 40))


def begun() -> Together:
    """The queries before their first evaluation, with what they are to read."""
    scenario = Scenario(TEXTS)
    group, plan = scenario.group, scenario.job.place.match_plan(0)
    frames = [frame for _, frame in plan.frames("s", scenario.lane("s").put(LINES).take())]
    group._take_texts(frames, 0)
    (((reading, _), shared),) = group.shared.items()
    (box,) = group.inboxes.values()
    box.admit(frames, 0, 0)
    return Together(shared, dict(group.members), reading.stream, box, group.failures)


def test_all_answer_and_have_what_there_is() -> None:
    work = begun()
    found = work.advance()
    assert found is not None
    # In the window from 0 to 10 ms are x1 to x9, each with every y.
    first = {name: int((found.answers.of(name).at == 10_000).sum()) for name in TEXTS}
    assert first == {name: 9 if 1 <= int(name[1:]) <= 9 else 0 for name in TEXTS}
    assert all(member.given == work.box.complete for member in work.members.values())
    assert work.advance() is None


def test_one_that_ends_is_evaluated_alone_and_leaves() -> None:
    whole = begun().advance()
    assert whole is not None
    work = begun()
    (answered,) = work.ending({"q3": Failure("q3", 0, "bad", 20_000, 1)})
    assert answered.member.name == "q3"
    expected = whole.answers.of("q3")
    assert answered.answers.at.tolist() == [at for at in expected.at.tolist() if at < 20_000]
    rest = work.advance()
    assert rest is not None
    assert "q3" not in rest.members
    assert rest.answers.of("q5").at.tolist() == whole.answers.of("q5").at.tolist()


def test_what_counts_of_one_that_ends() -> None:
    answers = Answers(np.array([10, 20, 30]), {"x": np.array([1, 2, 3])})
    assert counting(answers, Failure("q", 0, "bad", 20, 1)) is answers
    assert counting(answers, Failure("q", 0, "bad", None, None)) is answers
    assert counting(answers, Failure("q", 0, "bad", 20, None)).at.tolist() == [10]
