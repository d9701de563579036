"""What changes in a pattern is found out, and asked for by itself: M:N without a declaration."""

from __future__ import annotations

from urllib.parse import unquote_plus

import pytest

from service_servers import MoodyServer
from weir.linked.service import local_view
from weir.testing import Scenario
from weir_bench.oxigraph import Oxigraph

pytestmark = pytest.mark.network

E = "http://e/"
POSTS, USERS = 12, 3
DATA = " ".join(
    f"<{E}p{n}> <{E}mentions> <{E}u{n % USERS}> , <{E}u{(n + 1) % USERS}> ." for n in range(POSTS)
)


def true_rows(server: MoodyServer, store: Oxigraph, *, restarts: bool = False) -> tuple[int, list[str]]:
    """Every post is in the window, every user's number changes each second, three requests are allowed:
    how many rows of the last twenty evaluations are true, and what was asked for at the last."""
    text = f"""PREFIX : <{E}> REGISTER RSTREAM <out> AS SELECT ?p ?u ?n
    FROM NAMED WINDOW <w> ON <s> [RANGE 1s STEP 1s]
    WHERE {{ WINDOW <w> {{ ?p :seen ?x }}
      SERVICE <{server.endpoint}#weir:budget=3&batch=1> {{ ?p :mentions ?u . ?u :followers ?n }} }}"""
    scenario, good, asked = Scenario(text, restarts=restarts), 0, 0
    for step in range(60):
        numbers = " ".join(f"<{E}u{n}> <{E}followers> {step * USERS + n} ." for n in range(USERS))
        store.update(f"DELETE WHERE {{ ?u <{E}followers> ?n }} ; INSERT DATA {{ {numbers} }}")
        seen = "".join(f"{1000 * step + 500}\t<{E}p{n}> <{E}seen> <{E}x> .\n" for n in range(POSTS))
        scenario.lane("s").put(seen + f"{1000 * step + 1000}\t\n{1000 * step + 1001}\t\n")
        before = server.requests
        rows = [line["bindings"] for line in scenario.batch()]
        assert server.requests - before <= 3
        told = {(row["p"]["value"], row["u"]["value"]) for row in rows}
        assert len(told) == len(rows)
        asked = server.requests - before
        if step >= 40:
            good += sum(int(row["n"]["value"]) // USERS == step for row in rows)
            assert len(rows) == 2 * POSTS
    return good, [unquote_plus(body.decode()) for body in server.bodies[-max(asked, 1) :]]


@pytest.mark.parametrize("restarts", [False, True])
def test_what_changes_is_asked_for_by_itself(server: MoodyServer, store: Oxigraph, restarts: bool) -> None:
    good, asked = true_rows(server, store, restarts=restarts)
    assert all("mentions" not in text.split("OPTIONAL")[0] for text in asked)
    assert good >= 0.9 * 20 * 2 * POSTS


def test_without_it_few_rows_are_true(
    server: MoodyServer, store: Oxigraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_view, "_TELLING", 1 << 60)
    good, asked = true_rows(server, store)
    assert all("mentions" in text for text in asked)
    assert good <= 0.4 * 20 * 2 * POSTS
