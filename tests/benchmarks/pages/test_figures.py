"""Tables and plots say what the figures of a run say."""

from __future__ import annotations

from weir_bench.pages.drawing import Plot
from weir_bench.pages.figures import shown
from weir_bench.pages.tables import Table, number, spread

RIGHT = {"triples_a_second": 100.0, "seconds": [1.0, 2.0, 4.0], "same_answers": True}
PEERS = {
    "outcomes": {
        "join, all": {
            "weir": {**RIGHT, "memory_mb": 50.0, "first_result": 0.25},
            "rsp-js": {**RIGHT, "triples_a_second": 2.0, "same_answers": False},
            "mine": {"cannot": "no joins"},
        },
        "join, each": {
            "weir": {**RIGHT, "latency_ms": 0.5, "latency_p99_ms": 2.0},
            "rsp-js": {"failure": "exit status 1"},
            "mine": {"cannot": "no joins"},
        },
    },
    "absent": {"rsp-rs": "cargo is not installed"},
}


def table(benchmark: str, figure: str, figures: object) -> Table:
    found = shown(benchmark, figure, figures)  # type: ignore[arg-type]
    assert isinstance(found, Table)
    return found


def test_throughput_has_its_spread_and_says_who_answers_otherwise() -> None:
    found = table("peers", "throughput", PEERS)
    assert list(found.head) == ["", "weir", "rsp-js", "mine"]
    assert list(found.rows[0]) == ["join", "100 (50–200)", "2 (1–4) (other answers)", "cannot"]


def test_latency_names_failures() -> None:
    assert list(table("peers", "latency", PEERS).rows[0]) == ["join", "0.5 / 2", "failed", "cannot"]


def test_who_is_absent_is_told() -> None:
    assert table("peers", "absent", PEERS).rows == [["rsp-rs", "cargo is not installed"]]


def test_a_plot_leaves_out_who_gave_nothing() -> None:
    plot = shown("peers", "plot", PEERS)
    assert isinstance(plot, Plot)
    assert plot.series == {"weir": [100.0], "rsp-js": [2.0], "mine": [None]}


def test_a_query_that_is_not_exact_is_told() -> None:
    told = {"exact": False, "rows_checked": 10, "triples": 100, "cpu_seconds": [1.0], "rows_a_second": 5.0}
    found = table("city", "throughput", {"queries": {"Q1": told}})
    assert list(found.rows[0]) == ["Q1", "**no**", "10", "100", "5"]


def test_copies_are_in_terms_of_one() -> None:
    found = table("city", "copies", {"copies": {"Q1": {"1": 2.0, "50": 5.0}}})
    assert list(found.rows[0]) == ["Q1", "1 ×", "2.5 ×"]


def test_numbers_have_three_digits() -> None:
    assert [number(each) for each in (0.12345, 12.345, 1234567.0, None, 7)] == [
        "0.123",
        "12.3",
        "1,230,000",
        "–",
        "7",
    ]
    assert spread([3.0, 1.0, 2.0]) == "2 (1–3)" and spread([2.0]) == "2" and spread([]) == "–"


def test_a_table_without_rows_is_nothing() -> None:
    assert Table(["a"], []).markdown() == ""
    assert Table(["a", "b"], [["c", "1"]]).markdown() == "| a | b |\n| --- | --: |\n| c | 1 |"
