"""Files as a command line names them: ``FILE?time=prov:generatedAtTime``, ``replay:FILE?rate=100``.

Options follow a question mark; a path that exists is taken as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from weir.errors import UsageError
from weir.rdf.formats.times import predicate_iri
from weir.runtime.ingest.sources.base import Source
from weir.runtime.ingest.sources.files import FileSource
from weir.runtime.ingest.sources.replay import ReplaySource

REPLAY = "replay:"
"""What comes before the path of a file that is to be played."""

_YES, _NO = ("true", "yes", "1", ""), ("false", "no", "0")


def path_source(text: str, told: Mapping[str, Any]) -> Source:
    """The source at a path; options that are told beside it count before those written behind it."""
    made: type[FileSource | ReplaySource] = FileSource
    readers = _FILES
    if text.startswith(REPLAY) and not Path(text).exists():
        made, readers, text = ReplaySource, _REPLAY, text.removeprefix(REPLAY)
    path, options = text, dict(told)
    if not Path(text).exists():
        path, _, query = text.partition("?")
        options = {**dict(parse_qsl(query, keep_blank_values=True)), **told}
    unknown = [name for name in options if name not in readers]
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r} of {path}", hint=f"known: {', '.join(readers)}")
    values = {name: readers[name](value, name) for name, value in options.items() if value is not None}
    return made(str(Path(path).absolute()), **values)


def _text(value: Any, name: str) -> str:
    return str(value)


def _predicate(value: Any, name: str) -> str:
    return predicate_iri(str(value))


def _flag(value: Any, name: str) -> bool:
    text = str(value).lower()
    if text not in _YES + _NO:
        raise UsageError(f"{name} is true or false, not {value!r}")
    return text in _YES


def _number(kind: Callable[[Any], Any]) -> Callable[[Any, str], Any]:
    def read(value: Any, name: str) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise UsageError(f"{name} is a number, not {value!r}") from None

    return read


_FILES: Mapping[str, Callable[[Any, str], Any]] = {
    "time": _predicate,
    "format": _text,
    "unit": _text,
    "watch": _flag,
    "files_per_batch": _number(int),
}
_REPLAY: Mapping[str, Callable[[Any, str], Any]] = {
    "rate": _number(float),
    "speed": _number(float),
    "unit": _text,
    "loop": _flag,
}
