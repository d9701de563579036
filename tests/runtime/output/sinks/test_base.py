"""Results of each query go where its name says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from answers_kit import line_results as results
from weir.errors import UsageError
from weir.runtime.output.sinks.base import Router, kafka_topic, mqtt_topic
from weir.runtime.output.sinks.live_sink import LiveSink
from weir.runtime.output.sinks.result_files import FilePerQuery


def test_topics_have_the_names_of_queries() -> None:
    assert mqtt_topic("r/{query}/x", "http://e/#q+") == "r/http:%2F%2Fe%2F%23q%2B/x"
    assert kafka_topic("t-{query}", "q1") == "t-q1"
    assert len(kafka_topic("t-{query}", "x/" * 300)) < 249


def test_queries_of_any_names_have_files_of_their_own(tmp_path: Path) -> None:
    """The second name is that of the first one's file."""
    iri = "http://e/x/alarm"
    names = [iri, FilePerQuery(tmp_path, tmp_path).path(iri).stem, "alarm", "..", "a/../b", "x" * 300]
    files = FilePerQuery(tmp_path / "out", tmp_path / "logs")
    files.open()
    files.write(0, [results(name, number) for number, name in enumerate(names)])
    files.close()
    for number, name in enumerate(names):
        assert json.loads(files.path(name).read_text()) == {"query": name, "n": number}
    assert len(list((tmp_path / "out").iterdir())) == len(names)


def test_each_query_to_its_own_file_exactly_once(tmp_path: Path) -> None:
    files = FilePerQuery(tmp_path / "out", tmp_path / "logs")
    files.open()
    files.write(0, [results("a", 1), results("http://e/b", 2)])
    files.write(1, [results("a", 3)])
    files.close()
    with files.path("a").open("ab") as torn:
        torn.write(b"half a line")
    again = FilePerQuery(tmp_path / "out", tmp_path / "logs")
    again.open()
    again.write(1, [results("a", 3)])
    again.write(2, [results("a", 4)])
    again.close()
    assert [json.loads(line)["n"] for line in files.path("a").read_text().splitlines()] == [1, 3, 4]
    assert json.loads(files.path("http://e/b").read_text()) == {"query": "http://e/b", "n": 2}


def test_a_router_sends_by_rules_and_promises_the_least(tmp_path: Path) -> None:
    one, two = FilePerQuery(tmp_path / "1", tmp_path / "l1"), FilePerQuery(tmp_path / "2", tmp_path / "l2")
    router = Router([("alarm*", one), ("other", one), ("*", two)])
    assert router.promise == "exactly once"
    router.open()
    router.write(0, [results("alarm1", 1), results("other", 2), results("rest", 3)])
    router.close()
    assert sorted(path.stem for path in (tmp_path / "1").iterdir()) == ["alarm1", "other"]
    assert sorted(path.stem for path in (tmp_path / "2").iterdir()) == ["alarm1", "other", "rest"]
    assert Router([("*", one), ("*", LiveSink())]).promise.startswith("at most once")
    with pytest.raises(UsageError, match="needs a rule"):
        Router([])
