"""The constructs of a text with their places."""

from __future__ import annotations

from weir.language import Dialect
from weir.language.syntax.outline import outline

TEXT = """SELECT ?x (MAX(?y) AS ?n)
FROM NAMED WINDOW <w> ON <s> [NOW]
WHERE {
  WINDOW <w> { ?x <p> ?y FILTER (?y > 1) }
  { ?x <q> 1 } UNION { FILTER NOT EXISTS { ?x <r> 2 } }
}
GROUP BY ?x ORDER BY DESC(?n) LIMIT 3
"""


def test_a_construct_a_line_with_its_place() -> None:
    assert outline(TEXT, Dialect.RSPQL).splitlines() == [
        "Select at 1:1",
        "  Item at 1:8: ?x",
        "  Item at 1:11: (MAX(?y) AS ?n)",
        "    Expression at 1:12: MAX(?y)",
        "      Expression at 1:16: ?y",
        "  From at 2:1: FROM NAMED WINDOW <w> ON <s> [NOW]",
        "  Group at 3:7",
        "    Window at 4:3: WINDOW <w>",
        "      Group at 4:14",
        "        Triples at 4:16: ?x <p> ?y",
        "        Filter at 4:26: FILTER (?y > 1)",
        "          Expression at 4:34: ?y > 1",
        "    Group at 5:3",
        "      Triples at 5:5: ?x <q> 1",
        "    Union at 5:22",
        "      Filter at 5:24: FILTER NOT EXISTS",
        "        Group at 5:42",
        "          Triples at 5:44: ?x <r> 2",
        "  Key at 7:10: ?x",
        "  Order at 7:22: DESC(?n)",
        "    Expression at 7:27: ?n",
        "  Limit at 7:31: LIMIT 3",
    ]


def test_a_form_without_select() -> None:
    assert outline("ASK { }", Dialect.SPARQL) == "Group at 1:5: { }"
