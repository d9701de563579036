"""The dashboard's files: complete, from here only, sent with headers that keep text from being code."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from weir.server.api.application import STATIC, mount

MODULES = sorted(STATIC.glob("*.js"))
NAMESPACES = ("http://www.w3.org/", "http://example.org/")
"""Names in the modules that look like addresses."""


def get(address: str, **headers: str) -> httpx.Response:
    app = FastAPI()
    mount(app)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(address, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize("address", ["/", "/dashboard/app.js", "/dashboard/base.css", "/dashboard/weir.svg"])
def test_files_are_sent_under_a_strict_policy(address: str) -> None:
    reply = get(address)
    assert reply.status_code == 200
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';") and "unsafe" not in policy and "http" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_file_that_is_known_is_not_sent_again() -> None:
    tag = get("/dashboard/app.js").headers["etag"]
    assert get("/dashboard/app.js", **{"If-None-Match": tag}).status_code == 304


def test_modules_have_the_type_that_browsers_demand() -> None:
    assert "javascript" in get("/dashboard/app.js").headers["content-type"]


def test_only_the_files_of_the_folder_are_served() -> None:
    assert get("/dashboard/../pages.py").status_code == 404
    assert get("/dashboard/%2e%2e/pages.py").status_code == 404


def test_the_page_is_not_part_of_the_api_description() -> None:
    assert get("/openapi.json").json()["paths"] == {}


def test_whatever_a_file_refers_to_is_there() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    wanted = set(re.findall(r'"dashboard/([\w.]+)"', page))
    for module in MODULES:
        wanted |= set(re.findall(r'from "\./([\w.]+)"', module.read_text(encoding="utf-8")))
    assert wanted and wanted == {path.name for path in STATIC.iterdir()} - {"index.html"}


def test_nothing_comes_from_elsewhere() -> None:
    for path in STATIC.iterdir():
        for address in re.findall(r"https?://[\w./#-]+", path.read_text(encoding="utf-8")):
            assert address.startswith(NAMESPACES), f"{path.name} refers to {address}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_text_never_becomes_markup(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "DOMParser",
    ):
        assert way not in text
