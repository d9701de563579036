"""A large batch of a query: its results stay in the files in which slots left them until they are read.

Slots leave large answers in files that the driver only names. Here they get a name of the tail's; what is
small beside them becomes such a file. Whoever is the first to read of the batch has them put together into
lines: results that nobody follows are never touched by the process of the service.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from weir.runtime.output.outputs import MergedResults, read_answers
from weir.runtime.output.results import QUERY, by_query, texts_in
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.result_files import lines_of, pieces
from weir.storage.files import keep, remove, writing
from weir.storage.spool import INLINE

SUFFIX = ".part"
MARKED = 4096
"""Lines from one place that a reader finds at once to the next."""


def is_large(answers: Results) -> bool:
    """Whether some slot left a large part of its answers in a file."""
    return any(path is not None and table.nbytes > INLINE for table, path in answers.parts)


def kept_parts(answers: Results, folder: Path, first: int) -> list[Path]:
    """Keep what slots answered as files of the tail in ``folder``, whose next position is ``first``. A file
    may have answers of other queries as well, of which there are names."""
    found: dict[Path, Path] = {}
    for number, (table, path) in enumerate(answers.parts):
        if path in found:
            continue
        name = folder / f"{first:016d}-{number}-{table.nbytes}{SUFFIX}"
        if path is not None and table.nbytes > INLINE:
            keep(path, name)
        else:
            with writing(name) as file, pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table)
        found[path or name] = name
    return list(found.values())


def size_of(parts: Sequence[Path]) -> int:
    """The bytes of a query's answers in these files."""
    return sum(int(path.stem.split("-")[2]) for path in parts)


def parts_by_position(folder: Path) -> dict[int, list[Path]]:
    """The files of a tail's folder, by the position of their first line."""
    found: dict[int, list[Path]] = {}
    for path in folder.glob(f"*-*{SUFFIX}"):
        found.setdefault(int(path.name.partition("-")[0]), []).append(path)
    for parts in found.values():
        parts.sort(key=lambda path: int(path.stem.split("-")[1]))
    return found


def put_together(query: str, parts: Sequence[Path], into: Path) -> list[tuple[int, int]]:
    """Write the lines of a query in all parts to a file, in the order in which one slot would have written
    them; the number of lines and of bytes before some of them."""
    tables = [(table, None) for path in parts for table in _tables(query, path)]
    marks, lines, size = [], 0, 0
    with writing(into) as file:
        for block in MergedResults("", tables).blocks():
            for place in range(0, len(block), MARKED):
                some = block.slice(place, MARKED)
                marks.append((lines, size))
                lines += len(some)
                for piece in pieces([Results("", some)]):
                    size += len(piece)
                    file.write(piece)
    for path in parts:
        remove(path)
    return marks


def last_lines(query: str, part: Path, most: int) -> list[bytes]:
    """The last lines of a query in one part."""
    table = _tables(query, part)[-1]
    return lines_of(Results("", texts_in(table.slice(max(0, len(table) - most)))))


def _tables(query: str, path: Path) -> list[pa.Table]:
    with open(path, "rb") as file:
        table = read_answers(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if QUERY not in table.column_names:
        return [table]
    return [part for name, part in by_query([table]) if name == query]
