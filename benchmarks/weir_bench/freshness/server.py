"""Section 6 with a real SPARQL server: Weir's SERVICE call, HTTP, and data that change under it.

The paper's setting runs faster by a factor (everything in it is scaled alike). Tweets mention users; each
user's followers change at the user's own interval, and the server says until when a count holds: a thread
writes the changes when they are due. What is fresh is decided by comparing each row with what the server
holds when the evaluation begins, not by what the view believes.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from weir.errors import EvaluationError
from weir.fragments.protocol.annotation import time_text
from weir.kernel.service_calls import ServiceRows
from weir.language.algebra.patterns import BGP, Service, TriplePattern
from weir.linked.service.call import RemoteCall
from weir.linked.service.config import Budget, PolicyName, ServiceConfig
from weir.linked.service.endpoint import RemoteLoop
from weir.linked.service.resolver import ServiceResolver
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI, Variable
from weir_bench.freshness.data import Setting, Trace, trace
from weir_bench.oxigraph import Oxigraph

E = "http://example.org/"
_CHANGING = ("followers", "until", "every")
PATTERN = BGP(
    (
        TriplePattern(Variable("tweet"), IRI(E + "mentions"), Variable("user")),
        *(TriplePattern(Variable("user"), IRI(E + name), Variable(name)) for name in _CHANGING),
    )
)


def scaled(setting: Setting, factor: int) -> Setting:
    """The setting with every time divided by ``factor``."""
    return replace(
        setting,
        change=(setting.change[0] // factor, setting.change[1] // factor),
        arrival=(setting.arrival[0] // factor, setting.arrival[1] // factor),
        width=setting.width // factor,
        slide=setting.slide // factor,
    )


class Clock:
    """Event time: milliseconds since the run's origin, with the wall clock behind it."""

    def __init__(self) -> None:
        self._origin = time.time()

    def now(self) -> float:
        return (time.time() - self._origin) * 1000

    def sleep_until(self, due: float) -> None:
        time.sleep(max(due - self.now(), 0.0) / 1000)


class ChangingData:
    """Writes the changes of a trace to a server when they are due; ``current`` is what the server holds."""

    def __init__(self, server: Oxigraph, data: Trace, clock: Clock) -> None:
        self._server = server
        self._data = data
        self._clock = clock
        self._ending = threading.Event()
        self.current: Ids = data.version(int(clock.now()))
        links = (
            f"<{E}t{i}> <{E}mentions> <{E}u{j}> ."
            for i, j in zip(data.edge_left.tolist(), data.edge_right.tolist(), strict=True)
        )
        server.load(" ".join([*links, *(self._facts(j) for j in range(data.setting.right))]))
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ChangingData:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def _facts(self, user: int) -> str:
        number = int(self.current[user])
        until = int(self._data.phase[user] + (number + 1) * self._data.interval[user]) * 1000
        every = self._data.interval[user] / 1000
        facts = f"<{E}followers> {number} ; <{E}until> {time_text(until)} ; <{E}every> {every:.3f}"
        return f"<{E}u{user}> {facts} ."

    def _run(self) -> None:
        predicates = " ".join(f"<{E}{name}>" for name in _CHANGING)
        while not self._ending.is_set():
            version = self._data.version(int(self._clock.now()))
            due = np.flatnonzero(version != self.current)
            if len(due):
                self.current[due] = version[due]
                users = " ".join(f"<{E}u{j}>" for j in due.tolist())
                facts = " ".join(self._facts(j) for j in due.tolist())
                self._server.update(
                    f"DELETE {{ ?u ?p ?o }} WHERE {{ VALUES ?u {{ {users} }} VALUES ?p {{ {predicates} }} "
                    f"?u ?p ?o }} ; INSERT DATA {{ {facts} }}"
                )
            now = self._clock.now()
            self._ending.wait(max((self._data.next_change(int(now)).min() - now) / 1000, 0.0005))


@dataclass(frozen=True, slots=True)
class ServerRun:
    """Means over the measured evaluations: freshness as the server has it and as the view believes; a
    slide's latency in seconds, of which waiting for the server and planning; refreshes."""

    freshness: float
    believed: float
    latency: float
    waited: float
    planning: float
    refreshed: float
    slowest: float


def run_on_server(
    setting: Setting, seed: int, policy: PolicyName, budget: int, *, batch: int = 1
) -> ServerRun:
    """One run in real time: ``setting.evaluations`` slides under a policy."""
    data = trace(setting, seed)
    loop = RemoteLoop()
    clock = Clock()
    try:
        with Oxigraph() as server, ChangingData(server, data, clock) as changing:
            call, dictionary = _call(server.endpoint, loop, setting, policy, batch)
            tweets = dictionary.encode_terms([IRI(f"{E}t{i}") for i in range(setting.left)])
            _fill(call, tweets, clock)
            return _measure(data, call, dictionary, tweets, changing, clock, budget)
    finally:
        loop.close()


def _call(
    endpoint: str, loop: RemoteLoop, setting: Setting, policy: PolicyName, batch: int
) -> tuple[RemoteCall, Dictionary]:
    slide = setting.slide * 1000
    config = ServiceConfig(
        budget=Budget(per_period=1 << 40),
        policy=policy,
        change_intervals=tuple((E + name, slide) for name in _CHANGING),
        expires_variable="until",
        interval_variable="every",
        deadline=setting.slide / 1000,
        batch=batch,
        connections=1,
    )
    dictionary = Dictionary()
    resolver = ServiceResolver(dictionary, {endpoint: config}, loop=loop)
    service = Service(IRI(endpoint), PATTERN)
    return resolver.call("q", service, ("tweet",), width=setting.width * 1000, slide=slide), dictionary


def _fill(call: RemoteCall, tweets: Ids, clock: Clock) -> None:
    """The view starts complete, as the paper's does."""
    for _ in range(200):
        answer = call.rows({"tweet": tweets}, len(tweets), int(clock.now() * 1000))
        if not answer.freshness.missing:
            return
        time.sleep(0.02)
    raise EvaluationError("the view could not be filled before the run")


def _budget(call: RemoteCall, setting: Setting, budget: int, first: float) -> None:
    """γ at each evaluation; for FBA as many in all, from the first evaluation to the last."""
    call.ledger.leave("q")
    if call.target.config.policy is not PolicyName.FBA:
        call.ledger.budget = Budget(per_evaluation=budget)
        return
    end = first + setting.evaluations * setting.slide
    call.ledger.budget = Budget(per_period=int(budget * end / setting.slide), period=int(end * 1000))
    call.ledger.spend("q", int(first * 1000), int(budget * first / setting.slide))


def _measure(
    data: Trace,
    call: RemoteCall,
    dictionary: Dictionary,
    tweets: Ids,
    changing: ChangingData,
    clock: Clock,
    budget: int,
) -> ServerRun:
    setting = data.setting
    users = dictionary.encode_terms([IRI(f"{E}u{j}") for j in range(setting.right)])
    first = clock.now() + setting.slide
    _budget(call, setting, budget, first)
    shares, answers, latency = [], [], []
    for number, window in enumerate(data.windows):
        clock.sleep_until(first + number * setting.slide)
        bindings = {"tweet": tweets[window.row_left]}
        current = changing.current.copy()
        started = time.perf_counter()
        answer = call.rows(bindings, len(window.row_left), int(clock.now() * 1000))
        latency.append(time.perf_counter() - started)
        shares.append(_fresh(answer, window.count, tweets, users, current, dictionary))
        answers.append(answer.freshness)
    kept = answers[setting.first :]
    return ServerRun(
        freshness=float(np.mean(shares[setting.first :])),
        believed=float(np.mean([f.share for f in kept])),
        latency=float(np.mean(latency[setting.first :])),
        waited=float(np.mean([f.waited for f in kept])),
        planning=float(np.mean([f.planning for f in kept])),
        refreshed=float(np.mean([f.refreshed for f in kept])),
        slowest=float(np.max(latency[setting.first :])),
    )


def _fresh(
    answer: ServiceRows, count: Ids, tweets: Ids, users: Ids, current: Ids, dictionary: Dictionary
) -> float:
    """The share of join rows with a number of followers that the server held when the evaluation began, or
    later."""
    tweet = _places(answer.columns["tweet"], tweets)
    user = _places(answer.columns["user"], users)
    texts = dictionary.texts(answer.columns["followers"])
    seen = np.array([int(str(text).split('"')[1]) for text in texts], np.int64)
    weight = count[tweet]
    return float(weight[seen >= current[user]].sum() / max(int(weight.sum()), 1))


def _places(column: Ids, among: Ids) -> Ids:
    order = np.argsort(among)
    found: Ids = order[np.searchsorted(among[order], column)]
    return found
