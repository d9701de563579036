"""The real peers from npm for tests: skipped where they cannot be had, which in CI needs a good reason.

What tests need is installed while others run: ``pytest.mark.peer`` says what that is.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from weir_bench.fragments import peers as fragments_peers
from weir_bench.fragments.peers import PeerUnavailable
from weir_bench.oxigraph import free_port

_INSTALLED: dict[str, Future[Path]] = {}


def begin_installing(names: Iterable[str]) -> None:
    """Install peers one after the other, beside whatever the caller does."""
    begun = {name: Future[Path]() for name in names if name not in _INSTALLED}
    _INSTALLED.update(begun)

    def run() -> None:
        for name, future in begun.items():
            try:
                future.set_result(fragments_peers.install(name))
            except BaseException as error:
                future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()


def peer(name: str) -> Path:
    """The folder of an installed peer; in CI only a missing network excuses a skip."""
    begin_installing([name])
    try:
        return _INSTALLED[name].result()
    except PeerUnavailable as error:
        if os.environ.get("CI") == "true" and not error.offline:
            pytest.fail(str(error))
        pytest.skip(str(error))


@contextmanager
def ldf_server(data: Mapping[str, Path]) -> Iterator[str]:
    """A running @ldf/server over files by name; the address above its data sets."""
    peer("ldf-server")
    with fragments_peers.ldf_server(data) as running:
        yield running.base


_ASK = """
const { QueryEngine } = require('@comunica/query-sparql');
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
(async () => {
  const out = [];
  for (const query of input.queries) {
    const engine = new QueryEngine();
    try {
      const result = await engine.query(query, { sources: [input.source] });
      if (result.resultType === 'boolean') out.push({ boolean: await result.execute() });
      else {
        const { data } = await engine.resultToString(result,
          result.resultType === 'bindings' ? 'application/sparql-results+json' : 'application/n-triples');
        const chunks = []; for await (const chunk of data) chunks.push(Buffer.from(chunk));
        const text = Buffer.concat(chunks).toString('utf8');
        out.push(result.resultType === 'bindings' ? JSON.parse(text)
          : { triples: text.split('\\n').filter(Boolean) });
      }
    } catch (error) { out.push({ error: String(error) }); }
  }
  process.stdout.write(JSON.stringify(out));
})();
"""


def ask_comunica(
    queries: Sequence[str], source: dict[str, str], timeout: float = 120
) -> list[dict[str, Any]]:
    """What Comunica answers: SPARQL results in JSON, ``{"boolean": …}`` or ``{"triples": […]}``."""
    folder = peer("comunica")
    run = subprocess.run(
        ["node", "-e", _ASK],
        cwd=folder,
        input=json.dumps({"queries": list(queries), "source": source}),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answers: list[dict[str, Any]] = json.loads(run.stdout)
    return answers


@contextmanager
def serving(make: Any) -> Iterator[str]:
    """A uvicorn server in a thread: ``make(port)`` gives it; the address it serves."""
    port = free_port()
    server: uvicorn.Server = make(port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + 20
        while not server.started:
            assert time.monotonic() < end and thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
