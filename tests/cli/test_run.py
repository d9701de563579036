"""``weir run`` and ``weir try`` as users call them: the same results, errors and exit statuses; resuming."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_kit import COUNTS, EX, REACHES, detected, json_lines, localisation, weir
from weir.cli.run import beside, summary
from weir.runtime.control.failure import Failure
from weir.runtime.output.metrics import Metrics


def on_spark(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.spark(pytest.mark.usefixtures("spark")(test))


@pytest.fixture(params=[pytest.param("run", marks=pytest.mark.spark), "try"])
def command(request: pytest.FixtureRequest) -> str:
    """Both commands."""
    if request.param == "run":
        request.getfixturevalue("spark")
    return str(request.param)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    localisation(tmp_path)
    return tmp_path


def reaches(source: int, target: int) -> list[str]:
    return [f"<{EX}m{source}> <{EX}reaches> <{EX}m{target}> ."]


TABLE_1 = [
    {"query": "reaches", "at": "1970-01-01T00:00:00.001Z", "op": "I", "triples": reaches(0, 1)},
    {"query": "reaches", "at": "1970-01-01T00:00:00.002Z", "op": "I", "triples": reaches(1, 2)},
    {"query": "reaches", "at": "1970-01-01T00:00:00.003Z", "op": "I", "triples": reaches(2, 3)},
]
INPUT = ["--stream", "rfid=rfid.tnq", "--graph", "floorplan=floor.ttl"]


@pytest.mark.parametrize("evaluator", ["reference", "interval"])
def test_table_1_of_cqels_row_by_row(evaluator: str, command: str, folder: Path) -> None:
    done = weir(
        command, "reaches.rq", *INPUT, "--evaluator", evaluator, "--format", "jsonl", "--out", "out.jsonl"
    )
    assert done.exit_code == 0, done.stderr
    assert json_lines(folder / "out.jsonl") == TABLE_1
    assert "4 triples in, 4 evaluations, 3 results" in done.stderr


def test_bad_lines_are_set_aside_and_counted(command: str, folder: Path) -> None:
    stream = folder / "rfid.tnq"
    lines = stream.read_text().splitlines(keepends=True)
    lines[2:2] = ["garbage\n", "2\t<relative> <http://p> <http://o> .\n"]
    stream.write_text("".join(lines))
    done = weir(command, "reaches.rq", *INPUT, "--format", "jsonl", "--out", "out.jsonl")
    assert done.exit_code == 0
    assert json_lines(folder / "out.jsonl") == TABLE_1
    letters = json_lines(folder / "out.jsonl.dead.jsonl")
    assert [(letter["line"], Path(letter["source"]).name) for letter in letters] == [
        (3, "rfid.tnq"),
        (4, "rfid.tnq"),
    ]
    assert letters[0]["reason"] == "no tab between time and statement"
    assert "2 set aside in out.jsonl.dead.jsonl" in done.stderr


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", f"reaches,1970-01-01T00:00:00.001Z,I,{EX}m0,{EX}reaches,{EX}m1"),
        ("nquads", f"<{EX}m0> <{EX}reaches> <{EX}m1> <urn:weir:reaches:1970-01-01T00:00:00.001Z> ."),
        ("table", "1970-01-01T00:00:00.001Z"),
        ("jsonl", json.dumps(TABLE_1[0], separators=(",", ":"))),
    ],
)
def test_formats_on_standard_output(
    form: str, expected: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = weir(command, "reaches.rq", *INPUT, "--format", form)
    assert done.exit_code == 0
    assert expected in done.stdout


def counting(folder: Path, files: int = 6) -> None:
    (folder / "counts.rq").write_text(COUNTS)
    (folder / "stream").mkdir()
    for number in range(files):
        lines = [detected(1000 * number + 100 * i, i, 1 + (number + i) % 3) for i in range(10)]
        (folder / "stream" / f"{number:03d}.tnq").write_text("".join(lines))


COUNTING = ["counts.rq", "--stream", "rfid=stream", "--files-per-batch", "1", "--format", "jsonl"]


@on_spark
def test_a_directory_in_name_order_and_resuming(folder: Path) -> None:
    counting(folder)
    assert weir("try", *COUNTING, "--out", "whole.jsonl").exit_code == 0
    whole = (folder / "whole.jsonl").read_text()
    assert [json.loads(line)["at"][17:19] for line in whole.splitlines()] == [
        f"{second:02d}" for second in range(1, 7) for _ in range(3)
    ]
    done = weir("run", *COUNTING, "--out", "out.jsonl", "--checkpoint", "ck")
    assert done.exit_code == 0
    assert "6 batches" in done.stderr
    assert (folder / "out.jsonl").read_text() == whole
    again = weir("run", *COUNTING, "--out", "out.jsonl", "--checkpoint", "ck")
    assert again.exit_code == 0
    assert "0 batches" in again.stderr
    assert (folder / "out.jsonl").read_text() == whole


@on_spark
def test_more_input_after_the_end_is_refused(folder: Path) -> None:
    counting(folder, files=2)
    assert weir("run", *COUNTING, "--out", "out.jsonl", "--checkpoint", "ck").exit_code == 0
    (folder / "stream" / "100.tnq").write_text(detected(10_000, 1, 1))
    done = weir("run", *COUNTING, "--out", "out.jsonl", "--checkpoint", "ck")
    assert done.exit_code == 2
    assert "the input of this checkpoint has ended" in done.stderr
    assert "hint:" in done.stderr


@on_spark
def test_another_query_under_the_same_checkpoint_is_refused(folder: Path) -> None:
    counting(folder, files=1)
    assert weir("run", *COUNTING, "--checkpoint", "ck").exit_code == 0
    (folder / "counts.rq").write_text(COUNTS.replace("COUNT(*)", "COUNT(DISTINCT ?p)"))
    done = weir("run", *COUNTING, "--checkpoint", "ck")
    assert done.exit_code == 2
    assert "another query under the name 'counts'" in done.stderr


def test_an_empty_file(command: str, folder: Path) -> None:
    (folder / "rfid.tnq").write_text("")
    done = weir(command, "reaches.rq", *INPUT, "--format", "jsonl", "--out", "out.jsonl")
    assert done.exit_code == 0
    assert (folder / "out.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reaches.rq", "--stream", "other=rfid.tnq"], "unknown stream <rfid>"),
        (["reaches.rq", "--stream", "rfid=missing.tnq"], "no such stream file"),
        (["reaches.rq", "--stream", "rfid=floor.ttl"], "where is their time"),
        (["reaches.rq", *INPUT[:2], "--graph", "floorplan=missing.ttl"], "no such graph file"),
        (["missing.rq", *INPUT], "no such query file"),
        (["reaches.rq", "--stream", "rfid"], "--stream takes IRI=SOURCE"),
        (["reaches.rq"], "unknown stream <rfid>"),
        (["reaches.rq", "reaches.rq", *INPUT], "two queries"),
        (["reaches.rq", *INPUT, "--evaluator", "magic"], "unknown evaluator"),
        (["reaches.rq", *INPUT, "--format", "xml"], "unknown format"),
        (["reaches.rq", *INPUT, "--dialect", "klingon"], "unknown dialect"),
    ],
)
def test_bad_usage_is_status_2_with_a_clear_line(arguments: list[str], said: str, command: str) -> None:
    done = weir(command, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_query_that_does_not_parse(command: str, folder: Path) -> None:
    (folder / "bad.rq").write_text(REACHES.replace("WINDOW <now> {", "WINDOW <now> ["))
    done = weir(command, "bad.rq", *INPUT)
    assert done.exit_code == 2
    assert "bad.rq:9:16:" in done.stderr
    assert "               ^" in done.stderr


def test_a_graph_file_that_is_damaged_is_status_1(command: str, folder: Path) -> None:
    (folder / "floor.ttl").write_text("@prefix : <http://e/> . :a :b")
    done = weir(command, "reaches.rq", *INPUT)
    assert done.exit_code == 1
    assert "floor.ttl" in done.stderr


def test_bad_lines_lie_beside_the_results_or_the_checkpoint() -> None:
    assert beside(Path("out.jsonl"), Path("c")) == Path("out.jsonl.dead.jsonl")
    assert beside(None, Path("c")) == Path("c/dead-letters.jsonl")


def test_the_end_of_a_run_lists_what_failed() -> None:
    metrics = Metrics(started=1.0, triples=1_234, rejected=2)
    metrics.fail(Failure("q", 0, "too many rows\nhint: a smaller window", 30_000), 4)
    metrics.fail(Failure("r", 0, "MemoryError"), 4)
    first, aside, *failed = summary(metrics, Path("dead.jsonl")).splitlines()
    assert first.startswith("weir: 1,234 triples in")
    assert aside == "weir: 2 set aside in dead.jsonl"
    assert failed == [
        "weir: the query 'q' failed at 1970-01-01T00:00:00.030Z: too many rows",
        "    hint: a smaller window",
        "weir: the query 'r' failed: MemoryError",
    ]


def test_an_interrupted_run_says_how_to_go_on_where_it_can() -> None:
    metrics = Metrics(started=1.0)
    metrics.interrupted = True
    assert "(interrupted; run again with the same checkpoint to go on)" in summary(metrics, None)
    assert summary(metrics, None, resumable=False).endswith("(interrupted)")
