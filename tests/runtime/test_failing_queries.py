"""A query that fails ends alone, at the evaluation time at which it does; nobody else notices.

batch        1        2        3        4
message     1 ms     11 ms    21 ms    31 ms
window      |--------)|-------)|-------)|------)       closes at 10, 20, 30, 40 ms
the poison is in the message at 21 ms: the query fails at 30 ms, in batch 4
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph
import pytest

from service_servers import Mood, moody
from weir.errors import EvaluationError, UsageError
from weir.kernel.functions import builtins
from weir.kernel.matching import resolve
from weir.kernel.relations import keys
from weir.kernel.windows import evaluation_times
from weir.language.algebra.expressions import Builtin
from weir.rdf.terms import Literal, Term
from weir.runtime.control.failure import QueryLimits
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.result_files import ExactFile, json_lines_sink, lines_of
from weir.runtime.worker import alone
from weir.testing import Scenario
from weir_bench.oxigraph import Oxigraph

P = "PREFIX : <http://e/> "
POISON = "poison"


def counting(name: str = "good", stream: str = "s") -> str:
    return P + (
        f"REGISTER RSTREAM <{name}> AS SELECT ?x ?y FROM NAMED WINDOW <w> ON <{stream}> "
        "[RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } }"
    )


def binding(expression: str, name: str = "bad") -> str:
    return P + (
        f"REGISTER RSTREAM <{name}> AS SELECT ?x ?z FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        f"WHERE {{ WINDOW <w> {{ ?x :p ?y }} BIND({expression} AS ?z) }}"
    )


def message(time: int, value: str) -> str:
    return f'{time}\t<http://e/m{time}> <http://e/p> "{value}" .\n'


BATCHES = [message(1, "a"), message(11, "b"), message(21, POISON), message(31, "c"), message(41, "d")]


def results(lines: list[dict[str, Any]], name: str) -> list[str]:
    """The lines of a query, as they are written."""
    return [json.dumps(line) for line in lines if line["query"] == name]


def times(lines: list[dict[str, Any]], name: str) -> list[int]:
    return [int(line["at"][17:19]) * 1000 + int(line["at"][20:23]) for line in lines if line["query"] == name]


def poisoned(monkeypatch: pytest.MonkeyPatch, error: Callable[[], BaseException]) -> None:
    """UCASE raises when it sees the poison."""
    plain = builtins.BUILTINS[Builtin.UCASE]

    def ucase(text: Term) -> Term:
        if isinstance(text, Literal) and text.lexical == POISON:
            raise error()
        made: Term = plain(text)
        return made

    monkeypatch.setitem(builtins.BUILTINS, Builtin.UCASE, ucase)


def panic() -> BaseException:
    """A panic of a library in Rust, which is no Exception."""
    kind = next(
        (each for each in BaseException.__subclasses__() if each.__name__ == "PanicException"), SystemExit
    )
    return kind("panicked at src/lib.rs")


ERRORS: list[Callable[[], BaseException]] = [
    lambda: EvaluationError("a limit"),
    lambda: MemoryError(),
    lambda: RecursionError("maximum recursion depth exceeded"),
    lambda: OverflowError("int too large to convert to float"),
    lambda: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    lambda: pa.ArrowInvalid("offset overflow"),
    lambda: SystemExit("a library that ends the process"),
    panic,
]


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error()).__name__)
def test_no_kind_of_error_is_exempt(
    monkeypatch: pytest.MonkeyPatch, error: Callable[[], BaseException], evaluator: str
) -> None:
    poisoned(monkeypatch, error)
    both = Scenario({"good": counting(), "bad": binding("UCASE(?y)")}, evaluator=evaluator)
    found = both.run(BATCHES, "s")
    alone = Scenario({"good": counting()}, evaluator=evaluator).run(BATCHES, "s")
    assert results(found, "good") == results(alone, "good")
    assert len(results(found, "good")) == 5
    assert times(found, "bad") == [10, 20]
    failure = both.job.failures["bad"]
    assert failure.at == 30_000
    said = str(error()) if isinstance(error(), EvaluationError) else type(error()).__name__
    assert said in failure.reason


@pytest.mark.parametrize("how", [{}, {"workers": 2}, {"restarts": True}, {"slots": 3}])
@pytest.mark.parametrize("cut", [1, 2, 5])
def test_what_it_says_before_does_not_depend_on_cuts(
    monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], cut: int
) -> None:
    poisoned(monkeypatch, lambda: OverflowError("too large"))
    batches = ["".join(BATCHES[first : first + cut]) for first in range(0, 5, cut)]
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")}, **how)
    found = scenario.run(batches, "s")
    assert times(found, "bad") == [10, 20]
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert scenario.job.failures["bad"].at == 30_000


def test_a_batch_that_is_repeated_decides_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed by chance the first time fails the second time, too: the control log says so."""
    poisoned(monkeypatch, lambda: MemoryError())
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")})
    scenario.lane("s").put("".join(BATCHES))
    job = scenario.job
    before = {slot: (dict(store.panes), store.head()) for slot, store in job.stores.items()}
    first = scenario.batch()
    assert times(first, "bad") == [10, 20]
    monkeypatch.undo()
    log = [entry.as_json() for entry in job.control.checkpoint.control().entries()]
    job.number -= 1
    for slot, (panes, head) in before.items():
        job.stores[slot].panes, job.stores[slot]._head = panes, head
    for slot in set(job.stores) - set(before):
        job.stores[slot].clear()
    job.restart()
    scenario.lanes.clear()
    scenario.lane("s").put("".join(BATCHES))
    again = scenario.batch()
    assert [json.dumps(line) for line in again] == [json.dumps(line) for line in first]
    assert [entry.as_json() for entry in job.control.checkpoint.control().entries()] == log


class Dies(Sink):
    """A sink that dies when it is given its first batch; ``given`` are the lines of those that follow."""

    form = "jsonl"

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.alive = False

    def write(self, batch: int, results: Sequence[Results]) -> None:
        if not self.alive:
            self.alive = True
            raise ConnectionError("gone")
        self.given += [line for each in results for line in lines_of(each)]


def test_what_was_written_before_a_batch_is_repeated_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The batch is in the file when it is repeated and the query fails: the file keeps what it has, the sink
    after it gets what lies before the failure, and both get nothing from then on."""
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")})
    file, last = json_lines_sink(ExactFile(tmp_path / "out.jsonl", tmp_path / "out.log")), Dies()
    file.open()
    job = scenario.job
    job.delivery.sinks = [file, last, *job.delivery.sinks]
    scenario.lane("s").put("".join(BATCHES))
    with pytest.raises(ConnectionError):
        scenario.batch()
    assert job.failures == {}
    poisoned(monkeypatch, lambda: MemoryError())
    job.restart()
    scenario.lanes.clear()
    scenario.lane("s").put("".join(BATCHES))
    scenario.batch()
    assert job.failures["bad"].at == 30_000
    scenario.lane("s").put(message(51, "e"))
    scenario.batch()
    file.close()
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    given = [json.loads(line) for line in last.given]
    assert times(written, "bad") == [10, 20, 30, 40]
    assert times(given, "bad") == [10, 20]
    assert times(written, "good") == times(given, "good") == [10, 20, 30, 40, 50]


def test_its_state_is_dropped_and_it_can_be_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned(monkeypatch, lambda: OverflowError("too large"))
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")})
    found = []
    for text in BATCHES[:4]:
        scenario.lane("s").put(text)
        found += scenario.batch()
    assert not any("bad" in name for name in scenario.store.panes)
    assert [info.running for info in scenario.job.registry.queries()] == [True, False]
    scenario.job.registry.resume("bad")
    assert scenario.job.failures == {}
    scenario.lane("s").put(BATCHES[4])
    found += scenario.batch()
    scenario.lane("s").end()
    found += scenario.batch()
    assert times(found, "bad") == [10, 20, 50]


def test_answers_that_cannot_be_written_fail_their_query_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.BUILTINS[Builtin.UCASE]
    monkeypatch.setitem(
        builtins.BUILTINS,
        Builtin.UCASE,
        lambda text: Literal("\ud800") if text.lexical == POISON else plain(text),
    )
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")}, evaluator="interval")
    found = scenario.run(["".join(BATCHES)], "s")
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert times(found, "bad") == [10, 20]
    assert scenario.job.failures["bad"].at == 30_000


def test_chained_queries_get_no_more_input(monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned(monkeypatch, lambda: OverflowError("too large"))
    makes = P + (
        "REGISTER RSTREAM <made> AS CONSTRUCT { ?x :p ?z } FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        "WHERE { WINDOW <w> { ?x :p ?y } BIND(UCASE(?y) AS ?z) }"
    )
    both = P + (
        "REGISTER RSTREAM <both> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        "FROM NAMED WINDOW <v> ON <made> [RANGE 10 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } }"
    )
    queries = {"made": makes, "reads": counting("reads", "made"), "both": both, "good": counting()}
    scenario = Scenario(queries)
    found = scenario.run(BATCHES, "s")
    assert times(found, "reads") == [20, 30]
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert set(scenario.job.failures) == {"made", "both"}
    assert "<made>" in scenario.job.failures["both"].reason
    # The messages of <s> are not kept for those that wait for <made>.
    assert all(len(box.waiting) == 0 for key, box in scenario.group.inboxes.items() if key[0] == "s")
    with pytest.raises(UsageError, match="read by 'reads'"):
        scenario.job.registry.drop("made")


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_number_of_400_digits_is_no_failure(evaluator: str) -> None:
    huge = f"1\t<http://e/a> <http://e/p> {'9' * 400} .\n".replace(" 9", ' "9').replace("9 .", '9"^^<%s> .')
    huge = huge % "http://www.w3.org/2001/XMLSchema#integer"
    scenario = Scenario({"good": counting(), "bad": binding("SUBSTR('x', ?y)")}, evaluator=evaluator)
    found = scenario.run([huge, message(11, "b")], "s")
    assert times(found, "good") == [10, 20]
    assert scenario.job.failures == {}
    assert [line["bindings"].get("z", {}).get("value") for line in found if line["query"] == "bad"] == [
        "",
        None,
    ]


def service(endpoint: str, *, silent: bool = False, name: str = "bad") -> str:
    how = "SILENT " if silent else ""
    return P + (
        f"REGISTER RSTREAM <{name}> AS SELECT ?x ?z FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        f"WHERE {{ WINDOW <w> {{ ?x :p ?y }} SERVICE {how}{endpoint} {{ ?x :q ?z }} }}"
    )


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_literal_is_no_endpoint(evaluator: str) -> None:
    queries = {"good": counting(), "bad": service("?y"), "silent": service("?y", silent=True, name="silent")}
    scenario = Scenario(queries, evaluator=evaluator)
    found = scenario.run([message(1, "http://127.0.0.1:1/"), message(11, "b")], "s")
    assert times(found, "good") == [10, 20]
    assert set(scenario.job.failures) == {"bad"}
    assert "endpoint" in scenario.job.failures["bad"].reason
    # SILENT: the solution passes as it is.
    assert times(found, "silent") == [10, 20]


def test_an_endpoint_that_is_down_fails_the_query_that_says_so() -> None:
    with moody() as server:
        server.mood = Mood.REFUSE
        endpoint = f"<{server.endpoint}#weir:on_failure=error&retries=0>"
        scenario = Scenario({"good": counting(), "bad": service(endpoint)})
        found = scenario.run(BATCHES, "s")
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert scenario.job.failures["bad"].at == 10_000


def test_a_server_that_promises_for_ever_is_believed_for_a_while() -> None:
    with Oxigraph() as real:
        real.load('<http://e/m1> <http://e/q> "z" .')
        with moody(real.port) as server:
            server.headers = {"Cache-Control": "max-age=99999999999999"}
            scenario = Scenario({"good": counting(), "bad": service(f"<{server.endpoint}>")})
            found = scenario.run(BATCHES, "s")
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert scenario.job.failures == {}


def shared(count: int) -> dict[str, str]:
    """Conjunctions, so many that they are evaluated together; one of them is a cross product."""
    made = {
        f"q{number}": P
        + (
            f"REGISTER RSTREAM <q{number}> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
            f"WHERE {{ WINDOW <w> {{ ?x :p ?y . ?x :k{number} ?z }} }}"
        )
        for number in range(count)
    }
    made["cross"] = P + (
        "REGISTER RSTREAM <cross> AS SELECT ?a ?b ?c FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        "WHERE { WINDOW <w> { ?a :p ?x . ?b :p ?y . ?c :p ?z } }"
    )
    return made


@pytest.mark.parametrize("cut", [1, 30])
def test_a_cross_product_in_a_shared_set_fails_alone(monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    """Two messages in the first window, ten in the second: 8 combinations, then 1,000."""
    monkeypatch.setattr(resolve, "LIMIT", 500)
    monkeypatch.setattr(resolve, "BLOCK", 64)
    lines = [message(time, "v") for time in (1, 2, *range(11, 21), 25)]
    lines += [
        f"{time}\t<http://e/m{time}> <http://e/k{time % 20}> <http://e/o> .\n" for time in range(26, 29)
    ]
    batches = ["".join(lines[first : first + cut]) for first in range(0, len(lines), cut)]
    queries = shared(20)
    scenario = Scenario(queries)
    assert len(scenario.group.shared) == 1
    found = scenario.run(batches, "s")
    assert set(scenario.job.failures) == {"cross"}
    assert scenario.job.failures["cross"].at == 20_000
    assert "combinations" in scenario.job.failures["cross"].reason
    assert len(results(found, "cross")) == 8
    del queries["cross"]
    alone = Scenario(queries).run(batches, "s")
    others = [json.dumps(line) for line in found if line["query"] != "cross"]
    assert others == [json.dumps(line) for line in alone]


def test_a_member_of_a_template_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned(monkeypatch, lambda: OverflowError("too large"))
    text = P + (
        "REGISTER RSTREAM <q{n}> AS SELECT ?x (UCASE(?y) AS ?z) FROM NAMED WINDOW <w> ON <s> "
        "[RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ ?x :p{n} ?y }} }}"
    )
    queries = {f"q{n}": text.format(n=n) for n in range(20)}
    batches = [each.replace("/p>", f"/p{number}>") for number, each in enumerate(BATCHES)]
    scenario = Scenario(queries)
    found = scenario.run(batches, "s")
    assert set(scenario.job.failures) == {"q2"}
    del queries["q2"]
    alone = Scenario(queries).run(batches, "s")
    assert [json.dumps(line) for line in found] == [json.dumps(line) for line in alone]


def test_limits_hold_for_an_evaluation_not_for_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each window has 9 pairs, all in one batch 45: the limit of 20 is not exceeded."""
    monkeypatch.setattr(keys, "LIMIT", 20)
    pairs = P + (
        "REGISTER RSTREAM <bad> AS SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
        "WHERE { WINDOW <w> { ?x :p ?a . ?y :p ?b } }"
    )
    lines = [message(10 * window + place, "v") for window in range(5) for place in (1, 2, 3)]
    scenario = Scenario(pairs, evaluator="interval")
    assert len(scenario.run(["".join(lines)], "s")) == 45
    assert scenario.job.failures == {}


def test_a_query_that_takes_too_long_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def for_ever() -> BaseException:
        while True:
            pyoxigraph.Literal("x")

    poisoned(monkeypatch, for_ever)
    scenario = Scenario({"good": counting(), "bad": binding("UCASE(?y)")}, limits=QueryLimits(seconds=0.5))
    found = scenario.run(BATCHES, "s")
    assert times(found, "good") == [10, 20, 30, 40, 50]
    assert times(found, "bad") == [10, 20]
    assert "longer than 0.5 s" in scenario.job.failures["bad"].reason


ZERO = P + (
    "REGISTER RSTREAM <bad> AS SELECT (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] "
    "WHERE { WINDOW <w> { ?x :p ?y } }"
)


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_a_message_far_ahead_completes_only_so_many_evaluations(
    monkeypatch: pytest.MonkeyPatch, evaluator: str
) -> None:
    """A count is answered at every close, 3,000 of which lie between the messages."""
    monkeypatch.setattr(alone, "ROOM", 1000)
    monkeypatch.setattr(evaluation_times, "CHUNK", 100)
    batches = [message(1, "a"), message(11, "b"), message(30_011, "c"), message(30_021, "d")]
    limits = QueryLimits(rows=1000)
    scenario = Scenario({"good": counting(), "bad": ZERO}, evaluator=evaluator, limits=limits)
    found = scenario.run(batches, "s")
    assert results(found, "good") == results(Scenario({"good": counting()}).run(batches, "s"), "good")
    assert "more than 1,000 answers in one batch" in scenario.job.failures["bad"].reason
    assert 1000 <= len(results(found, "bad")) <= 1110
    assert len(results(Scenario({"bad": ZERO}).run(batches, "s"), "bad")) == 3003
