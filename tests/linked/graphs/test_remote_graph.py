"""Graphs at URLs: formats, limits, refusals, and what a refresh makes of a change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from weir.cli.load import graph_source
from weir.errors import DataError, RemoteError, UsageError
from weir.kernel.contract import Background
from weir.language.update import parse_update
from weir.linked.graphs.graph_files import RemoteGraph, fetch, graph_files, kept, read_file
from weir.linked.graphs.graph_sources import GraphSources, read_graphs
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.extracts import net_of
from weir.runtime.control.graph_updates import Refresher

pytestmark = pytest.mark.network


class Site:
    """Documents by path: status, content type, body."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}"
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}

    def put(self, path: str, body: str, kind: str = "text/turtle; charset=utf-8") -> str:
        self.pages[path] = (200, {"Content-Type": kind}, body.encode())
        return self.root + path


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as made:
        yield made


@contextmanager
def serving() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = made.pages.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def triples(path: Path) -> list[tuple[str, ...]]:
    (file,) = graph_files([path])
    found = []
    for piece in read_file(file, b"key"):
        columns = [[column.texts[code] for code in column.codes.tolist()] for column in piece.columns[:3]]
        found += list(zip(*columns, strict=True))
    return found


def test_the_content_type_gives_the_format_and_the_url_the_base(site: Site, tmp_path: Path) -> None:
    url = site.put("/data/people", "<ann> <knows> <#me> .")
    path = fetch(RemoteGraph(url), tmp_path)
    assert path.suffix == ".ttl"
    assert triples(path) == [
        (f"<{site.root}/data/ann>", f"<{site.root}/data/knows>", f"<{site.root}/data/people#me>")
    ]
    assert kept(RemoteGraph(url), tmp_path) == path


def test_the_ending_gives_the_format_where_the_type_does_not(site: Site, tmp_path: Path) -> None:
    url = site.put("/a.nt?x=1", "<urn:a> <urn:b> <urn:c> .\n", "text/plain")
    assert fetch(RemoteGraph(url), tmp_path).suffix == ".nt"
    with pytest.raises(DataError, match="unknown format"):
        fetch(RemoteGraph(site.put("/page", "<html>", "text/html")), tmp_path)


def test_redirects_are_followed_but_not_for_ever(site: Site, tmp_path: Path) -> None:
    site.put("/there", "<urn:a> <urn:b> <x> .")
    site.pages["/here"] = (302, {"Location": "/there"}, b"")
    site.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    path = fetch(RemoteGraph(site.root + "/here"), tmp_path)
    assert triples(path) == [("<urn:a>", "<urn:b>", f"<{site.root}/x>")]
    with pytest.raises(RemoteError, match="cannot fetch"):
        fetch(RemoteGraph(site.root + "/loop"), tmp_path)


def test_too_large_and_missing_leave_nothing_behind(site: Site, tmp_path: Path) -> None:
    large = RemoteGraph(site.put("/large", "#" * 10_000), max_bytes=1000)
    with pytest.raises(RemoteError, match="larger than 1,000 bytes"):
        fetch(large, tmp_path)
    assert kept(large, tmp_path) is None
    with pytest.raises(RemoteError, match="status 404"):
        fetch(RemoteGraph(site.root + "/none"), tmp_path)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a.ttl", "http:///a.ttl"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not a URL that graphs are read from"):
        RemoteGraph(url)


def test_a_library_fetches_once(site: Site, tmp_path: Path) -> None:
    library = GraphSources()
    library.add_remote("urn:g", RemoteGraph(site.put("/g", "<urn:a> <urn:b> 1 .")))
    for _ in range(2):
        assert library.open(Dictionary(), tmp_path).names() == ("urn:g",)
        site.pages.clear()


def test_a_refresh_is_the_difference(site: Site, tmp_path: Path) -> None:
    url = site.put("/g", "<urn:a> <urn:b> 1, 2 . [] <urn:c> 3 .")
    graph = RemoteGraph(url, refresh=3600)
    fetch(graph, tmp_path / "base")
    dictionary = Dictionary()
    library = GraphSources()
    library.add_remote("urn:g", graph)
    static_graphs = library.open(dictionary, tmp_path / "base")
    told: list[tuple[Background, Background]] = []

    def change(inserted: Background, deleted: Background) -> int:
        told.append((inserted, deleted))
        return len(told)

    def read(iri: str | None, path: Path) -> Background:
        return read_graphs({iri or "": [path]}, dictionary)

    timer = Refresher("urn:g", graph, (tmp_path / "base", tmp_path / "latest"), read, change)
    timer.refresh()
    site.put("/g", "<urn:a> <urn:b> 2, 4 . [] <urn:c> 3 .")
    timer.refresh()
    timer.refresh()
    expected = [("", ""), ("<urn:a> <urn:b> 4", "<urn:a> <urn:b> 1"), ("", "")]
    for (inserted, deleted), (more, less) in zip(told, expected, strict=True):
        for found, text in ((inserted, more), (deleted, less)):
            wanted, _ = net_of(parse_update(f"INSERT DATA {{ GRAPH <urn:g> {{ {text} }} }}"), dictionary, "")
            columns = wanted.named.get("urn:g", found.default)
            assert found.named["urn:g"].subject.tolist() == columns.subject.tolist()
            assert found.named["urn:g"].object.tolist() == columns.object.tolist()
    assert static_graphs.delta.number == 0


def test_an_argument_of_load_may_be_a_url(site: Site, tmp_path: Path) -> None:
    url = site.put("/g.nt?a=b", "<urn:a> <urn:b> <urn:c> .\n", "text/plain")
    (tmp_path / "x.nt").write_text("")
    for text, graph in ((url, ""), (f"http://e/g={url}", "http://e/g")):
        iri, path = graph_source(text, tmp_path / "store")
        assert (iri, path.parent, path.suffix) == (graph, tmp_path / "store.fetched", ".nt")
    assert graph_source(f"http://e/g={tmp_path / 'x.nt'}", tmp_path / "store") == (
        "http://e/g",
        tmp_path / "x.nt",
    )
