"""``python -m weir_bench.peers.drivers.weir_driver DIR MODE``: Weir in one process, without Spark.

Code is loaded and compiled where it is first used: another engine sees the first messages before the clock
runs, some of them one by one.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

from weir_bench.peers.drivers.common import drive, messages, told
from weir_bench.replay import Replay

SLAB = 5_000
_SINGLE = 20
_LANGUAGES = {"query.rspql": "rspql", "query.cqels": "cqels", "query.csparql": "csparql"}


def main(folder: Path, mode: str) -> None:
    about = told(folder)
    name = next(name for name in _LANGUAGES if (folder / name).exists())
    text = (folder / name).read_text(encoding="utf-8")
    graphs: dict[str | None, Path] = {iri: folder / file for iri, file in about["graphs"].items()}
    if (folder / "static.nt").stat().st_size:
        graphs[None] = folder / "static.nt"
    with Replay({"peers": text}, graphs, _LANGUAGES[name]) as warm:
        first = list(islice(messages(folder), SLAB))
        warm.batch({about["stream"]: b"".join(first[:-_SINGLE])})
        for message in first[-_SINGLE:]:
            warm.batch({about["stream"]: message})
        warm.batch({}, ended=True)
    with Replay({"peers": text}, graphs, _LANGUAGES[name], out=sys.stdout.buffer) as replay:

        def feed(lines: bytes, last: bool) -> int:
            replay.batch({about["stream"]: lines}, ended=last)
            return replay.rows

        replay.batch({})
        drive(folder, mode, feed, SLAB)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
