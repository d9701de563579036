"""Files as a source: which files there are, in which order, and what a batch takes of them.

The list of files is a durable log of its own: a file gets its number when it is first seen, and offsets are
(number, byte), so a batch is the same when it is planned again. A finite source lists once; a watched
one adds files as they appear, in the order of their names within one look.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from weir.errors import UsageError
from weir.rdf.formats.media import Format, endings, format_of, format_of_path
from weir.rdf.formats.units import UNITS
from weir.runtime.ingest.parts import Part, is_packed, part_size
from weir.runtime.ingest.sources.feeds import Feed, Place, Reached, Source
from weir.storage import record_log
from weir.storage.files import file_names, make_folder
from weir.storage.places import path_at

DEFAULT_BATCH_BYTES = 128 << 20
_DECLARE = "declare it: time=prov:generatedAtTime, time=sosa:resultTime or any other IRI, as in FILE?time=IRI"


@dataclass(frozen=True, slots=True)
class FileSource(Source):
    """A file, or a directory in name order. ``watch`` makes it go on for ever.

    Files other than ``.tnq`` need the predicate that states the ``time`` of their messages. The ``format``
    goes by the files' endings if it is not given; ``unit`` says what is one message. Of a
    directory without a declared time only the ``.tnq`` files are read.
    """

    kind: ClassVar[str] = "files"

    path: str
    watch: bool = False
    files_per_batch: int | None = None
    bytes_per_batch: int = DEFAULT_BATCH_BYTES
    format: str | None = None
    time: str | None = None
    unit: str = UNITS[0]
    times_distinct: bool = False

    @property
    def endless(self) -> bool:
        return self.watch

    @property
    def address(self) -> str:
        return self.path

    def check(self) -> None:
        """Raise where nothing can be read."""
        path = path_at(self.path)
        if not path.exists():
            raise UsageError(f"no such stream file or directory: {self.path}")
        if self.files_per_batch is not None and self.files_per_batch < 1:
            raise UsageError("files per batch must be at least 1")
        if self.unit not in UNITS:
            raise UsageError(f"unknown unit {self.unit!r} of messages", hint=f"one of {', '.join(UNITS)}")
        if self.time is not None and ":" not in self.time:
            raise UsageError(f"the time of messages is declared by an IRI, not {self.time!r}", hint=_DECLARE)
        declared = format_of(self.format) if self.format else None
        if path.is_dir():
            self._check_directory(path, declared)
            return
        found = declared or format_of_path(path)
        if found is None:
            hint = f"known endings: {', '.join(endings())}, each also with .gz; or say format=NAME"
            raise UsageError(f"unknown stream format: {path.name}", hint=hint)
        self._check_time(found, path.name)

    def _check_directory(self, path: Path, declared: Format | None) -> None:
        if declared is not None:
            self._check_time(declared, path.name)
        elif self.time is None and not self.watch and not self.listing():
            others = [entry.name for entry in sorted(path.iterdir()) if format_of_path(entry)]
            if others:
                self._check_time(format_of_path(others[0]) or format_of("tnq"), others[0])

    def _check_time(self, found: Format, name: str) -> None:
        if found.timed and self.time is not None:
            raise UsageError(f"{name}: a line of tnq has its own time, none can be declared")
        if not found.timed and self.time is None:
            raise UsageError(f"{name}: {found.name} messages, and where is their time?", hint=_DECLARE)

    def feed(self, place: Place) -> FileFeed:
        return FileFeed(self, place)

    def format_of(self, path: str) -> Format:
        """The format of one of the files."""
        return (format_of(self.format) if self.format else format_of_path(path)) or format_of("tnq")

    def cut(self, path: str) -> bool:
        """Whether a file can be read from the middle."""
        return self.format_of(path).timed and not is_packed(Path(path))

    def listing(self) -> list[Path]:
        """The files that are there now, in the order of their names."""
        path = path_at(self.path).absolute()
        if path.is_file():
            return [path]
        hidden = (".", "_")
        return sorted(
            path / name
            for name in file_names(path)
            if not name.startswith(hidden) and self._wants(path / name)
        )

    def _wants(self, entry: Path) -> bool:
        found = format_of_path(entry)
        if self.format is not None:
            return found == format_of(self.format)
        return found is not None and (found.timed or self.time is not None)


@dataclass(frozen=True, slots=True)
class Offset:
    """Everything before byte ``byte`` of file ``file`` is taken; ``end`` says that there is no more."""

    file: int = 0
    byte: int = 0
    end: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of the log, with its length when it was listed."""

    path: str
    size: int


class FileFeed(Feed):
    """A file source together with its log."""

    def __init__(self, source: FileSource, place: Place) -> None:
        self.stream = place.stream
        self.source = source
        self.parallelism = max(1, place.parallelism)
        self.log = record_log(place.own / "sources" / f"{place.log_name}.files.log")
        self.files = [Listed(**json.loads(record)) for record in self.log.more()]
        self._known = {listed.path for listed in self.files}

    @property
    def lane(self) -> str:
        """A file, or a directory in name order, is one lane."""
        return Path(self.source.path).name

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """How far the next batch goes."""
        begin = Offset(**start)
        if begin.end:
            return start
        self.look()
        if self.source.files_per_batch is not None:
            reached = Offset(min(len(self.files), begin.file + self.source.files_per_batch))
        else:
            reached = self._by_bytes(begin)
        over = (finishing or not self.source.watch) and reached.file == len(self.files)
        return asdict(replace(reached, end=over))

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """The parts between two offsets, about as many as there are cores."""
        begin, until = Offset(**start), Offset(**end)
        ranges = list(self._ranges(begin, until))
        total = sum(last - first for _, first, last in ranges)
        size = part_size(total, self.parallelism)
        parts: list[Part] = []
        before = 0
        for number, first, last in ranges:
            path = self.files[number].path
            if self.source.cut(path):
                # At multiples of the size, as if all files were one: shares of it are equal then.
                inside = range(first + size - before % size, last, size)
                parts += [
                    Part(self.stream, self.lane, path, number, a, b)
                    for a, b in pairwise([first, *inside, last])
                ]
            else:
                self._whole(parts, number, size)
            before += last - first
        if until.end and not begin.end:
            parts.append(Part(self.stream, self.lane, number=until.file, final=True))
        return parts

    def _whole(self, parts: list[Part], number: int, size: int) -> None:
        """A file that is read whole; small neighbours of one format are read together."""
        listed = self.files[number]
        form = self.source.format_of(listed.path)
        if form.timed:
            parts.append(Part(self.stream, self.lane, listed.path, number))
            return
        last = parts[-1] if parts else None
        if last is not None and last.format == form.name and last.number + len(last.paths) == number:
            taken = sum(self.files[last.number + place].size for place in range(len(last.paths)))
            if taken + listed.size <= size:
                parts[-1] = replace(last, also=[*last.also, listed.path])
                return
        read_as = {"format": form.name, "time": self.source.time, "unit": self.source.unit}
        parts.append(Part(self.stream, self.lane, listed.path, number, **read_as))  # type: ignore[arg-type]

    def beyond(self, reached: Reached) -> Path | None:
        """A file that is new or has grown."""
        known = {listed.path: listed.size for listed in self.files}
        grown = (path for path in self.source.listing() if known.get(str(path)) != path.stat().st_size)
        return next(grown, None)

    def _by_bytes(self, start: Offset) -> Offset:
        room = self.source.bytes_per_batch
        number, place = start.file, start.byte
        while number < len(self.files) and room > 0:
            listed = self.files[number]
            left = listed.size - place
            if left > room and self.source.cut(listed.path):
                return Offset(number, place + room)
            room -= left
            number, place = number + 1, 0
        return Offset(number, place)

    def _ranges(self, start: Offset, end: Offset) -> Iterator[tuple[int, int, int]]:
        for number in range(start.file, min(end.file + 1, len(self.files))):
            first = start.byte if number == start.file else 0
            last = end.byte if number == end.file else self.files[number].size
            if first < last:
                yield number, first, last

    def look(self) -> None:
        """List what is there."""
        if self.files and not self.source.watch:
            return
        new = []
        for path in self.source.listing():
            with suppress(FileNotFoundError):
                if str(path) not in self._known:
                    new.append(Listed(str(path), path.stat().st_size))
        if new:
            make_folder(self.log.path.parent)
            self.log.append([json.dumps(asdict(listed)).encode() for listed in new], len(self.files))
            self.files += new
            self._known.update(listed.path for listed in new)
