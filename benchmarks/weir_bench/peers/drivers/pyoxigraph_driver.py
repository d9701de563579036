"""``python -m weir_bench.peers.drivers.pyoxigraph_driver DIR MODE``: a triple store that is asked anew.

The window is a graph of the store, brought up to date message by message; when one closes the whole query is
evaluated. That is what a store without any notion of streams has to do. How often a triple is in the window
is counted beside, because a graph has it once.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, deque
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from weir_bench.peers.drivers.common import cannot, drive, told

SLAB = 5_000


class Windows:
    """The graph of the latest ``range_ms`` in a store."""

    def __init__(self, folder: Path) -> None:
        about = told(folder)
        self._width, self._step = int(about["range_ms"]), int(about["step_ms"])
        self._graph = ox.NamedNode(about["window"])
        self._query = (folder / "query.sparql").read_text(encoding="utf-8")
        self._store = ox.Store()
        self._store.load(path=str(folder / "static.nt"), format=ox.RdfFormat.N_TRIPLES)
        for iri, name in about["graphs"].items():
            path = str(folder / name)
            self._store.load(path=path, format=ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(iri))
        self._held: deque[tuple[int, ox.Quad]] = deque()
        self._times: Counter[ox.Quad] = Counter()
        self._close = 0

    def feed(self, lines: bytes, last: bool) -> int:
        """Take lines; answer each window that their times close, and write its rows."""
        found = 0
        for line in lines.splitlines():
            stamp, _, statement = line.partition(b"\t")
            time = int(stamp)
            if not self._close:
                self._close = time // self._step * self._step + self._step
            while self._close <= time:
                found += self._answer(self._close)
                self._close += self._step
            parsed = next(iter(ox.parse(statement, format=ox.RdfFormat.N_TRIPLES)))
            quad = ox.Quad(parsed.subject, parsed.predicate, parsed.object, self._graph)
            self._held.append((time, quad))
            self._times[quad] += 1
            self._store.add(quad)
        return found

    def _answer(self, close: int) -> int:
        while self._held and self._held[0][0] < close - self._width:
            quad = self._held.popleft()[1]
            self._times[quad] -= 1
            if not self._times[quad]:
                del self._times[quad]
                self._store.remove(quad)
        rows = self._store.query(self._query)
        assert isinstance(rows, ox.QuerySolutions)
        names = [variable.value for variable in rows.variables]
        out = [
            json.dumps({"at": close, "bindings": dict(zip(names, map(term, row), strict=True))})
            for row in rows
        ]
        sys.stdout.write("".join(f"{line}\n" for line in out))
        return len(out)


@lru_cache(maxsize=1 << 14)
def term(value: Any) -> dict[str, str]:
    """A term in SPARQL's JSON."""
    if isinstance(value, ox.NamedNode):
        return {"type": "uri", "value": value.value}
    if isinstance(value, ox.BlankNode):
        return {"type": "bnode", "value": value.value}
    kind = {"xml:lang": value.language} if value.language else {"datatype": value.datatype.value}
    return {"type": "literal", "value": value.value, **kind}


def main(folder: Path, mode: str) -> None:
    if not (folder / "query.sparql").exists():
        cannot("windows that move with every message would have it asked anew at each: weir bench conference")
        return
    drive(folder, mode, Windows(folder).feed, SLAB)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
