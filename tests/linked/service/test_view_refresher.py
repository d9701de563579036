"""Keys that are asked for become rows of the view; what fails marks its keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from service_store import E, StoreLoop
from weir.language.algebra.patterns import BGP, TriplePattern
from weir.linked.service.config import SECOND, ServiceConfig
from weir.linked.service.ledger import Ledger
from weir.linked.service.local_view import NEVER, LocalView
from weir.linked.service.maintenance_graph import CallViews, LeftNodes, NeededKeys
from weir.linked.service.service_parts import parts_of
from weir.linked.service.view_refresher import Target, ViewRefresher
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Term, Variable

PATTERN = BGP((TriplePattern(Variable("u"), IRI(E + "followers"), Variable("n")),))
CONFIG = ServiceConfig(batch=2)
U1, U2, U3 = (IRI(f"{E}u{n}") for n in (1, 2, 3))


class Fixture:
    """One part, asked for by ``u``."""

    def __init__(self, config: ServiceConfig = CONFIG) -> None:
        self.loop = StoreLoop(":u1 :followers 10 . :u2 :followers 20 .")
        self.dictionary = Dictionary()
        parts = parts_of(PATTERN, ["u"], config)
        self.view = LocalView(parts.value.key, parts.value.variables, 3 * SECOND, SECOND)
        self.views = CallViews(parts, None, self.view)
        target = Target("q", "http://s/q", config, parts)
        self.refresher = ViewRefresher(target, (None, self.view), Ledger(), self.loop, self.dictionary)  # type: ignore[arg-type]

    def needed(self, *terms: Term) -> NeededKeys:
        column = self.dictionary.encode_terms(list(terms))
        return self.views.needed(LeftNodes.of({"u": column}, len(terms)), SECOND)

    def ask(self, *terms: Term) -> tuple[int, int]:
        found = self.needed(*terms)
        return self.refresher.ask(found, np.arange(found.rights), SECOND)

    def rows(self) -> dict[str, str]:
        relation, _ = self.view.relation(np.arange(len(self.view)))
        columns = [self.dictionary.texts(relation.columns[name]) for name in ("u", "n")]
        return {str(u): str(n) for u, n in zip(*columns, strict=True)}


def test_keys_share_requests_and_answers_become_rows() -> None:
    fixture = Fixture()
    assert fixture.ask(U1, U2, U3) == (3, 2)
    assert fixture.refresher.receive(SECOND) == []
    assert {u: n.split('"')[1] for u, n in fixture.rows().items()} == {str(U1): "10", str(U2): "20"}
    assert (fixture.view.fetched == SECOND).all()


def test_a_key_that_no_endpoint_can_know_has_no_rows_for_ever() -> None:
    fixture = Fixture()
    assert fixture.ask(BlankNode("b")) == (0, 0)
    assert fixture.loop.texts == [] and (fixture.view.expiry > 10**15).all()


def test_a_key_waits_until_its_answer_is_there() -> None:
    fixture = Fixture()
    fixture.loop.holding = True
    fixture.ask(U1)
    fixture.refresher.receive(SECOND)
    assert fixture.view.waiting.all() and fixture.refresher.pending == 1
    fixture.loop.release()
    fixture.refresher.receive(SECOND)
    assert not fixture.view.waiting.any() and fixture.refresher.pending == 0


def test_a_failure_marks_its_keys() -> None:
    fixture = Fixture(replace(CONFIG, batch=1))
    fixture.loop.broken = True
    fixture.ask(U1)
    (error,) = fixture.refresher.receive(SECOND)
    assert "failed" in error.primary
    assert fixture.view.failed.all() and (fixture.view.fetched == NEVER).all()
