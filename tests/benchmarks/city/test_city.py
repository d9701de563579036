"""CityBench: all 24 texts run exact, in any batches, and the check that says so finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shared import shared_dir

from weir.errors import UsageError
from weir_bench.city.benchmark import run
from weir_bench.city.check import answered, check
from weir_bench.city.data import EVENTS, START, City
from weir_bench.city.measure import full_speed, graphs_of, messages_of, paced
from weir_bench.city.queries import CityQuery, city_queries
from weir_bench.replay import Replay

CITY = City(shared_dir("data", "citybench"))
QUERIES = {query.name: query for query in city_queries(CITY)}
MANY_ROWS = frozenset({"cqels-Q2", "csparql-Q2", "cqels-Q8", "csparql-Q8"})


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_every_row_is_what_a_store_answers(query: CityQuery) -> None:
    messages = messages_of(CITY, query, 4 if query.name in MANY_ROWS else 12)
    verdict = check(CITY, query, messages, full_speed(CITY, query, messages, keep=True).text)
    assert verdict.wrong is None
    nothing_yet = query.number in (7, 12)
    assert (verdict.rows > 0) is not nothing_yet


@pytest.mark.parametrize("name", ["cqels-Q5", "csparql-Q1", "cqels-Q6"])
def test_rows_do_not_depend_on_batches(name: str) -> None:
    query = QUERIES[name]
    messages = messages_of(CITY, query, 9)
    with Replay({"q": query.text}, graphs_of(CITY, query), query.dialect) as replay:
        for number in range(9):
            replay.batch({stream: each[number].encode() for stream, each in messages.items()})
        replay.batch({}, ended=True)
        text = replay.text
    assert check(CITY, query, messages, text).wrong is None


def test_the_check_finds_a_row_too_few_and_one_too_many() -> None:
    query = QUERIES["csparql-Q1"]
    messages = messages_of(CITY, query, 5)
    text = full_speed(CITY, query, messages, keep=True).text
    first, rest = text.split(b"\n", 1)
    assert check(CITY, query, messages, text).wrong is None
    assert "1 rows missing" in str(check(CITY, query, messages, rest).wrong)
    assert "1 too many" in str(check(CITY, query, messages, text + first).wrong)
    changed = text.replace(b"csparql-Q1", b"q").replace(b"CongestionLevel-1", b"CongestionLevel-7")
    assert check(CITY, query, messages, changed).wrong is not None


def test_a_row_of_a_sensor_becomes_an_observation_for_each_property() -> None:
    first, second = CITY.messages("AarhusTrafficData158505", 2)
    assert first.count("\n") == 20 and first.startswith(
        f"{START}\t<{EVENTS}AarhusTrafficData158505-AvgSpeed-0>"
    )
    assert '"52.0"' in first and f'"{2065 / 52}"' in first and f'"{1 / 2065}"' in first
    assert second.startswith(f"{START + 1000}\t")
    assert len(CITY.messages("UserLocationService", 700)) == 700


def test_plain_text_of_a_query_has_no_window() -> None:
    cqels, csparql = QUERIES["cqels-Q6"], QUERIES["csparql-Q6"]
    assert list(cqels.windows.values()) == [20_000, 3_000] and list(csparql.windows.values()) == [
        3_000,
        3_000,
    ]
    assert "range" not in cqels.sparql.lower() and "from" not in csparql.sparql.lower()
    assert cqels.sparql.count("GRAPH <") == 2


def test_latency_is_told_for_every_second() -> None:
    query = QUERIES["csparql-Q7"]
    late = paced(CITY, query, messages_of(CITY, query, 14), 1000)
    assert len(late) == 10 and all(each > 0 for each in late)


def test_answers_of_ask() -> None:
    line = b'{"query": "q", "at": "1970-01-01T00:00:01.000Z", "op": "R", "boolean": false}\n'
    assert answered(line) == {1000: {(("boolean", ("boolean", False)),): 1}}


def test_the_report_has_goals_for_what_was_measured(tmp_path: Path) -> None:
    report = run(quick=True, data=CITY.folder, numbers=[11], plot=tmp_path)
    assert [goal.name for goal in report.goals] == [
        "queries whose every row pyoxigraph confirms",
        "cqels-Q11, triples read a core",
        "csparql-Q11, triples read a core",
    ]
    assert report.goals[0].holds and report.goals[1].value > 0 and (tmp_path / "city.png").exists()


def test_a_folder_without_the_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--data"):
        run()
    with pytest.raises(UsageError, match=r"no query Q1\.txt of cqels"):
        run(data=tmp_path)
