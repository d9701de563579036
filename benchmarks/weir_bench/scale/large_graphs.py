"""``weir bench scale --graph N``: Q3 of CQELS over a library of N triples, as a user runs it.

``weir generate`` writes library and stream, ``weir load`` makes a store, ``weir run`` answers two queries: Q3
for one author, whose extract is small, and Q3 for everybody, whose extract has most authors and papers. Told
are the seconds until both extracts are in the checkpoint, and the memory of driver and workers. Of sightings
drawn at random the answers are compared with pyoxigraph's over the triples that concern people in the stream,
which a regular expression finds among the library's lines.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pyoxigraph as ox

from weir_bench.conference.queries import PREFIXES, QUERIES
from weir_bench.data.conference import LV, RFID
from weir_bench.report import Report

SIGHTINGS = 20_000
EXTRACT_GOAL = 1800.0
_WIDTH = timedelta(seconds=QUERIES[2].seconds)
_BRIEF = timedelta(microseconds=1)
_ASKED = 200
_LOOK = 0.2
_LINE = re.compile(
    rb"^(\S+) <http://(?:purl\.org/dc/elements/1\.1/(creator)|xmlns\.com/foaf/0\.1/name)> (.+) \.$", re.M
)
_SEEN = re.compile(rf"^(\S+)\t<(\S+)> <{LV}detectedAt> <(\S+)> \.$".encode(), re.M)
_LATEST = ox.NamedNode("w:latest")
_AT = ox.NamedNode(f"{LV}detectedAt")


def everybody() -> str:
    """Q3 without the author's name: the co-authors of whoever was seen last, in the same room."""
    return QUERIES[2].cqels("").replace('?auth foaf:name "".', "")


@dataclass(frozen=True, slots=True)
class Seen:
    """A sighting."""

    time: datetime
    person: ox.NamedNode
    room: ox.NamedNode


def sightings_in(folder: Path) -> list[Seen]:
    """The stream, in order."""
    return [
        Seen(datetime.fromisoformat(when.decode()), ox.NamedNode(who.decode()), ox.NamedNode(where.decode()))
        for path in sorted(folder.glob("*.tnq"))
        for when, who, where in _SEEN.findall(path.read_bytes())
    ]


def concerning(folder: Path, people: set[str]) -> bytes:
    """The lines of a library that say what these people wrote and what their names are."""
    terms = {f"<{each}>".encode() for each in people}
    found = []
    for path in sorted(folder.glob("*.nt")):
        for line in _LINE.finditer(path.read_bytes()):
            if (line[3] if line[2] else line[1]) in terms:
                found.append(line[0])
    return b"\n".join(found) + b"\n"


class Witness:
    """What pyoxigraph answers to Q3 at a sighting: each sighting in a window is a graph of its own, so that
    two of a kind count twice."""

    def __init__(self, library: bytes, seen: Sequence[Seen]) -> None:
        self.seen = seen
        self.store = ox.Store()
        self.store.bulk_load(library, ox.RdfFormat.N_TRIPLES)

    def _at(self, latest: int, now: datetime, name: str | None) -> Counter[str]:
        """The solutions at a time at which one sighting is the latest."""
        graphs = []
        for number in range(latest, -1, -1):
            each = self.seen[number]
            if each.time <= now - _WIDTH:
                break
            graphs.append(ox.Quad(each.person, _AT, each.room, ox.NamedNode(f"w:{number}")))
        graphs.append(ox.Quad(self.seen[latest].person, _AT, self.seen[latest].room, _LATEST))
        self.store.extend(graphs)
        author = "" if name is None else f'?auth foaf:name "{name}".'
        text = f"""{PREFIXES} SELECT ?coAuthName WHERE {{ GRAPH <w:latest> {{ ?auth lv:detectedAt ?loc }}
          GRAPH ?seen {{ ?coAuth lv:detectedAt ?loc }} ?paper dc:creator ?auth. ?paper dc:creator ?coAuth.
          {author} ?coAuth foaf:name ?coAuthName FILTER (?auth != ?coAuth && ?seen != <w:latest>) }}"""
        solutions: Any = self.store.query(text)
        found = Counter(row["coAuthName"].value for row in solutions)
        for quad in graphs:
            self.store.remove(quad)
        return found

    def new(self, number: int, name: str | None = None) -> Counter[str]:
        """What a sighting brings: its solutions but for those of the microsecond before."""
        now = self.seen[number].time
        before = self._at(number - 1, now - _BRIEF, name) if number else Counter[str]()
        return self._at(number, now, name) - before

    def sociable(self) -> str:
        """The name of whoever has the most co-authors among those in the stream."""
        text = """SELECT ?name (COUNT(DISTINCT ?b) AS ?n) { ?p dc:creator ?a, ?b . ?a foaf:name ?name }
          GROUP BY ?name ORDER BY DESC(?n) ?name LIMIT 1"""
        rows: Any = self.store.query(PREFIXES + text)
        name: str = next(iter(rows))["name"].value
        return name


def differing(results: Path, witness: Witness, name: str, asked: int, seed: int = 1) -> tuple[int, int]:
    """At how many of so many sightings the answers differ, and how many answers there are."""
    found: dict[tuple[str, datetime], Counter[str]] = defaultdict(Counter)
    with open(results) as lines:
        for line in map(json.loads, lines):
            at = datetime.fromisoformat(line["at"])
            found[line["query"], at][line["bindings"]["coAuthName"]["value"]] += 1
    wrong = answers = 0
    count = len(witness.seen)
    chosen = random.Random(seed).sample(range(count), min(asked, count))
    own = [n for n, each in enumerate(witness.seen) if found["one", each.time]]
    for number in [*chosen, *own[: asked // 4]]:
        at = witness.seen[number].time
        for query, author in (("one", name), ("everybody", None)):
            expected = witness.new(number, author)
            wrong += expected != found[query, at]
            answers += expected.total()
    return wrong, answers


def _weir(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "weir", *arguments]


def _told(command: Sequence[str], folder: Path) -> float:
    """Seconds that a command takes."""
    begin = time.perf_counter()
    with open(folder / "errors.log", "ab") as errors:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors, check=False)
    if done.returncode:
        raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
    return time.perf_counter() - begin


def prepare(folder: Path, triples: int) -> dict[str, float]:
    """Library and stream in ``data``, the store beside them; the seconds of each."""
    data = str(folder / "data")
    sizes = ("--triples", str(triples), "--sightings", str(SIGHTINGS))
    written = _told(_weir("generate", data, *sizes), folder)
    loaded = _told(_weir("load", f"{data}/library", "--into", str(folder / "store")), folder)
    return {"write_s": written, "load_s": loaded}


def _memory(run: psutil.Process) -> Iterator[tuple[str, int, int]]:
    """Driver, JVM and Python workers with their resident memory, and what of it is theirs alone."""
    for process in (run, *run.children(recursive=True)):
        with suppress(psutil.Error):
            told = process.memory_full_info()
            java = "java" in process.name()
            yield "driver" if process == run else "jvm" if java else "worker", told.rss, told.uss


def measure(folder: Path, author: str, cores: int = 2) -> dict[str, float]:
    """Run both queries over what ``prepare`` made, with so many workers."""
    queries = {"one": QUERIES[2].cqels(author), "everybody": everybody()}
    for name, text in queries.items():
        (folder / f"{name}.rq").write_text(text)
    command = _weir("run", *(str(folder / f"{name}.rq") for name in queries), "--dialect", "cqels")
    command += ["--stream", f"{RFID}={folder / 'data' / 'rfid'}", "--default-graph", str(folder / "store")]
    command += ["--format", "jsonl", "--out", str(folder / "results.jsonl")]
    command += ["--checkpoint", str(folder / "checkpoint"), "--master", f"local[{cores}]"]
    most: dict[str, int] = defaultdict(int)
    found: dict[str, float] = {}
    begin = time.perf_counter()
    with open(folder / "errors.log", "ab") as errors:
        run = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while run.poll() is None:
            with suppress(psutil.Error):
                for kind, rss, uss in _memory(run):
                    most[f"{kind}_rss"] = max(most[f"{kind}_rss"], rss)
                    most[f"{kind}_uss"] = max(most[f"{kind}_uss"], uss)
                extracts = list((folder / "checkpoint").rglob("*.graphs"))
                if len(extracts) >= len(queries) and "extract_s" not in found:
                    found["extract_s"] = time.perf_counter() - begin
                    times = run.cpu_times()
                    found["extract_cpu_s"] = times.user + times.system
                    found["extract_mb"] = sum(path.stat().st_size for path in extracts) / 1e6
            time.sleep(_LOOK)
    if run.returncode:
        raise RuntimeError((folder / "errors.log").read_text(errors="replace")[-2000:])
    return {**found, "run_s": time.perf_counter() - begin, **most}


def judged(folder: Path) -> tuple[dict[str, float], Mapping[str, float]]:
    """What ``measure`` tells of a prepared folder, and how far the answers are pyoxigraph's."""
    seen = sightings_in(folder / "data" / "rfid")
    people = {each.person.value for each in seen}
    witness = Witness(concerning(folder / "data" / "library", people), seen)
    author = witness.sociable()
    told = measure(folder, author)
    wrong, answers = differing(folder / "results.jsonl", witness, author, _ASKED)
    return told, {"differing": wrong, "answers": answers}


def large_graph(report: Report, triples: int) -> None:
    """Add the figures and goals of a library of so many triples."""
    with TemporaryDirectory(prefix="weir-scale-") as name:
        folder = Path(name)
        report.step(f"{triples:,} static triples: written and loaded")
        figures = prepare(folder, triples)
        report.step("Q3 for one author and for everybody")
        told, sample = judged(folder)
    report.figures["large_graph"] = {"triples": triples, **figures, **told, **sample}
    goals(report, triples, told, sample)


def goals(report: Report, triples: int, told: Mapping[str, float], sample: Mapping[str, float]) -> None:
    """The goals of the figures."""
    label = f"{triples:,} static triples"
    report.goal(f"{label}: extracts", told["extract_s"], EXTRACT_GOAL, "s", at_least=False)
    report.goal(f"{label}: a worker's memory", told["worker_rss"] / 1e9, 2, "GB", at_least=False)
    report.goal(f"{label}: sightings answered unlike the store", sample["differing"], 0, "", at_least=False)
    report.goal(f"{label}: answers compared", sample["answers"], 100, "answers")
