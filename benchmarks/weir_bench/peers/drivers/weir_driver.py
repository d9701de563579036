"""``python -m weir_bench.peers.drivers.weir_driver DIR MODE``: Weir in one process, without Spark."""

from __future__ import annotations

import sys
from pathlib import Path

from weir_bench.peers.drivers.common import drive, told
from weir_bench.replay import Replay

SLAB = 5_000


def main(folder: Path, mode: str) -> None:
    stream = told(folder)["stream"]
    text = (folder / "query.rspql").read_text(encoding="utf-8")
    static = folder / "static.nt"
    graphs: dict[str | None, Path] | None = {None: static} if static.stat().st_size else None
    with Replay({"peers": text}, graphs, "rspql") as replay:

        def feed(lines: bytes, last: bool) -> int:
            sys.stdout.write(replay.batch({stream: lines}, ended=last).decode())
            return replay.rows

        replay.batch({})
        drive(folder, mode, feed, SLAB)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
