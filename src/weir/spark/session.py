"""The Spark session: settings for low overhead, each with its reason, and a quiet start."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from weir.errors import UsageError
from weir.spark.processes import class_archive

_STATE = "spark.sql.streaming.stateStore."
_PATIENCE = 30.0
PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = _STATE + "providerClass"
EVOLUTION = "spark.sql.streaming.queryEvolution.enableSourceEvolution"

SETTINGS = {
    # transformWithState needs RocksDB.
    PROVIDER: "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # A commit uploads what changed instead of whole SST files.
    _STATE + "rocksdb.changelogCheckpointing.enabled": "true",
    # Time moves by frames alone: a batch without any has nothing to do.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # A micro-batch is too short to be planned twice.
    "spark.sql.adaptive.enabled": "false",
    # Old batches are never replayed; fewer files to list.
    "spark.sql.streaming.minBatchesToRetain": "20",
}
"""Can be set on a running session."""

START_SETTINGS = {
    # The default one runs readlink eight times for each file that it renames into place.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # No web server for a command that ends; Weir has its own metrics.
    "spark.ui.enabled": "false",
    # Results own the terminal.
    "spark.ui.showConsoleProgress": "false",
    # Event time is UTC.
    "spark.sql.session.timeZone": "UTC",
    # The JVM moves few rows: compiling it hard costs a run ten seconds of processor time.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss4m",
}
"""Only for a session that Weir starts."""

LOCAL_SETTINGS = {
    # Workers start with Weir imported; elsewhere Weir is not there before the first task brings it.
    "spark.python.daemon.module": "weir.spark.processes.python_daemon",
    # Nobody else has business with Spark's ports, over which whoever reaches them can run code.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""Only where all workers are on this host."""


BATCH_SETTINGS = {
    # A sort of all that was read is worth compiling, and worth memory.
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Xss4m",
    "spark.driver.memory": "4g",
}
"""For a session that Weir starts to move many rows, not to run a stream."""


def check_java() -> None:
    """Raise with one clear line where Java is missing or too old: asked where Spark did not start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    hint = "on Debian or Ubuntu: apt-get install openjdk-17-jre-headless; on macOS: brew install openjdk@17"
    if java is None or not Path(java).exists():
        raise UsageError("Spark needs Java 17 or newer, and there is no java on PATH", hint=hint)
    said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    digits = said.partition('version "')[2].partition('"')[0].split(".")[0]
    if not digits.isdigit() or int(digits) < 17:
        raise UsageError(f"Spark needs Java 17 or newer, and {java} is older", hint=hint)


def open_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The active session where there is one, else a new one on ``master`` (all local cores by default).

    On a cluster Weir's own code is shipped to the executors. Under ``spark-submit`` the master is the one
    given to it, unless ``master`` says otherwise. ``settings`` are for a new session, beside Weir's own.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        refuse_connect(active)
        return active
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    _environment()
    start_jvm(master, settings)
    local = (master or (_submitted_to() if submitted else "local")).startswith("local")
    builder = SparkSession.builder.appName("weir")
    if master is not None or not submitted:
        builder = builder.master(master or _HERE)
    for name, value in _told(local, settings).items():
        builder = builder.config(name, value)
    with interrupts_kept():
        try:
            session = builder.getOrCreate()
        except Exception as error:
            raise _not_started(error) from error
    session.sparkContext.setLogLevel("OFF")
    session.conf.set(PARTITIONS, str(session.sparkContext.defaultParallelism))
    _without_checksum_files(session)
    if not str(session.sparkContext.master).startswith("local"):
        folder = tempfile.mkdtemp(prefix="weir-package-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        session.sparkContext.addPyFile(str(package_zip(Path(folder))))
        await_executors(session)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    return session


def start_jvm(
    master: str | None = None, settings: Mapping[str, str] | None = None, options: str | None = None
) -> None:
    """Start Spark's JVM, unless it runs, as it does under ``spark-submit``. In a thread it comes up while the
    driver imports the rest of Weir. What it prints goes into a file, of which an error shows the end: it is
    no use to anybody else. It has these ``options``, or takes the archive of its classes."""
    global started_at
    context: Any = SparkContext
    with _STARTING:
        if context._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
            return
        _environment()
        local = (master or _HERE).startswith("local")
        conf = SparkConf(loadDefaults=False).setMaster(master or _HERE).setAppName("weir")
        _printed.append(tempfile.TemporaryFile(prefix="weir-spark-"))  # noqa: SIM115 -- the JVM keeps it
        told, place = _told(local, settings), None
        with ExitStack() as there:
            if local and "SPARK_HOME" not in os.environ:
                place = there.enter_context(_own_home())
                more = class_archive.options(place) if options is None else options
                told[_JAVA] = f"{told[_JAVA]} {more}".strip()
            conf.setAll(list(told.items()))
            try:
                gateway = _launch(conf, {"stderr": _printed[-1]})
            except Exception as error:
                check_java()
                raise _not_started(error) from error
        context._ensure_initialized(gateway=gateway)
        started_at = place


started_at: Path | None = None
"""The home of Spark whose JVM was started here."""
_JAVA = "spark.driver.extraJavaOptions"
_STARTING = threading.Lock()
_launch: Any = launch_gateway
_HERE = "local[*]"
_printed: list[IO[bytes]] = []


def _environment() -> None:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    # A JVM of its own puts the command together, and nothing in it is worth compiling hard.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
    # A task is one core's work: libraries inside it must not start a thread per core of their own.
    for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _told(local: bool, more: Mapping[str, str] | None) -> dict[str, str]:
    return {**SETTINGS, **START_SETTINGS, **(LOCAL_SETTINGS if local else {}), **(more or {})}


def _not_started(error: Exception) -> UsageError:
    said = b""
    if _printed:
        _printed[-1].seek(0)
        said = _printed[-1].read()
    last = "\n".join(said.decode(errors="replace").splitlines()[-5:])
    return UsageError("Spark did not start", detail=last or str(error))


def _submitted_to() -> str:
    """The master that ``spark-submit`` was given, which only its JVM knows."""
    context: Any = SparkContext
    context._ensure_initialized()
    return SparkConf().get("spark.master", "") or ""


def refuse_connect(session: SparkSession) -> None:
    """Raise where a session is one of Spark Connect: there functions of a driver run in another process,
    which knows nothing of it."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise UsageError(
            "an engine cannot run through Spark Connect",
            detail="it has to be in the process of Spark's driver, which there is the server's",
            hint="use weir.continuous, or give the engine a session of its own: master=, or spark-submit",
        )


@contextmanager
def settled(session: SparkSession, tasks: int | None = None) -> Iterator[None]:
    """What stateful Python operators need, on a session that may be the user's: a streaming query that is
    started in here keeps it, and afterwards the session is as it was. ``tasks`` is how many work side by
    side, without it as many as the session has shuffle partitions."""
    told = SETTINGS if tasks is None else {**SETTINGS, PARTITIONS: str(tasks)}
    with ExitStack() as stack:
        for name, value in told.items():
            stack.enter_context(temporarily(session, name, value))
        yield


@contextmanager
def temporarily(session: SparkSession, name: str, value: str) -> Iterator[None]:
    """A setting is another one in here: the session may be the user's."""
    before = session.conf.get(name, None)
    session.conf.set(name, value)
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, before)


def named_sources(session: SparkSession) -> AbstractContextManager[None]:
    """Sources are found by name in here, so that one can be added to a checkpoint.

    Outside, a session may have unnamed sources of the user's, which Spark would then refuse.
    """
    return temporarily(session, EVOLUTION, "true")


def _without_checksum_files(session: SparkSession) -> None:
    """Hadoop would write a checksum file beside each file of a checkpoint, and run ``chmod`` on both."""
    context: Any = session.sparkContext
    local = context._jvm.org.apache.hadoop.fs.FileSystem.getLocal(context._jsc.hadoopConfiguration())
    local.setWriteChecksum(False)


@contextmanager
def _own_home() -> Iterator[Path]:
    """Spark's home is another one in here (``class_archive.home``)."""
    place = class_archive.home()
    if not class_archive.is_kept(place):
        atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ["SPARK_HOME"] = str(place)
    try:
        yield place
    finally:
        del os.environ["SPARK_HOME"]


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Whoever handles SIGINT goes on to do so: a new ``SparkContext`` takes it, and ends a batch half-way."""
    kept = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        free = kept is None or kept is signal.default_int_handler
        if not free and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, kept)


def package_zip(folder: Path) -> Path:
    """The Python files of this package in ``folder/weir.zip``."""
    root = Path(__file__).parents[1]
    target = folder / "weir.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*.py")):
            archive.write(path, Path("weir") / path.relative_to(root))
    return target


def await_executors(session: SparkSession) -> None:
    """Wait until executors have come: a job gets as many slots as there are cores when it begins.

    The driver itself counts as one of those that Spark lists. Executors come one by one; when none has come
    for a second, these are all.
    """
    tracker = session.sparkContext._jsc.sc().statusTracker()
    began = changed = time.monotonic()
    known = 1
    while time.monotonic() - began < _PATIENCE:
        found = len(tracker.getExecutorInfos())
        if found != known:
            known, changed = found, time.monotonic()
        if known > 1 and time.monotonic() - changed > 1.0:
            return
        time.sleep(0.1)
