"""What ``interval`` alone lacks of the W3C tests, by name and reason; everything else it answers itself."""

from __future__ import annotations

import pytest

from conformance.manifest import Case
from conformance.running import MODES, streamed
from conformance.test_evaluation import CASES
from weir.kernel.contract import Background
from weir.kernel.evaluators import choose_evaluator
from weir.language import parse
from weir.rdf.ids.dictionary import Dictionary

LACKING = {
    "sparql11/service/": "SERVICE without an endpoint at hand",
}
"""Name prefixes and why: these queries are given to the reference evaluator under ``auto``."""


@pytest.mark.parametrize("mode", ["static", *MODES])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_interval_covers_the_query(case: Case, mode: str) -> None:
    query = parse(case.query.read_text(), "sparql", base=case.query.as_uri())
    asked = query if mode == "static" else streamed(query, mode)
    chosen = choose_evaluator(asked, Background(), Dictionary())
    if any(case.name.startswith(prefix) for prefix in LACKING):
        assert chosen.name == "reference"
    else:
        assert (chosen.name, chosen.reason) == ("interval", None)
