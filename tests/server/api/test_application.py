"""The application: every route in its description, and what stands beside the routes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from server_kit import call
from weir.server.api.access_log import AccessLog
from weir.server.api.application import build, server
from weir.server.service import Service
from weir.server.settings import Settings


def test_the_description_has_every_group_of_routes(tmp_path: Path) -> None:
    described = build(Service(Settings(data=tmp_path))).openapi()
    tags = {operation["tags"][0] for each in described["paths"].values() for operation in each.values()}
    assert tags == {"streams", "graphs", "queries", "results", "metrics"}
    assert "/api/streams/{id}/messages" in described["paths"]


def test_pages_are_beside_the_routes(tmp_path: Path) -> None:
    service = Service(Settings(data=tmp_path))
    assert "Weir" in call(service, "GET", "/").text
    shown = call(service, "GET", "/docs")
    assert "/api/queries/{id}" in shown.text
    assert shown.headers["x-frame-options"] == "DENY"
    nowhere = call(service, "GET", "/nowhere")
    assert (nowhere.status_code, nowhere.headers["content-type"]) == (404, "application/problem+json")


def test_other_origins_are_let_in_where_they_are_named(tmp_path: Path) -> None:
    asked = {"origin": "https://example.org", "access-control-request-method": "GET"}
    service = Service(Settings(data=tmp_path, origins=("https://example.org",)))
    allowed = call(service, "OPTIONS", "/api/queries", headers=asked)
    assert allowed.headers["access-control-allow-origin"] == "https://example.org"


def test_a_server_listens_where_it_is_told_to(tmp_path: Path) -> None:
    made = server(Settings(data=tmp_path, port=1234), push="secret")
    assert (made.config.host, made.config.port) == ("127.0.0.1", 1234)


SAID = ("127.0.0.9", "GET", "/nowhere")


def test_requests_are_logged_without_what_may_be_a_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = server(Settings(data=tmp_path, access_log=True)).config.app

    async def asked() -> None:
        transport = httpx.ASGITransport(app, client=("127.0.0.9", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as client:
            await client.get("/nowhere?secret=1")

    asyncio.run(asked())
    line = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (line["client"], line["method"], line["path"], line["status"]) == (
        "127.0.0.9",
        "GET",
        "/nowhere",
        404,
    )
    assert line["bytes"] > 0 and line["ms"] > 0
    assert not isinstance(server(Settings(data=tmp_path)).config.app, AccessLog)
