"""A data set behind HTTP for tests: requests straight to the application, answers taken apart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import httpx

from fragments_kit import EX, Crank, client_of
from weir.fragments.client.page import Page, parse_page
from weir.fragments.protocol.annotation import Annotation, Quad
from weir.fragments.server import Dataset, FragmentsApp

STATIC: list[Quad] = [
    *((f"<{EX}s{n}>", f"<{EX}label>", f'"thing {n}"@en', "") for n in range(25)),
    (f"<{EX}s1>", f"<{EX}knows>", f"<{EX}s2>", f"<{EX}graph>"),
    ("_:b0", f"<{EX}odd>", '"<&>\\" \\\\ \\n é ☃"', ""),
]
NQUADS = {"Accept": "application/n-quads"}


def make(**options: Any) -> tuple[FragmentsApp, Crank]:
    clock = Crank()
    annotation = options.pop("annotation", Annotation())
    own = {name: options.pop(name) for name in ("limits", "static_age") if name in options}
    data = Dataset("d", STATIC, annotation=annotation, page_size=10, **own)
    return FragmentsApp([data], clock=clock.now, **options), clock


def run(app: FragmentsApp, use: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    async def inside() -> None:
        async with client_of(app) as client:
            await use(client)

    asyncio.run(inside())


def get(app: FragmentsApp, path: str, **headers: str) -> httpx.Response:
    found: list[httpx.Response] = []

    async def use(client: httpx.AsyncClient) -> None:
        found.append(
            await client.get(path, headers={**NQUADS, **{k.replace("_", "-"): v for k, v in headers.items()}})
        )

    run(app, use)
    return found[0]


def page_of(response: httpx.Response) -> Page:
    media_type = response.headers["content-type"].partition(";")[0]
    return parse_page(str(response.url), response.content, media_type, 10_000)


def label(**fields: str) -> str:
    return "/d?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items())
