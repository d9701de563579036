"""Files of messages in every format as a source: what is read, in which order, what has to be declared."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from weir.errors import UsageError
from weir.runtime.ingest.parts import LaneInput, Part
from weir.runtime.ingest.sources import FileSource, path_source, source_of
from weir.runtime.ingest.sources.feeds import Place
from weir.runtime.ingest.sources.file_source import FileFeed
from weir.runtime.ingest.stage import read_messages

PROV = "prov:generatedAtTime"
T = "http://www.w3.org/ns/prov#generatedAtTime"


def message(number: int, form: str = "ttl") -> str:
    """One message at ``number`` milliseconds."""
    if form == "jsonld":
        return json.dumps({"@id": f"http://e/m{number}", T: number, "http://e/p": {"@id": "_:x"}})
    return f'<http://e/m{number}> <{T}> "{number}" . <http://e/m{number}> <http://e/p> _:x .\n'


def batches(source: Any, folder: Path, parallelism: int = 1) -> list[list[Part]]:
    feed = FileFeed(source, Place("s", folder / "weir", "s", parallelism))
    out, start = [], {}
    while True:
        end = feed.latest(start, False)
        if end == start:
            return out
        parts = feed.parts(start, end)
        again = FileFeed(source, Place("s", folder / "weir", "s", parallelism)).parts(start, end)
        assert parts == again
        out.append(parts)
        start = dict(end)


def read(source: Any, folder: Path, parallelism: int = 1) -> tuple[list[int], list[dict[str, Any]]]:
    """The milliseconds of all messages in order, and the dead letters."""
    found: list[LaneInput] = [
        read_messages(part, b"k")
        for batch in batches(source, folder, parallelism)
        for part in batch
        if part.path
    ]
    times = [at // 1000 for each in found for at in each.parsed.messages.time.tolist()]
    positions = [place for each in found for place in each.parsed.position.tolist()]
    assert positions == sorted(set(positions))
    return times, [letter for each in found for letter in each.dead]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_directory_of_messages_in_name_order(tmp_path: Path, parallelism: int) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(1, 8):
        (folder / f"m{number}.ttl").write_text(message(number))
    (folder / "m8.ttl.gz").write_bytes(gzip.compress(message(8).encode()))
    (folder / "m81.ttl").touch()
    (folder / "m82.ttl").write_text("<http://e/x> <http://e/p>\n oops .")
    (folder / "m83.ttl.gz").write_bytes(gzip.compress(message(9).encode())[:-12])
    (folder / "m9.jsonld").write_text(message(9, "jsonld"))
    (folder / "n.tnq").write_text("10\t<http://e/a> <http://e/p> <http://e/b> .\n")
    (folder / "ignored.txt").write_text("x")
    times, dead = read(path_source(f"{folder}?time={PROV}", {}), tmp_path, parallelism)
    assert times == list(range(1, 11))
    assert [(Path(letter["source"]).name, letter["line"]) for letter in dead] == [
        ("m82.ttl", 2),
        ("m83.ttl.gz", 1),
    ]


def test_neighbours_are_read_together_but_not_across_batches(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(6):
        (folder / f"m{number}.ttl").write_text(message(number))
    source = path_source(str(folder), {"time": PROV, "files_per_batch": 4})
    assert [[len(part.paths) for part in batch] for batch in batches(source, tmp_path)] == [[4], [2, 0]]
    wide = path_source(str(folder), {"time": PROV})
    assert [len(part.paths) for part in batches(wide, tmp_path / "2", 2)[0]] == [6, 0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.jsonl", "".join(message(n, "jsonld") + "\n" for n in range(3))),
        ("m.json", "[" + ",".join(message(n, "jsonld") for n in range(3)) + "]"),
        ("m.trig", "".join(f"<g{n}> {{ {message(n)} }}" for n in range(3))),
        ("m.nq", "".join(f'<http://e/m> <{T}> "{n}" <http://e/g{n}> .\r\n' for n in range(3))),
        ("m.data?format=jsonld", "[" + ",".join(message(n, "jsonld") for n in range(3)) + "]"),
    ],
    ids=lambda text: str(text)[:6],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_a_file_of_many_messages(tmp_path: Path, name: str, text: str, packed: bool) -> None:
    plain, _, options = name.partition("?")
    path = tmp_path / (plain + ".gz" * packed)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    times, dead = read(path_source(f"{path}?time={PROV}&{options}", {}), tmp_path)
    assert (times, dead) == ([0, 1, 2], [])


def test_what_has_to_be_declared(tmp_path: Path) -> None:
    (tmp_path / "m.ttl").write_text(message(1))
    (tmp_path / "s.tnq").touch()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "m.ttl").write_text(message(1))
    for path, said in [
        ("m.ttl", "m.ttl: turtle messages, and where is their time?"),
        ("d", "m.ttl: turtle messages, and where is their time?"),
        (f"s.tnq?time={PROV}", "a line of tnq has its own time"),
        ("m.ttl?time=resultTime", "declared by an IRI"),
        (f"m.ttl?time={PROV}&unit=line", "unknown unit 'line'"),
        (f"m.ttl?time={PROV}&format=html", "unknown message format 'html'"),
        ("m.ttl?tiem=x", "unknown option 'tiem'"),
        ("m.ttl?watch=perhaps", "watch is true or false"),
        ("m.txt", "no such stream file"),
    ]:
        with pytest.raises(UsageError, match=said.replace("?", r"\?")):
            path_source(str(tmp_path / path), {}).check()
    path_source(str(tmp_path), {}).check()


def test_a_source_is_found_again_from_its_values(tmp_path: Path) -> None:
    source = path_source(f"{tmp_path}?time={PROV}&unit=document&watch", {"files_per_batch": 2})
    assert source == FileSource(str(tmp_path), True, 2, time=T, unit="document")
    assert source_of(json.loads(json.dumps(source.as_json()))) == source
