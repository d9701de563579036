"""Loading graph files into a Parquet store by a Spark job: read and encode, then sort and write.

First every file, or piece of a file, is a task that writes its own triples and texts beside the store and
then its receipt; a load that was interrupted finds the receipts and does only the rest. Then Spark sorts
all of it into the store's partitions. The store appears by one rename at the end: there is never half a
graph. Loading the same files again does nothing; loading others adds them.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from weir.errors import DataError
from weir.linked.graphs.graph_files import GraphFile, Piece, graph_files, read_file
from weir.linked.graphs.parquet_store import (
    MANIFEST,
    OWN_PARTITIONS,
    REST,
    TERMS,
    TRIPLES,
    GraphStore,
    Manifest,
)
from weir.rdf.columns import one_of, sorted_set
from weir.rdf.ids.encoding import encode_texts
from weir.runtime.ingest.parts import LineCounter
from weir.spark.session import PARTITIONS, temporarily
from weir.storage.files import make_folder, move, remove_folder, replace_file, sync_tree

Progress = Callable[[int, int], None]
"""Called with the bytes read so far and in all."""

_SPLIT = 1 << 26
_SHOWN = 20
_TRIPLES_PER_PARTITION = 2_000_000


@dataclass(frozen=True, slots=True)
class Task:
    """A range of bytes of one file, to be read into graph ``graph`` where statements name none."""

    name: str
    path: str
    begin: int
    end: int | None
    size: int
    graph: str


def load_graphs(
    spark: SparkSession,
    sources: Sequence[tuple[str, Path]],
    into: Path,
    *,
    progress: Progress | None = None,
) -> GraphStore:
    """Load (graph IRI or "", file or folder) pairs into the store at ``into``; the store, opened.

    Malformed input is a ``DataError`` that lists file, line and reason; the store is then untouched.
    """
    files = [(graph, file) for graph, path in sources for file in graph_files([path])]
    if not into.exists() and _old(into).exists():
        # A crash came between the two renames of a load that added to the store.
        move(_old(into), into)
    stamps = {_label(graph, file): _stamp(file) for graph, file in files}
    old = GraphStore(into) if (into / MANIFEST).is_file() else None
    known = old.manifest.sources if old is not None else {}
    changed = [label for label, stamp in stamps.items() if known.get(label, stamp) != stamp]
    if changed:
        raise DataError(
            f"already loaded, but changed since: {', '.join(changed)}",
            hint="load all files into a new folder, or change single triples with SPARQL Update",
        )
    files = [(graph, file) for graph, file in files if _label(graph, file) not in known]
    if old is not None and not files:
        return old
    staging = into.with_name(into.name + ".loading")
    key = old.key if old is not None else _staged_key(staging)
    make_folder(staging)
    replace_file(staging / "key", key.hex().encode())
    tasks = [task for graph, file in files for task in _tasks(graph, file)]
    receipts = _read_all(spark, tasks, staging, key, progress)
    _refuse_malformed(receipts)
    triples, cores = sum(receipt["triples"] for receipt in receipts), spark.sparkContext.defaultParallelism
    with temporarily(spark, PARTITIONS, str(max(cores, triples // _TRIPLES_PER_PARTITION))):
        manifest = _write_store(spark, tasks, staging, old, key, stamps)
    _publish(staging, into, manifest)
    return GraphStore(into)


def _label(graph: str, file: GraphFile) -> str:
    return f"{graph} {file.path.resolve()}"


def _stamp(file: GraphFile) -> str:
    stat = file.path.stat()
    return f"{stat.st_size} bytes, {stat.st_mtime_ns}"


def _staged_key(staging: Path) -> bytes:
    kept = staging / "key"
    return bytes.fromhex(kept.read_text()) if kept.is_file() else secrets.token_bytes(16)


def _tasks(graph: str, file: GraphFile) -> Iterator[Task]:
    size = file.path.stat().st_size
    stamp = hashlib.sha256(f"{_label(graph, file)} {_stamp(file)}".encode()).hexdigest()[:16]
    if not file.splittable or size <= _SPLIT:
        yield Task(f"{stamp}-0", str(file.path), 0, None, size, graph)
        return
    for number, begin in enumerate(range(0, size, _SPLIT)):
        end = min(begin + _SPLIT, size)
        yield Task(f"{stamp}-{number}", str(file.path), begin, end, end - begin, graph)


# The tasks: read, encode, write aside


def _read_all(
    spark: SparkSession, tasks: Sequence[Task], staging: Path, key: bytes, progress: Progress | None
) -> list[dict[str, Any]]:
    todo = [task for task in tasks if not (staging / f"{task.name}.json").is_file()]
    if todo:
        rows = spark.sparkContext.parallelize(todo, len(todo))
        with _watched(tasks, staging, progress):
            rows.foreach(lambda task: _read_task(task, staging, key))
    return [json.loads((staging / f"{task.name}.json").read_text()) for task in tasks]


def _read_task(task: Task, staging: Path, key: bytes) -> None:
    (file,) = graph_files([Path(task.path)])
    default = 0
    names: list[str] = []
    if task.graph:
        names = [f"<{task.graph}>"]
        default = int(encode_texts(pl.Series(names), key)[0])
    rejected: list[dict[str, Any]] = []
    count = malformed = 0
    with (
        pq.ParquetWriter(staging / f"{task.name}.triples.parquet", TRIPLES, compression="zstd") as triples,
        pq.ParquetWriter(staging / f"{task.name}.terms.parquet", TERMS, compression="zstd") as terms,
    ):
        if names:
            _write_terms(terms, np.array([default]), pl.Series(names))
        known = np.empty(0, np.int64)
        for piece in read_file(file, key, begin=task.begin, end=task.end):
            *spo, graph = (terms.column for terms in piece.columns)
            columns = [np.where(graph == 0, default, graph), *spo]
            triples.write_batch(pa.record_batch([pa.array(each) for each in columns], schema=TRIPLES))
            count += len(graph)
            known = _write_new_terms(terms, piece, known)
            rejected += [asdict(item) for item in piece.rejected[: _SHOWN - len(rejected)]]
            malformed += len(piece.rejected)
    receipt = {
        "path": task.path,
        "begin": task.begin,
        "triples": count,
        "rejected": rejected,
        "malformed": malformed,
        "size": task.size,
    }
    replace_file(staging / f"{task.name}.json", json.dumps(receipt).encode())


def _write_new_terms(writer: pq.ParquetWriter, piece: Piece, known: np.ndarray) -> np.ndarray:
    """Write the texts of hashed ids that this task has not written yet; all it has written."""
    ids = np.concatenate([column.ids for column in piece.columns])
    texts = pl.concat([column.texts.rename("") for column in piece.columns])
    found, first = np.unique(ids, return_index=True)
    new = (found > 0) & ~one_of(found, known)
    if new.any():
        _write_terms(writer, found[new], texts.gather(first[new]))
        known = sorted_set(np.concatenate([known, found[new]]))
    return known


def _write_terms(writer: pq.ParquetWriter, ids: np.ndarray, texts: pl.Series) -> None:
    text = texts.to_arrow().cast(pa.large_string())
    writer.write_batch(pa.record_batch([pa.array(ids), text], schema=TERMS))


def _refuse_malformed(receipts: Sequence[dict[str, Any]]) -> None:
    bad = [receipt for receipt in receipts if receipt["malformed"]]
    if not bad:
        return
    lines, counter = [], LineCounter()
    for receipt in bad:
        path, begin = receipt["path"], receipt["begin"]
        offset = counter.before(path, begin - 1) + 1 if begin else 0
        for item in receipt["rejected"]:
            lines.append(f"{path}:{item['line'] + offset}: {item['reason']} {item['text']}".rstrip())
    total = sum(receipt["malformed"] for receipt in bad)
    more = f"\n… and {total - len(lines[:_SHOWN])} more" if total > _SHOWN else ""
    raise DataError(
        f"{total} malformed {'line' if total == 1 else 'lines'}: nothing was loaded",
        detail="\n".join(lines[:_SHOWN]) + more,
        hint="mend or remove these lines and load again: what was read already is kept",
    )


@contextmanager
def _watched(tasks: Sequence[Task], staging: Path, progress: Progress | None) -> Iterator[None]:
    """Report the size of finished tasks while Spark works."""
    if progress is None:
        yield
        return
    total, ended = sum(task.size for task in tasks), threading.Event()

    def run() -> None:
        over = False
        while not over:
            over = ended.wait(0.5)
            progress(sum(task.size for task in tasks if (staging / f"{task.name}.json").is_file()), total)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


# The store: sort, write, publish


def _write_store(
    spark: SparkSession,
    tasks: Sequence[Task],
    staging: Path,
    old: GraphStore | None,
    key: bytes,
    stamps: dict[str, str],
) -> Manifest:
    store = staging / "store"
    remove_folder(store)
    triples = spark.read.parquet(*(str(staging / f"{task.name}.triples.parquet") for task in tasks))
    terms = spark.read.parquet(*(str(staging / f"{task.name}.terms.parquet") for task in tasks))
    if old is not None:
        triples = triples.unionByName(
            spark.read.parquet(str(old.folder / "triples")).select("g", "s", "p", "o")
        )
        terms = terms.unionByName(spark.read.parquet(str(old.folder / "terms")))
    triples = triples.distinct().cache()
    try:
        counts = triples.groupBy("g", "p").count().collect()
        total = sum(row["count"] for row in counts)
        by_predicate: Counter[int] = Counter()
        for row in counts:
            by_predicate[row["p"]] += row["count"]
        frequent = by_predicate.most_common(OWN_PARTITIONS)
        partitions = {str(each): number for number, (each, _) in enumerate(frequent)}
        _write_triples(spark, triples, partitions, total, store)
    finally:
        triples.unpersist()
    number = _write_texts(terms, store)
    names = _names(store, [row["g"] for row in counts if row["g"]])
    by_graph: Counter[str] = Counter()
    for row in counts:
        by_graph[names.get(row["g"], "")] += row["count"]
    sources = {**(old.manifest.sources if old is not None else {}), **stamps}
    predicates = {str(each): by_predicate[each] for each in by_predicate}
    return Manifest(key.hex(), sources, dict(by_graph), predicates, total, number, partitions)


def _write_triples(
    spark: SparkSession, triples: DataFrame, partitions: dict[str, int], total: int, store: Path
) -> None:
    table = spark.createDataFrame(
        [(int(each), number) for each, number in partitions.items()] or [(0, REST)], "p long, part long"
    )
    placed = triples.join(F.broadcast(table), "p", "left").withColumn("part", F.coalesce("part", F.lit(REST)))
    files = max(1, total // _TRIPLES_PER_PARTITION)
    (
        placed.repartitionByRange(files, "part", "p", "s")
        .sortWithinPartitions("part", "p", "s", "o", "g")
        .select("g", "s", "p", "o", "part")
        .write.partitionBy("part")
        .option("compression", "zstd")
        .parquet(str(store / "triples"))
    )


def _write_texts(terms: DataFrame, store: Path) -> int:
    def checked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        last = None
        for batch in batches:
            ids = batch.column(0).to_numpy()
            if len(ids) and ((np.diff(ids) == 0).any() or ids[0] == last):
                raise ValueError("two terms have the same id: load again into a new folder, with a new key")
            last = ids[-1] if len(ids) else last
            yield batch

    ordered = terms.dropDuplicates(["id", "text"]).orderBy("id")
    ordered.mapInArrow(checked, "id long, text string").write.option("compression", "zstd").parquet(
        str(store / "terms")
    )
    return sum(pq.read_metadata(path).num_rows for path in (store / "terms").glob("*.parquet"))


def _names(store: Path, graphs: Sequence[int]) -> dict[int, str]:
    if not graphs:
        return {}
    found = pl.scan_parquet(str(store / "terms" / "*.parquet")).filter(pl.col("id").is_in(list(set(graphs))))
    return {each: text.strip("<>") for each, text in found.collect().iter_rows()}


def _publish(staging: Path, into: Path, manifest: Manifest) -> None:
    manifest.write(staging / "store")
    sync_tree(staging / "store")
    if into.exists():
        remove_folder(_old(into))
        move(into, _old(into))
        move(staging / "store", into)
        remove_folder(_old(into))
    else:
        make_folder(into.parent)
        move(staging / "store", into)
    remove_folder(staging)


def _old(into: Path) -> Path:
    """Where a store is while another one takes its place."""
    return into.with_name(into.name + ".old")
