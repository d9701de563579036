"""Who may do what: tokens, this machine, other pages, rates."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.datastructures import Headers

from server_kit import CHIEF, READER, TOKENS, call, still_service
from weir.errors import UsageError
from weir.fragments.server import Dataset, FastPath
from weir.linked.serving.admission import Access, Refused, is_loopback
from weir.runtime.control.registry import StreamInfo
from weir.server.api import application
from weir.server.api.access import HEADERS, Gate, Rates
from weir.server.service import Service
from weir.server.settings import Limits, Settings, Token


def test_without_tokens_only_this_machine_is_served() -> None:
    with pytest.raises(UsageError, match="open to everybody"):
        Access(host="0.0.0.0")
    Access(TOKENS, host="0.0.0.0")
    access: Access[Token] = Access()
    assert access.admit("GET", Headers({"host": "localhost:8080"})) is None
    assert access.admit("GET", Headers({"host": "[::1]:8080"})) is None
    with pytest.raises(Refused, match="own machine"):
        access.admit("GET", Headers({"host": "weir.example"}))
    with pytest.raises(Refused, match="another page"):
        access.admit("POST", Headers({"host": "localhost", "origin": "http://evil.example"}))
    access.admit("POST", Headers({"host": "localhost:1", "origin": "http://localhost:1"}))
    assert not is_loopback("127.0.0.1.evil.example")


def test_rates_are_a_bucket() -> None:
    now = [0.0]
    rates = Rates(2, 3, lambda: now[0])
    assert [rates.take("a") for _ in range(3)] == [0, 0, 0]
    assert rates.take("a") == pytest.approx(0.5)
    assert rates.take("b") == 0
    now[0] = 0.5
    assert rates.take("a") == 0


def test_without_a_good_token_nothing_is_told(tmp_path: Path) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS))
    missing = call(service, "GET", "/api/streams")
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, "Bearer")
    wrong = call(service, "GET", "/api/streams", headers={"authorization": "Bearer nonsense"})
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert call(service, "GET", f"/api/streams?access_token={READER}").status_code == 401
    assert call(service, "GET", f"/api/queries/q/results?access_token={READER}").status_code == 503
    assert call(service, "GET", "/").status_code == 200


def test_a_scope_allows_what_it_says(tmp_path: Path) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS))
    reader = {"authorization": f"Bearer {READER}"}
    assert (
        call(service, "POST", "/api/streams", json={"iri": "http://e/s"}, headers=reader).status_code == 403
    )
    assert call(service, "POST", "/api/parse", json={"text": "ASK {}"}, headers=reader).status_code == 200


def test_too_many_requests_and_too_long_bodies_are_refused(tmp_path: Path) -> None:
    service = Service(Settings(data=tmp_path, limits=Limits(burst=2, requests=0.001, body=100)))
    long = call(service, "POST", "/api/parse", content=b"x" * 101)
    assert long.status_code == 413
    limited = Service(Settings(data=tmp_path, limits=Limits(burst=0, requests=0.001)))
    assert call(limited, "GET", "/health").status_code == 429


def test_wrong_tokens_are_held_back_and_others_are_not(tmp_path: Path) -> None:
    limits = Limits(failed_logins=3)
    app = application(Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS, limits=limits)))

    async def asked(client: str, token: str) -> int:
        transport = httpx.ASGITransport(app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://weir") as http:
            headers = {"authorization": f"Bearer {token}"}
            return (await http.get("/api/examples", headers=headers)).status_code

    async def all_of() -> list[int]:
        wrong = [await asked("10.0.0.1", f"guess {n}") for n in range(5)]
        return [*wrong, await asked("10.0.0.1", READER), await asked("10.0.0.2", READER)]

    assert asyncio.run(all_of()) == [401, 401, 401, 429, 429, 429, 200]


def test_no_more_than_so_many_requests_of_one_client_at_once(tmp_path: Path) -> None:
    blocked = threading.Event()
    service = still_service(tmp_path, Limits(concurrent=2))
    found = service.stream("s")

    def waiting(id: str) -> StreamInfo:
        blocked.wait(60)
        return found

    service.stream = waiting  # type: ignore[method-assign]
    app = application(service)
    assert isinstance(app, Gate)

    async def all_of() -> list[int]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            waiting = [asyncio.create_task(http.get("/api/streams/s")) for _ in range(2)]
            while app.under_way["127.0.0.1"] < 2:
                await asyncio.sleep(0.01)
            refused = await http.get("/api/streams/s")
            blocked.set()
            await asyncio.gather(*waiting)
            return [refused.status_code, (await http.get("/health")).status_code]

    assert asyncio.run(all_of()) == [429, 200]


@pytest.mark.parametrize(("body_takes", "receive"), [(0.0, 60.0), (60.0, 0.2)])
def test_a_body_has_to_come(tmp_path: Path, body_takes: float, receive: float) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b'{"text": '
        await asyncio.sleep(body_takes)
        yield b'"ASK {}"}'

    service = Service(Settings(data=tmp_path, limits=Limits(receive=receive)))
    headers = {"content-type": "application/json"}
    found = call(service, "POST", "/api/parse", content=slow(), headers=headers)
    assert found.status_code == (408 if body_takes else 200)


def test_clients_that_go_away_fill_no_log(tmp_path: Path) -> None:
    """Someone who begins bodies and hangs up would write a traceback for each of them."""
    app, said = application(still_service(tmp_path)), []
    came = iter([{"type": "http.request", "body": b"ASK", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(came)

    async def send(message: Any) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/sparql",
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/sparql-query")],
    }
    asyncio.run(app(scope, receive, send))  # What is raised here is logged.
    assert said[0]["status"] == 400


PUSHER = "w" * 20
SCOPED = (*TOKENS, Token(PUSHER, "write", "pusher"))
FACT = {"content": "<http://e/s> <http://e/p> <http://e/o> .", "params": {"lifetime": "60"}}


@pytest.mark.parametrize(
    ("token", "read", "pushed"), [(None, 401, 401), (READER, 200, 403), (PUSHER, 200, 200), (CHIEF, 200, 200)]
)
def test_fragments_are_under_the_tokens_of_the_api(
    tmp_path: Path, token: str | None, read: int, pushed: int
) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=SCOPED))
    service.fragments.add(Dataset("d"))
    headers = {"content-type": "text/turtle"} | ({"authorization": f"Bearer {token}"} if token else {})
    assert call(service, "GET", "/fragments/d", headers=headers).status_code == read
    assert call(service, "POST", "/fragments/d", headers=headers, **FACT).status_code == pushed


@pytest.mark.parametrize("path", ["/fragments/", "/fragments/d", "/api/streams", "/sparql", "/metrics"])
def test_without_tokens_no_other_name_and_no_other_page(tmp_path: Path, path: str) -> None:
    service = still_service(tmp_path)
    service.fragments.add(Dataset("d"))
    service.fragments.push = True
    named = {"host": "rebound.example"}
    assert call(service, "GET", path, headers=named).status_code == 403
    page = {"origin": "http://evil.example", "content-type": "text/turtle"}
    assert call(service, "POST", path, headers=page, **FACT).status_code == 403
    shown = call(service, "GET", path, headers={"origin": "http://evil.example"})
    assert not [name for name in shown.headers if name.startswith("access-control-")]


def test_fragments_are_shared_with_declared_pages_only(tmp_path: Path) -> None:
    service = Service(Settings(data=tmp_path, origins=("https://friend.example",)))
    service.fragments.add(Dataset("d"))
    for origin, allowed in (("https://friend.example", True), ("https://evil.example", False)):
        found = call(service, "GET", "/fragments/d", headers={"origin": origin})
        assert (found.headers.get("access-control-allow-origin") == origin) is allowed
        preflight = {"origin": origin, "access-control-request-method": "POST"}
        asked = call(service, "OPTIONS", "/fragments/d", headers=preflight)
        assert (asked.headers.get("access-control-allow-origin") == origin) is allowed


def quick(service: Service, limits: Limits | None = None) -> FastPath:
    """The fast path of a service's fragments, as it is served."""
    access = Access(service.settings.tokens, host=service.settings.host)
    gate = Gate(application(service), access, limits or service.settings.limits)
    return FastPath(service.fragments, "/fragments", gate=gate, extra=HEADERS)


def asking(token: str | None = None, host: str = "localhost") -> bytes:
    said = f"authorization: Bearer {token}\r\n" if token else ""
    return f"GET /fragments/d HTTP/1.1\r\nhost: {host}\r\naccept: text/turtle\r\n{said}\r\n".encode()


@pytest.mark.parametrize("token", [None, "x" * 20, READER, CHIEF])
def test_the_fast_path_answers_as_the_gate_does(tmp_path: Path, token: str | None) -> None:
    service = Service(Settings(host="0.0.0.0", data=tmp_path, tokens=TOKENS))
    service.fragments.add(Dataset("d"))
    fast = quick(service)
    for _ in range(3):
        answer = fast.answer(asking(token), "10.0.0.1")
        if token not in (READER, CHIEF):
            assert answer is None
            continue
        assert answer is not None
        top, _, body = answer.partition(b"\r\n\r\n")
        asked = {"accept": "text/turtle", "accept-encoding": "identity", "authorization": f"Bearer {token}"}
        whole = call(service, "GET", "/fragments/d", headers=asked)
        assert body == whole.content
        lines = top.decode().lower().split("\r\n")[1:]
        told = {f"{name}: {value}".lower() for name, value in whole.headers.items()}
        assert {line for line in lines if not line.startswith(("date", "expires"))} == {
            line for line in told if not line.startswith("expires")
        }


def test_the_fast_path_takes_no_other_name_and_no_more_than_the_rate(tmp_path: Path) -> None:
    service = still_service(tmp_path)
    service.fragments.add(Dataset("d"))
    fast = quick(service, Limits(requests=0.0, burst=2))
    assert fast.answer(asking(host="rebound.example"), "127.0.0.1") is None
    answers = [fast.answer(asking(), "127.0.0.1") for _ in range(3)]
    assert answers[0] and answers[1] and answers[2] is None
    assert b"access-control" not in answers[0] and b"nosniff" in answers[0]
