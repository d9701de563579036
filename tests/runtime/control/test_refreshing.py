"""Graphs from URLs are fetched again, and what has changed becomes an update."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from weir.kernel.contract import Background
from weir.language.update import parse_update
from weir.linked.graphs import GraphSources, RemoteGraph
from weir.linked.graphs.history import graphs_of
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.extracts import net_of
from weir.runtime.control.graph_updates import minus
from weir.runtime.direct import DirectJob


def graphs(text: str, dictionary: Dictionary) -> Background:
    inserted, _ = net_of(parse_update(f"INSERT DATA {{ {text} }}"), dictionary, "")
    return inserted


def test_minus_is_the_triples_that_the_same_graph_lacks() -> None:
    dictionary = Dictionary()
    left = graphs("<urn:a> <urn:p> 1, 2 . GRAPH <urn:g> { <urn:a> <urn:p> 1 }", dictionary)
    right = graphs("<urn:a> <urn:p> 2, 3", dictionary)
    found = {name: dictionary.texts(table.object) for name, table in graphs_of(minus(left, right)).items()}
    one = dictionary.texts(graphs("<urn:a> <urn:p> 1", dictionary).default.object)
    assert found == {"": one, "urn:g": one}


def test_a_timer_turns_a_changed_document_into_an_update(tmp_path: Path) -> None:
    pages = [b'<urn:a> <urn:name> "A" .', b'<urn:a> <urn:name> "B" .']

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.pop(0) if len(pages) > 1 else pages[0]
            self.send_response(200)
            self.send_header("Content-Type", "text/turtle")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        made = GraphSources()
        made.add_remote(None, RemoteGraph(f"http://127.0.0.1:{server.server_address[1]}/", refresh=0.05))
        job = DirectJob(tmp_path / "c", library=made)
        try:
            job.graphs.keep_fresh(made.remotes)
            until = time.monotonic() + 30
            while not job.registry.catalog().updates and time.monotonic() < until:
                time.sleep(0.02)
        finally:
            job.graphs.close()
            server.shutdown()
            thread.join()
    (update,) = job.registry.catalog().updates
    inserted = job.extractor.load(update.inserted)
    assert job.extractor.graphs.dictionary.texts(inserted.default.object) == ['"B"']
