"""Stages of a query as text."""

from __future__ import annotations

from dataclasses import replace

import weir
from weir.explain import stages

TEXT = """PREFIX : <http://e/>
SELECT ?x (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <s> [RANGE PT10S STEP PT5S STARTING AT PT1H]
WHERE { WINDOW <w> { ?x :p/:q* [] FILTER (?x > 1) } }
GROUP BY ?x ORDER BY DESC(?n) LIMIT 3"""


def test_stages() -> None:
    printed = stages(weir.parse(TEXT))
    assert list(printed) == ["ast", "algebra", "dataset", "semantics"]
    assert "Window at 4:9" in printed["ast"]
    assert printed["algebra"].splitlines() == [
        "Select ?x ?n",
        "Slice offset 0 limit 3",
        "  Project ?x ?n",
        "    OrderBy DESC(?n)",
        "      Extend ?n := ?.a0",
        "        Group ?x, ?.a0 := COUNT(*)",
        "          Window <w>",
        "            Filter ?x > 1",
        "              Join",
        "                BGP",
        "                  ?x <http://e/p> ?.b0",
        "                PathPattern ?.b0 <http://e/q>* ?.b1",
    ]
    assert printed["dataset"].splitlines() == [
        "G0 = the default graph given at registration",
        "(<w>, W(α=PT10S, β=PT5S)(<s>))",
    ]
    assert "t0        aligned to multiples of PT1H since 1970" in printed["semantics"]
    assert "operator    RSTREAM" in printed["semantics"]


def test_a_query_made_without_text_can_be_explained() -> None:
    query = replace(weir.parse(TEXT), text="")
    assert stages(query)["algebra"] == stages(weir.parse(TEXT))["algebra"]
    assert "Window at" in stages(query)["ast"]


def test_warnings_are_shown() -> None:
    query = weir.parse("SELECT * FROM NAMED WINDOW <w> ON <s> [NOW] { ?x ?p ?y }")
    assert "warning     the window <w> is declared but not used" in stages(query)["semantics"]


def test_a_query_without_windows_is_evaluated_once() -> None:
    printed = stages(weir.parse("SELECT * FROM <a> FROM NAMED <b> { ?x ?p ?y }"))
    assert "evaluated   once" in printed["semantics"]
    assert printed["dataset"].splitlines() == ["G0 = <a>", "(<b>, the graph <b>)"]
