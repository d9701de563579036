"""Any cut, any mix of clauses and queries, any fault: no limit is exceeded, and nobody is left out."""

from __future__ import annotations

import random
import time

import pytest

from service_servers import Mood, MoodyServer
from weir.testing import Scenario

pytestmark = pytest.mark.network

E = "http://e/"
KEYS = 30
DATA = " ".join(f"<{E}k{n}> <{E}value> {n} . <{E}k{n}> <{E}other> {n} ." for n in range(KEYS))
FAULTS = (Mood.PASS, Mood.SLOW, Mood.GARBAGE, Mood.CUT, Mood.REFUSE, Mood.DEAF, Mood.DRIP, Mood.BUSY)
GAMMA = 3

POLICIES = ("auto", "expected", "lru", "sbm", "rand")


@pytest.fixture
def server(server: MoodyServer) -> MoodyServer:
    """One that is slow for 0.3 s where it is in the mood for that."""
    server.delay = 0.3
    return server


def queries(server: MoodyServer, chance: random.Random) -> dict[str, str]:
    """Up to four queries of one or two clauses, each with a hint of its own."""
    found = {}
    for number in range(chance.randint(1, 4)):
        clauses = []
        for place in ("value", "other")[: chance.randint(1, 2)]:
            hint = f"budget={chance.randint(1, GAMMA)}&interval=1s&batch={chance.choice([1, 3, 50])}"
            hint += f"&deadline=0.05&timeout=0.2&policy={chance.choice(POLICIES)}"
            clauses.append(
                f"OPTIONAL {{ SERVICE <{server.endpoint}#weir:{hint}> {{ ?k :{place} ?{place}{number} }} }}"
            )
        found[f"q{number}"] = f"""PREFIX : <{E}> REGISTER RSTREAM <o{number}> AS SELECT *
        FROM NAMED WINDOW <w> ON <s> [RANGE {chance.randint(1, 9)}s STEP 1s]
        WHERE {{ WINDOW <w> {{ ?k :seen ?x }} {" ".join(clauses)} }}"""
    return found


def line(at: int, chance: random.Random) -> str:
    return f"{1000 * at + 500}\t<{E}k{chance.randrange(KEYS)}> <{E}seen> <{E}x> .\n"


@pytest.mark.parametrize("seed", range(6))
def test_no_limit_is_exceeded_and_nobody_starves(server: MoodyServer, seed: int) -> None:
    chance = random.Random(seed)
    texts = queries(server, chance)
    scenario = Scenario(texts, restarts=chance.random() < 0.3)
    wanted = {
        f"{place}{name[1:]}"
        for name, text in texts.items()
        for place in ("value", "other")
        if f":{place} " in text
    }
    at, evaluated = 0, 0
    for _ in range(12):
        server.mood = chance.choice(FAULTS)
        server.most = chance.choice([None, None, 3])
        server.busy = chance.choice([{"Retry-After": "0"}, {"Retry-After": "1"}])
        size = chance.randint(1, 4)
        scenario.lane("s").put("".join(line(at + n, chance) for n in range(size)))
        scenario.batch()
        at, evaluated = at + size, evaluated + size
        # A request of one batch may reach a busy server during the next: the sum is what holds at all times.
        assert server.requests <= GAMMA * evaluated
    server.mood, server.most = Mood.PASS, None
    heard: set[str] = set()
    until = time.monotonic() + 60
    while not heard >= wanted:
        assert time.monotonic() < until, wanted - heard
        scenario.lane("s").put(line(at, chance))
        heard |= {name for row in scenario.batch() for name in row["bindings"]}
        at += 1
        time.sleep(0.05)
