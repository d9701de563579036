"""What makes Spark's JVM start sooner, in the user's cache: an archive of the classes that it loads.

The JVM maps the archive instead of reading, checking and linking thousands of classes. It takes one only of
its own build and of the same jars in the same places, so Spark has a home whose place never changes. It would
crash at an archive that was cut off: one whose bytes do not have the checksum in its name goes. Where there
is none that fits, classes are read as ever. After a first run a process in the background makes it:
``python -m weir.spark.processes.class_archive``.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home

from weir.extras import load
from weir.storage.files import move, put_if_absent, remove, replace_file

CACHE = "WEIR_CACHE"
"""The variable of the environment that names another folder; ``off``: nothing is kept."""
QUIET = "-Xshare:auto -Xlog:disable -Xlog:all=warning:stderr -XX:+IgnoreUnrecognizedVMOptions"
"""An archive that does not fit is nothing to tell, least of all among results."""
_PARTS = ("bin", "conf", "jars", "sbin")
_LONG = 600.0
"""Seconds after which whoever began to make an archive is taken for dead."""
_OLD = 30 * 86_400.0
"""Seconds after which an archive that nobody used goes."""
_LINES = "".join(f"{n}000\t<http://e/{n}> <http://e/in> <http://e/r> .\n" for n in range(3))
_QUERY = """REGISTER RSTREAM <out> AS SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S]
WHERE { WINDOW <w> { ?a ?b ?c } }"""


def home() -> Path:
    """A home of Spark that has no zip of pyspark's sources, in the cache, or else in the folder that
    ``tempfile`` gives, where it is the caller's to remove.

    Spark puts ``SPARK_HOME/python/lib/pyspark.zip`` first on the path of Python workers, and nothing imported
    from a zip is compiled once and for all: each process, several per job, spends a second on it.
    """
    installed = Path(_find_spark_home())
    entries = [each for each in sorted(installed.iterdir()) if each.name in _PARTS]
    folder = _cache()
    if folder is not None:
        with suppress(OSError):
            parts = (installed, *entries, _java(), *_jars(installed))
            told = [f"{each} {each.stat().st_mtime_ns}" for each in parts]
            kept = folder / f"spark-{hashlib.sha256(chr(10).join(told).encode()).hexdigest()[:16]}"
            if not kept.exists():
                folder.mkdir(parents=True, exist_ok=True)
                made = _linked(entries, Path(tempfile.mkdtemp(dir=folder)))
                try:
                    made.rename(kept)
                except OSError:
                    shutil.rmtree(made)
            if kept.exists():
                os.utime(kept)
                return kept
    return _linked(entries, Path(tempfile.mkdtemp(prefix="weir-spark-home-")))


def is_kept(place: Path) -> bool:
    """Whether a home is in the cache, and not for this process alone."""
    return place.parent == _cache()


def options(place: Path) -> str:
    """What a JVM with this home is told, so that it takes the archive where there is one."""
    archive = _archive(place)
    return f"{QUIET} -XX:SharedArchiveFile={archive}" if archive is not None and _whole(archive) else ""


def make_later() -> None:
    """Have the archive made by a process in the background, where Spark was started here and has none."""
    session = sys.modules.get("weir.spark.session")
    place = getattr(session, "started_at", None)
    if place is None or not is_kept(place) or _archive(place) is not None:
        return
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", "weir.spark.processes.class_archive"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=place,
            start_new_session=True,
        )


def make(place: Path) -> None:
    """Run a small job with this home, and keep the classes that were loaded; one process at a time does."""
    mark, fresh = place / "making", place / "classes.new"
    with suppress(OSError):
        if time.time() - mark.stat().st_mtime > _LONG:
            remove(mark)
    if not put_if_absent(mark, b"", durable=False):
        return
    try:
        if _archive(place) is None:
            os.nice(15)
            _loaded(f"-XX:ArchiveClassesAtExit={fresh}")
            move(fresh, place / f"classes-{_checksum(fresh)}.jsa", durable=False)
            for other in place.parent.glob("spark-*"):
                if time.time() - other.stat().st_mtime > _OLD:
                    _forget(other)
    finally:
        remove(fresh)
        remove(mark)


def _loaded(option: str) -> None:
    """A job from its start to the end of its JVM."""
    load("weir.spark.session").start_jvm("local[2]", options=option)
    with tempfile.TemporaryDirectory(prefix="weir-classes-") as name:
        lines = Path(name) / "lines.tnq"
        replace_file(lines, _LINES.encode(), durable=False)
        engine = load("weir.engine").Engine(master="local[2]")
        engine.stream("s", lines)
        engine.register(_QUERY)
        engine.run(out=Path(name) / "out.jsonl")
        context: Any = SparkContext
        context._active_spark_context.stop()
        java = context._gateway.proc
        java.stdin.close()
        java.wait(_LONG)


def _cache() -> Path | None:
    told = os.environ.get(CACHE)
    if told == "off":
        return None
    root = os.environ.get("XDG_CACHE_HOME")
    return Path(told) if told else (Path(root) if root else Path.home() / ".cache") / "weir"


def _archive(place: Path) -> Path | None:
    return next(iter(sorted(place.glob("classes-*.jsa"))), None)


def _whole(archive: Path) -> bool:
    """Whether the bytes are those of its name. One that is damaged goes, so that it is made again."""
    with suppress(OSError, ValueError):
        if archive.stem == f"classes-{_checksum(archive)}":
            return True
        _forget(archive.parent)
    return False


def _checksum(archive: Path) -> str:
    with open(archive, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return f"{zlib.crc32(data):08x}"


def _forget(place: Path) -> None:
    archive = _archive(place)
    if archive is not None:
        remove(archive)


def _java() -> Path:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return Path(found or "java").resolve()


def _jars(installed: Path) -> list[Path]:
    return sorted((installed / "jars").iterdir())


def _linked(entries: list[Path], place: Path) -> Path:
    for entry in entries:
        (place / entry.name).symlink_to(entry, target_is_directory=True)
    return place


if __name__ == "__main__":
    make(home())
