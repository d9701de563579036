"""A template's answers, handed out to the queries that read it."""

from __future__ import annotations

import numpy as np

from weir.kernel.contract import Answers
from weir.kernel.matching.template_members import Reader, TemplateAnswers
from weir.plan.analysis.templates import NUMBER
from weir.rdf.ids.inline import Inline, make

ANSWERS = Answers(
    np.array([1, 1, 2]),
    {NUMBER.name: make(Inline.INTEGER, np.array([0, 1, 0])), "v": np.array([10, 20, 30])},
    evaluations=2,
)
READERS = {"a": Reader(0, (("v", "x"),)), "b": Reader(1, (("v", "y"),)), "same": Reader(0, (("v", "z"),))}


def test_each_query_gets_the_rows_of_its_number_under_its_names():
    found = TemplateAnswers(ANSWERS, READERS)
    assert found.of("a").columns["x"].tolist() == [10, 30]
    assert found.of("a").at.tolist() == [1, 2]
    assert found.of("b").columns["y"].tolist() == [20]


def test_results_are_counted_once_and_once_per_query():
    found = TemplateAnswers(ANSWERS, READERS)
    assert (len(found), found.delivered) == (3, 5)
    assert found.counts() == {"a": 2, "b": 1, "same": 2}
    assert [name for name, _ in found.items()] == ["a", "b", "same"]


def test_a_query_alone_gets_the_answers_as_they_are():
    assert TemplateAnswers(ANSWERS, {"alone": Reader()}).of("alone") is ANSWERS
