"""A SERVICE call at successive evaluations, against an endpoint in the same process."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from service_store import E, StoreLoop
from weir.errors import EvaluationError, RemoteError, UsageError
from weir.kernel.service_calls import ServiceRows
from weir.language.algebra.expressions import Aggregate, Aggregation, Bound
from weir.language.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Group,
    LeftJoin,
    Node,
    Pattern,
    Project,
    Service,
    TriplePattern,
)
from weir.linked.service.call import RemoteCall
from weir.linked.service.config import SECOND, Budget, OnFailure, PolicyName, ServiceConfig
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, BlankNode, Literal, Term, Variable

V = Variable
TWEET, USER, N = V("tweet"), V("user"), V("n")

DATA = """
:t1 :mentions :u1 . :t2 :mentions :u1, :u2 . :t3 :mentions :u1, :u2, :u3 . :t4 :mentions :u4 .
:u1 :followers 10 . :u2 :followers 20 . :u3 :followers 30 .
"""


def iri(name: str) -> IRI:
    return IRI(E + name)


def triple(subject: Node, predicate: str, target: Node) -> TriplePattern:
    return TriplePattern(subject, iri(predicate), target)


FOLLOWERS = BGP((triple(USER, "followers", N),))
BOTH = BGP((triple(TWEET, "mentions", USER), triple(USER, "followers", N)))
SUM = Project(
    Extend(Group(BOTH, (TWEET,), ((V(".a"), Aggregate(Aggregation.SUM, N)),)), ((V("sum"), V(".a")),)),
    (TWEET, V("sum")),
)

CACHED = ServiceConfig(cache=2 * SECOND)
BUDGET = ServiceConfig(budget=Budget(1), change_interval=3 * SECOND, batch=1)
SPLIT = ServiceConfig(budget=Budget(2, keys=2), change_intervals=((E + "followers", 3 * SECOND),))


class Asker:
    """A query with one SERVICE, whose window holds what a test says."""

    def __init__(
        self,
        pattern: Pattern,
        config: ServiceConfig,
        bound: str = "user",
        loop: StoreLoop | None = None,
        resolver: ServiceResolver | None = None,
        **options: bool,
    ) -> None:
        self.loop = loop or StoreLoop(DATA)
        self.dictionary = Dictionary() if resolver is None else resolver._dictionary
        self.resolver = resolver or ServiceResolver(self.dictionary, {"http://s/q": config}, loop=self.loop)
        silent = options.pop("silent", False)
        service = Service(IRI("http://s/q"), pattern, silent)
        self.bound = (bound,) if bound else ()
        self.call: RemoteCall = self.resolver.call(
            "q", service, self.bound, width=4 * SECOND, slide=SECOND, **options
        )

    def rows(self, at: int, *names: str | Term) -> ServiceRows:
        terms = [iri(name) if isinstance(name, str) else name for name in names]
        bindings = {name: self.dictionary.encode_terms(terms) for name in self.call.join}
        return self.call.rows(bindings, len(terms), at * SECOND)

    def ask(self, at: int, *names: str | Term) -> list[tuple[str, ...]]:
        return self.read(self.rows(at, *names))

    def read(self, rows: ServiceRows) -> list[tuple[str, ...]]:
        columns = [self.dictionary.texts(column) for column in rows.columns.values()]
        return sorted(tuple(_short(text) for text in row) for row in zip(*columns, strict=True))

    @property
    def share(self) -> float:
        assert self.call.last is not None
        return self.call.last.share

    @property
    def requests(self) -> int:
        return len(self.loop.texts)


def _short(text: str | None) -> str:
    if text is None:
        return "-"
    if text.startswith("_:"):
        return text
    return text.replace(f"<{E}", "").rstrip(">") if text.startswith("<") else text.split('"')[1]


# Without a budget: a federated join


def test_a_federated_join_asks_once_for_all_keys() -> None:
    asker = Asker(FOLLOWERS, ServiceConfig())
    assert asker.ask(1, "u1", "u2", "u1", "u4") == [("u1", "10"), ("u2", "20")]
    assert asker.requests == 1
    assert asker.loop.texts[0].count("/u1>") == 1
    assert asker.share == 1.0


def test_without_a_cache_every_evaluation_asks_again() -> None:
    asker = Asker(FOLLOWERS, ServiceConfig())
    asker.ask(1, "u1")
    asker.loop.update("DELETE { :u1 :followers 10 } INSERT { :u1 :followers 11 } WHERE {}")
    assert asker.ask(2, "u1") == [("u1", "11")]
    assert asker.requests == 2


def test_a_cache_holds_for_its_time() -> None:
    """
    1 ask    2 cached    3 ask again (2 s over)
    """
    asker = Asker(FOLLOWERS, CACHED)
    asker.ask(1, "u1")
    asker.loop.update("DELETE { :u1 :followers 10 } INSERT { :u1 :followers 11 } WHERE {}")
    assert asker.ask(2, "u1") == [("u1", "10")]
    assert asker.ask(3, "u1") == [("u1", "11")]
    assert asker.requests == 2


def test_requests_are_batched() -> None:
    asker = Asker(FOLLOWERS, ServiceConfig(batch=2))
    asker.ask(1, "u1", "u2", "u3")
    assert asker.requests == 2


def test_nothing_to_join_asks_for_nothing() -> None:
    asker = Asker(FOLLOWERS, ServiceConfig())
    assert asker.ask(1) == []
    assert asker.requests == 0


def test_without_shared_variables_the_whole_pattern_is_one_key() -> None:
    asker = Asker(FOLLOWERS, CACHED, bound="")
    assert asker.ask(1, "x") == [("u1", "10"), ("u2", "20"), ("u3", "30")]
    assert asker.ask(2, "x", "y") == [("u1", "10"), ("u2", "20"), ("u3", "30")]
    assert asker.requests == 1


def test_patterns_of_any_kind_can_be_asked_for() -> None:
    optional = LeftJoin(BGP((triple(TWEET, "mentions", USER),)), FOLLOWERS)
    asker = Asker(Filter(Bound(TWEET), Distinct(Project(optional, (TWEET, USER, N)))), CACHED, "tweet")
    assert asker.ask(1, "t4", "t2") == [("t2", "u1", "10"), ("t2", "u2", "20"), ("t4", "u4", "-")]


def test_an_aggregate_without_a_budget_is_the_endpoints_business() -> None:
    asker = Asker(SUM, CACHED, "tweet")
    assert asker.ask(1, "t1", "t3") == [("t1", "10"), ("t3", "60")]
    assert "SUM" in asker.loop.texts[0]


def test_blank_nodes_are_never_asked_for() -> None:
    asker = Asker(FOLLOWERS, CACHED)
    assert asker.ask(1, BlankNode("b"), "u1") == [("u1", "10")]
    assert "_:" not in asker.loop.texts[0]
    asker.ask(2, BlankNode("b"))
    assert asker.requests == 1


@pytest.mark.parametrize("nasty", ["http://e/> } # ", 'http://e/"', "http://e/\n", "http://e/{x}"])
def test_an_iri_cannot_break_out_of_a_request(nasty: str) -> None:
    asker = Asker(FOLLOWERS, CACHED)
    assert asker.ask(1, IRI(nasty), "u1") == [("u1", "10")]
    assert nasty not in asker.loop.texts[0]


def test_literals_reach_the_endpoint_to_the_letter() -> None:
    asker = Asker(
        BGP((triple(V("s"), "name", V("user")),)), CACHED, loop=StoreLoop(':a :name "x\\n\\"y\\\\"@en .')
    )
    assert asker.ask(1, Literal.tagged('x\n"y\\', "en")) == [("a", "x\\n\\")]


def test_blank_nodes_of_a_pattern_keep_their_multiplicity() -> None:
    """Two reports about u1 with the same value are two solutions, though nobody asked for the reports."""
    loop = StoreLoop("[] :about :u1 ; :says 5 . [] :about :u1 ; :says 5 .")
    pattern = BGP((triple(V(".b0"), "about", USER), triple(V(".b0"), "says", N)))
    rows = Asker(pattern, CACHED, loop=loop).rows(1, "u1")
    assert len(rows.columns["n"]) == 2
    assert len(set(rows.columns[".b0"].tolist())) == 2


# With a budget: a view


def test_a_budget_is_kept_and_the_rest_is_missing() -> None:
    """One refresh an evaluation: u1, twice in the window, is worth more than u2."""
    asker = Asker(FOLLOWERS, BUDGET)
    assert asker.ask(1, "u1", "u2", "u1") == [("u1", "10")]
    assert asker.call.last is not None
    assert (asker.call.last.rows, asker.call.last.missing, asker.call.last.refreshed) == (2, 1, 1)
    assert asker.ask(2, "u1", "u2", "u1") == [("u1", "10"), ("u2", "20")]
    assert asker.share == 1.0
    asker.ask(3, "u1", "u2", "u1")
    assert asker.requests == 2


def test_stale_rows_are_used_and_said_to_be_stale() -> None:
    """Both expire three seconds after they were fetched; only one can be refreshed."""
    asker = Asker(FOLLOWERS, replace(BUDGET, budget=Budget(2)))
    asker.ask(1, "u1", "u2")
    asker.call.ledger.budget = Budget(1)
    asker.loop.update("DELETE { ?u :followers ?n } INSERT { ?u :followers 99 } WHERE { ?u :followers ?n }")
    rows = asker.rows(4, "u1", "u2", "u2")
    assert asker.read(rows) == [("u1", "10"), ("u2", "99")]
    assert asker.call.last is not None
    assert (asker.call.last.rows, asker.call.last.fresh) == (3, 2)
    assert asker.call.last.oldest == 3 * SECOND
    assert sorted(rows.fetched.tolist()) == [1 * SECOND, 4 * SECOND]
    assert sorted(rows.expiry.tolist()) == [4 * SECOND, 7 * SECOND]


def test_a_refresh_of_a_user_serves_all_its_tweets() -> None:
    """Figure 1 as data: two link requests and two values suffice for t2 and t3 afterwards."""
    asker = Asker(BOTH, SPLIT, "tweet")
    assert asker.call.join == ("tweet",)
    asker.ask(1, "t2", "t3")
    assert asker.requests == 1
    assert asker.ask(1, "t2", "t3") == [
        ("t2", "u1", "10"),
        ("t2", "u2", "20"),
        ("t3", "u1", "10"),
        ("t3", "u2", "20"),
        ("t3", "u3", "30"),
    ]
    asker.loop.update("DELETE { ?u :followers ?n } INSERT { ?u :followers 99 } WHERE { ?u :followers ?n }")
    found = asker.ask(4, "t2", "t3")
    assert found.count(("t2", "u1", "99")) == 1 and found.count(("t3", "u1", "99")) == 1
    assert ("t3", "u2", "99") in found and ("t3", "u3", "30") in found
    assert asker.requests == 2 and "mentions" not in asker.loop.texts[1]
    assert asker.call.last is not None
    assert (asker.call.last.rows, asker.call.last.fresh) == (5, 4)


def test_a_link_without_a_value_is_known_to_have_none() -> None:
    asker = Asker(BOTH, SPLIT, "tweet")
    assert asker.ask(1, "t4") == []
    assert asker.share == 1.0
    asker.loop.load(":u4 :followers 40 .")
    assert asker.ask(2, "t4") == []
    assert asker.ask(4, "t4") == [("t4", "u4", "40")]


def test_a_link_that_is_not_there_yet_is_asked_for_again() -> None:
    """Links never change, but one that had no rows may get some."""
    asker = Asker(BOTH, SPLIT, "tweet")
    assert asker.ask(1, "t9") == []
    asker.loop.load(":t9 :mentions :u1 .")
    assert asker.ask(2, "t9") == []
    assert asker.ask(30, "t9") == [("t9", "u1", "10")]


def test_the_value_of_a_remote_blank_node_is_refreshed_by_its_link() -> None:
    asker = Asker(BOTH, SPLIT, "tweet", loop=StoreLoop(":t1 :mentions [ :followers 10 ] ."))
    ((_, node, value),) = asker.ask(1, "t1")
    assert value == "10"
    asker.loop.update("DELETE { ?u :followers 10 } INSERT { ?u :followers 11 } WHERE { ?u :followers 10 }")
    assert asker.ask(4, "t1") == [("t1", node, "11")]
    assert asker.share == 1.0
    assert "_:" not in asker.loop.texts[-1] and "mentions" in asker.loop.texts[-1]


def test_labels_of_remote_blank_nodes_do_not_depend_on_the_request() -> None:
    loop = StoreLoop(":u1 :knows [ :followers 1 ] . :u2 :knows [ :followers 2 ] .")
    pattern = BGP((triple(USER, "knows", V("b")), triple(V("b"), "followers", N)))
    asker = Asker(pattern, ServiceConfig(), loop=loop)
    assert asker.ask(1, "u1")[0] in asker.ask(2, "u1", "u2")


def test_aggregates_are_made_here() -> None:
    asker = Asker(SUM, SPLIT, "tweet")
    assert asker.ask(1, "t1", "t3") == [("t1", "10"), ("t3", "60")]
    assert "SUM" not in asker.loop.texts[0]
    asker.loop.update("DELETE { :u1 :followers 10 } INSERT { :u1 :followers 11 } WHERE {}")
    assert asker.ask(4, "t1") == [("t1", "11")]
    assert asker.share == 1.0


def test_an_aggregate_is_fresh_only_if_all_it_needs_is() -> None:
    asker = Asker(SUM, SPLIT, "tweet")
    asker.ask(1, "t1", "t3")
    asker.loop.update("DELETE { ?u :followers ?n } INSERT { ?u :followers 99 } WHERE { ?u :followers ?n }")
    rows = asker.rows(4, "t1", "t3")
    assert asker.call.last is not None
    assert (asker.call.last.rows, asker.call.last.fresh) == (2, 1)
    assert ("t1", "99") in asker.read(rows)
    assert sorted(rows.fetched.tolist()) == [1 * SECOND, 4 * SECOND]


def test_an_optional_service_counts_rows_without_partner() -> None:
    asker = Asker(FOLLOWERS, BUDGET, optional=True)
    assert asker.ask(1, "u4") == []
    assert asker.call.last is not None
    assert (asker.call.last.rows, asker.call.last.fresh, asker.call.last.missing) == (1, 1, 0)


def test_flexible_budgets_are_the_default_where_they_can_move() -> None:
    config = ServiceConfig(budget=Budget(per_period=4, period=4 * SECOND), change_interval=SECOND)
    asker = Asker(FOLLOWERS, config)
    for at in range(4, 8):
        asker.ask(at, "u1", "u2", "u3")
    assert sum(asker.call.ledger.spent.values()) <= 4
    asker.ask(8, "u1")
    assert asker.share == 1.0


@pytest.mark.parametrize("policy", list(PolicyName))
@pytest.mark.parametrize("pattern", [BOTH, SUM])
def test_every_policy_can_be_chosen(policy: PolicyName, pattern: Pattern) -> None:
    asker = Asker(pattern, replace(SPLIT, policy=policy), "tweet")
    for at in range(1, 12):
        asker.ask(at, "t1", "t2", "t3")
        assert asker.call.last is not None and asker.call.last.refreshed <= 2
    assert asker.call.last is not None and asker.call.last.missing == 0


def test_a_look_back_refreshes_nothing() -> None:
    asker = Asker(FOLLOWERS, BUDGET)
    asker.ask(5, "u1")
    asker.ask(4, "u2")
    assert asker.requests == 1


# Expiry that the source states


def test_headers_state_expiry() -> None:
    asker = Asker(FOLLOWERS, BUDGET)
    asker.loop.valid_for = 60.0
    rows = asker.rows(1, "u1")
    assert rows.expiry.tolist() == [61 * SECOND]
    asker.ask(30, "u1")
    assert asker.requests == 1


def test_rows_state_expiry() -> None:
    loop = StoreLoop(
        ':u1 :followers 10 ; :until "1970-01-01T00:00:07Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .'
    )
    pattern = BGP((triple(USER, "followers", N), triple(USER, "until", V("t"))))
    asker = Asker(pattern, replace(BUDGET, expires_variable="t"), loop=loop)
    assert asker.rows(1, "u1").expiry.tolist() == [7 * SECOND]
    asker.ask(6, "u1")
    assert asker.requests == 1
    asker.ask(7, "u1")
    assert asker.requests == 2


def test_rows_state_their_interval() -> None:
    loop = StoreLoop(':u1 :followers 10 ; :every 5 . :u2 :followers 10 ; :every "PT2S"^^'
                     "<http://www.w3.org/2001/XMLSchema#duration> .")  # fmt: skip
    pattern = BGP((triple(USER, "followers", N), triple(USER, "every", V("d"))))
    config = replace(BUDGET, interval_variable="d", budget=Budget(5))
    asker = Asker(pattern, config, loop=loop)
    assert sorted(asker.rows(1, "u1", "u2").expiry.tolist()) == [3 * SECOND, 6 * SECOND]


def test_intervals_are_learned_where_nothing_is_declared() -> None:
    config = ServiceConfig(budget=Budget(1), first_interval=SECOND, batch=1)
    asker = Asker(FOLLOWERS, config)
    for at in range(1, 40):
        asker.ask(at, "u1", "u2")
        asker.loop.update(
            f"DELETE {{ :u1 :followers ?n }} INSERT {{ :u1 :followers {at} }} WHERE {{ :u1 :followers ?n }}"
        )
    u1 = sum("/u1>" in text for text in asker.loop.texts)
    u2 = sum("/u2>" in text for text in asker.loop.texts)
    assert u1 > 2 * u2


def test_age_is_bound_on_request() -> None:
    asker = Asker(FOLLOWERS, replace(BUDGET, age_variable="age"))
    asker.ask(1, "u1")
    assert asker.ask(3, "u1") == [("u1", "10", "2")]


# Trouble


def test_a_failure_goes_on_from_the_view(caplog: pytest.LogCaptureFixture) -> None:
    asker = Asker(FOLLOWERS, BUDGET)
    asker.ask(1, "u1")
    asker.loop.broken = True
    with caplog.at_level(logging.WARNING, "weir.service"):
        for at in range(4, 8):
            assert asker.ask(at, "u1") == [("u1", "10")]
            assert asker.share == 0.0
            assert asker.call.last is not None and asker.call.last.failed == 1
    assert len(caplog.records) == 1
    asker.loop.broken = False
    asker.ask(8, "u1")
    assert asker.share == 1.0


def test_a_failure_fails_the_query_if_so_declared() -> None:
    asker = Asker(FOLLOWERS, replace(BUDGET, on_failure=OnFailure.ERROR))
    asker.loop.broken = True
    with pytest.raises(RemoteError, match="failed"):
        asker.ask(1, "u1")


def test_silent_lets_unknown_rows_pass() -> None:
    asker = Asker(FOLLOWERS, CACHED, silent=True)
    assert asker.ask(1, "u1") == [("u1", "10")]
    asker.loop.broken = True
    assert asker.ask(5, "u1", "u2") == [("u1", "10"), ("u2", "-")]


def test_not_silent_leaves_unknown_rows_out() -> None:
    asker = Asker(FOLLOWERS, CACHED)
    asker.loop.broken = True
    assert asker.ask(5, "u1") == []
    assert asker.call.last is not None and asker.call.last.missing == 1


def test_a_late_answer_serves_the_next_evaluation() -> None:
    asker = Asker(FOLLOWERS, replace(BUDGET, deadline=0.02))
    asker.loop.holding = True
    assert asker.ask(1, "u1") == []
    assert asker.call.last is not None and asker.call.last.waiting == 1
    asker.ask(2, "u1")
    assert asker.requests == 1
    asker.loop.release(seconds=1.0)
    rows = asker.rows(3, "u1")
    assert asker.read(rows) == [("u1", "10")]
    assert rows.fetched.tolist() == [1 * SECOND]


def test_an_answer_without_the_variables_is_a_failure() -> None:
    asker = Asker(FOLLOWERS, BUDGET)
    asker.loop.submit = lambda *_: _wrong(asker.loop)  # type: ignore[method-assign]
    assert asker.ask(1, "u1") == []
    assert asker.call.last is not None and asker.call.last.failed == 1


def _wrong(loop: StoreLoop) -> object:
    return StoreLoop.submit(loop, "", ServiceConfig(), "SELECT ?x { ?x ?y ?z }")


# Several queries, and state


def test_queries_share_view_and_budget() -> None:
    loop = StoreLoop(DATA)
    dictionary = Dictionary()
    resolver = ServiceResolver(dictionary, {"http://s/q": replace(BUDGET, budget=Budget(2))}, loop=loop)
    service = Service(IRI("http://s/q"), FOLLOWERS)
    calls = [resolver.call(name, service, ("user",), slide=SECOND) for name in ("a", "b")]
    users = dictionary.encode_terms([iri("u1"), iri("u2"), iri("u3")])
    first = calls[0].rows({"user": users}, 3, SECOND)
    second = calls[1].rows({"user": users}, 3, SECOND)
    assert (first.freshness.refreshed, second.freshness.refreshed) == (1, 1)
    assert second.freshness.rows == 2
    assert [f.at for f in resolver.freshness("b")] == [SECOND]
    resolver.drop("b")
    assert resolver.freshness("b") == []
    third = calls[0].rows({"user": users}, 3, 2 * SECOND)
    assert third.freshness.refreshed == 1 and third.freshness.share == 1.0


@pytest.mark.parametrize("before", [True, False])
def test_state_survives_a_restart(before: bool) -> None:
    """Restored before or after the call is prepared, it answers without a request, by the same budget."""
    config = ServiceConfig(
        budget=Budget(per_evaluation=2, per_period=4, period=100 * SECOND),
        change_intervals=((E + "followers", 30 * SECOND),),
    )
    asker = Asker(BOTH, config, "tweet")
    asker.ask(1, "t2", "t3")
    state = asker.resolver.snapshot()
    loop = StoreLoop()
    twin = ServiceResolver(Dictionary(), {"http://s/q": config}, loop=loop)
    if before:
        twin.restore(state)
    again = Asker(BOTH, config, "tweet", loop=loop, resolver=twin)
    if not before:
        twin.restore(state)
    assert again.ask(2, "t2", "t3") == asker.ask(2, "t2", "t3")
    assert loop.texts == []
    assert again.call.ledger.spent == asker.call.ledger.spent
    assert set(twin.ids().tolist()) == set(asker.resolver.ids().tolist())


def test_the_instant_before_sees_what_was_answered_then() -> None:
    """Two queries share a view. Between two evaluations of the first, the second refreshes it: what the first
    answered before stays what it was, also after a restart; an instant in between sees the view as it is."""
    loop = StoreLoop(DATA)
    config = ServiceConfig(budget=Budget(2), change_interval=SECOND)
    resolver = ServiceResolver(Dictionary(), {"http://s/q": config}, loop=loop)
    one = Asker(FOLLOWERS, config, loop=loop, resolver=resolver)
    one.ask(1, "u1")
    service = Service(IRI("http://s/q"), FOLLOWERS)
    users = {"user": one.dictionary.encode_terms([iri("u1")])}
    loop.update("DELETE { :u1 :followers 10 } INSERT { :u1 :followers 11 } WHERE {}")
    resolver.call("other", service, ("user",)).rows(users, 1, 2 * SECOND)
    assert one.read(one.call.rows(users, 1, SECOND, refresh=False)) == [("u1", "10")]
    twin = ServiceResolver(Dictionary(), {"http://s/q": config}, loop=loop)
    twin.restore(resolver.snapshot())
    again = Asker(FOLLOWERS, config, loop=loop, resolver=twin)
    assert again.read(again.call.rows(users, 1, SECOND, refresh=False)) == [("u1", "10")]
    assert one.read(one.call.rows(users, 1, 3 * SECOND - 1, refresh=False)) == [("u1", "11")]
    assert len(loop.texts) == 2


def test_a_hint_in_the_query_wins() -> None:
    dictionary = Dictionary()
    resolver = ServiceResolver(dictionary, loop=StoreLoop(DATA))
    service = Service(IRI("http://s/q#weir:budget=1&interval=3s"), FOLLOWERS)
    call = resolver.call("q", service, ("user",))
    assert call.target.endpoint == "http://s/q"
    assert call.target.config.budget == Budget(1)


def test_an_endpoint_can_be_refused() -> None:
    resolver = ServiceResolver(Dictionary(), {"*": ServiceConfig(allow=False)}, loop=StoreLoop(DATA))
    with pytest.raises(UsageError, match="may not call"):
        resolver.call("q", Service(IRI("http://s/q"), FOLLOWERS), ("user",))
    with pytest.raises(UsageError, match="may not set 'allow'"):
        resolver.call("q", Service(IRI("http://s/q#weir:allow=true"), FOLLOWERS), ("user",))


def test_an_endpoint_must_be_known() -> None:
    with pytest.raises(EvaluationError):
        ServiceResolver(Dictionary()).call("q", Service(Variable("e"), FOLLOWERS), ())


def test_views_stay_within_bounds() -> None:
    asker = Asker(FOLLOWERS, replace(CACHED, max_keys=10))
    for at in range(1, 30):
        asker.ask(at, f"x{at}", "u1")
    assert len(asker.call._views.value) <= 11
    assert ("u1", "10") in asker.ask(30, "u1")
