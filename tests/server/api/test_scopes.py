"""Every operation of the API with every kind of token: what a scope does not have is refused, and no more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from server_kit import StillJob
from weir.server.api import application
from weir.server.service import Service
from weir.server.settings import SCOPES, Settings, Token

NEEDS = {
    "read": """GET /api/streams, GET /api/streams/{id}, GET /api/graphs, GET /sparql, POST /sparql,
        GET /api/queries, GET /api/queries/{id}, GET /api/queries/{id}/explain,
        GET /api/queries/{id}/activity, GET /api/queries/{id}/results,
        POST /api/parse, POST /api/translate, GET /api/metrics, GET /metrics,
        GET /api/services, GET /api/examples, GET /api/vocabulary, GET /api/sinks""",
    "write": """POST /api/streams/{id}/messages, POST /api/graphs/update, POST /api/graphs/{id},
        PUT /api/graphs/{id}""",
    "admin": """POST /api/streams, DELETE /api/streams/{id}, DELETE /api/graphs/{id}, POST /api/queries,
        DELETE /api/queries/{id}, POST /api/queries/{id}/pause, POST /api/queries/{id}/resume,
        PUT /api/queries/{id}/fragments, DELETE /api/queries/{id}/fragments,
        POST /api/sinks, DELETE /api/sinks""",
    "": "GET /health",
}
MATRIX = {operation.strip(): scope for scope, text in NEEDS.items() for operation in text.split(",")}
TOKENS = tuple(Token(scope[0] * 20, scope, scope) for scope in SCOPES)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Service:
    folder: Path = tmp_path_factory.mktemp("scopes")
    service = Service(Settings(host="0.0.0.0", data=folder / "data", tokens=TOKENS))
    service._job = StillJob(folder / "job")  # type: ignore[assignment]
    return service


def statuses(service: Service, secret: str | None) -> dict[str, int]:
    async def asked() -> dict[str, int]:
        transport = httpx.ASGITransport(application(service), raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
        async with httpx.AsyncClient(transport=transport, base_url="http://weir", headers=headers) as http:
            return {
                operation: (await http.request(method, path.replace("{id}", "none"))).status_code
                for operation in MATRIX
                for method, _, path in [operation.partition(" ")]
            }

    return asyncio.run(asked())


def test_the_matrix_has_every_operation(guarded: Service) -> None:
    async def described() -> set[str]:
        transport = httpx.ASGITransport(application(guarded))
        async with httpx.AsyncClient(transport=transport, base_url="http://weir") as http:
            paths = (await http.get("/openapi.json")).json()["paths"]
            return {f"{method.upper()} {path}" for path, found in paths.items() for method in found}

    assert asyncio.run(described()) == set(MATRIX)


@pytest.mark.parametrize("scope", [None, *SCOPES])
def test_a_token_may_do_what_its_scope_has(guarded: Service, scope: str | None) -> None:
    found = statuses(guarded, None if scope is None else scope[0] * 20)
    for operation, needed in MATRIX.items():
        if scope is None:
            assert (found[operation] == 401) is (needed != ""), operation
        else:
            has = needed == "" or SCOPES.index(needed) <= SCOPES.index(scope)
            assert (found[operation] == 403) is not has and found[operation] != 401, operation
