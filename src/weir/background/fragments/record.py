"""A fragments feed as a stream: what a CONSTRUCT query adds, written to a folder that a job watches.

Each update becomes one ``.tnq`` file, synced and then renamed into place, so a job that reads the folder in
name order (``Engine.stream(iri, folder, watch=True)``) sees it whole or not at all, and sees it again after
a restart. An update that adds nothing is a heartbeat: time goes on. A receiver that starts anew begins
with the results that hold then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from weir.background.fragments.clock import Clock
from weir.background.fragments.follow import follow, stream_lines
from weir.background.fragments.streamer import Options, Update
from weir.errors import UsageError
from weir.language import Query, parse
from weir.language.query import Construct


def record(
    query: str | Query,
    url: str,
    folder: str | Path,
    *,
    options: Options | None = None,
    clock: Clock | None = None,
) -> Iterator[Update]:
    """Follow a query and write its additions to ``folder``; each update is yielded once it is on disk."""
    parsed = query if isinstance(query, Query) else parse(query, dialect="sparql")
    if not isinstance(parsed.form, Construct):
        raise UsageError("only CONSTRUCT makes a stream", hint="write CONSTRUCT { … } WHERE { … }")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for update in follow(parsed, url, options=options, clock=clock):
        write_update(update, target)
        yield update


def write_update(update: Update, folder: Path) -> Path:
    """One update as one file, named so that the order of names is the order of time."""
    lines = list(stream_lines(update)) or [f"{update.at // 1000}\t\n"]
    name = f"{update.at // 1000:016d}.tnq"
    partial = folder / f".{name}.partial"
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / name)
    return folder / name
