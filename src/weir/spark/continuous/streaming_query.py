"""``weir.continuous``: a query over streaming DataFrames that is a streaming DataFrame itself.

The pipeline is that of a job, without Weir's source and sinks: what the user's sources bring goes through the
same stage and the same groups, and what comes out are rows for any ``writeStream``.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from weir.errors import CheckpointError, EvaluationError, UsageError
from weir.linked.graphs import GraphSources, RemoteGraph
from weir.linked.graphs.graph_files import is_url
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.catalog import Registration, StreamEntry, entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor
from weir.runtime.control.graph_updates import BASE
from weir.runtime.control.registration import offer, registrations_of
from weir.runtime.control.registry import IDLE
from weir.runtime.output.answer_types import AUTO, AnswerTypes, Types, answer_types
from weir.runtime.output.metrics import SUMS
from weir.runtime.output.outputs import FAILED, failure_in, read_answers
from weir.spark.carried import carried, unpacked
from weir.spark.continuous.left_out import UNTYPED, warn_of
from weir.spark.dataframes import DataFrameStream
from weir.spark.processor import GroupProcessor, observed
from weir.spark.session import PARTITIONS, PROVIDER
from weir.storage.places import local_path

COUNTS = ".counts"
"""The column by which counts travel: no variable has a dot in its name."""
Declared = str | Mapping[str, str] | None


def continuous(
    spark: SparkSession,
    query: str,
    streams: Mapping[str, DataFrame],
    graphs: Mapping[str | None, str | Path] | None = None,
    *,
    checkpoint: str | Path | None = None,
    dialect: str = "auto",
    evaluator: str = "auto",
    format: Declared = None,
    time: Declared = None,
    types: Types = AUTO,
    metrics: str | None = None,
) -> DataFrame:
    """The answers of a continuous query as a streaming DataFrame.

    ``streams`` has a streaming DataFrame for each stream of the query: columns ``time`` (a timestamp, integer
    milliseconds or an xsd:dateTime), ``subject``, ``predicate``, ``object`` and maybe ``graph`` as N-Triples
    texts; or ``value`` with ``.tnq`` lines, or with a message in ``format`` whose ``time`` a predicate states
    (one for all streams, or by IRI). ``lane`` and ``position`` are taken where they are there.

    ``graphs`` are files, folders, stores or URLs by IRI, None for the default graph. The result has columns
    ``at`` (timestamp) and ``op``, then one for each variable of SELECT, null where it is unbound;
    ``subject``, ``predicate``, ``object`` for CONSTRUCT, as in N-Triples; or a ``boolean`` for ASK. Write it
    in append mode.

    ``types`` says what the columns of SELECT are. With ``auto`` they are what the query's text tells: a COUNT
    is a ``long``, an AVG a ``double``, a comparison a ``boolean``; all else is a ``string``, IRIs without
    brackets and literals without quotes. ``{"celsius": "double"}`` says it for some: ``long``, ``decimal``,
    ``double``, ``boolean``, ``timestamp``, ``string`` or ``ntriples``. ``types="ntriples"`` gives every term
    as in N-Triples.

    ``checkpoint`` is a folder for what Weir keeps (graphs, the key of its ids), on storage that the workers
    can read; it belongs to the checkpoint of one ``writeStream``. Without one it is made anew from the same
    arguments, and travels with the tasks.

    The session may be one of Spark Connect, and nothing is set on it: call this, and start the result, in a
    ``with weir.spark.session.settled(spark, tasks=CORES)``, or set what that sets.

    The counters of each batch are metrics of Spark's own, under the name ``metrics`` where one is given,
    which must be another for each query that one ``writeStream`` writes. What is left out (statements that
    cannot be read, messages that are late, values that are not of their column's type) is among them, and is
    told by a ``WeirWarning``.
    """
    made = offer(query, {}, name="query", dialect=dialect, evaluator=evaluator)
    columns = answer_types(made.query, types)
    name = metrics or f"weir {uuid.uuid4().hex[:12]}"
    rows = {
        iri: DataFrameStream(frame, _of(format, iri) or "tnq", _of(time, iri))
        for iri, frame in streams.items()
    }
    library = _library(graphs or {})
    if "RocksDB" not in str(spark.conf.get(PROVIDER)):
        raise UsageError(
            "windows are kept in RocksDB, and the session has another state store",
            hint="call it, and start its result, in: with weir.spark.session.settled(spark, tasks=CORES)",
        )
    slots = int(str(spark.conf.get(PARTITIONS)))
    key = library.key or hashlib.blake2b(query.encode(), digest_size=16).digest()
    folder = local_path(checkpoint, "a checkpoint") if checkpoint else _temporary()
    origin = hashlib.blake2b(query.encode(), key=key, digest_size=8).hexdigest()
    version = metadata.version("weir")
    lease = Checkpoint.take(folder.absolute())
    try:
        opened = Checkpoint.open(folder.absolute(), version=version, slots=slots, key=key, origin=origin)
        _enrol(opened, made, list(rows), library)
    finally:
        lease.close()
    files = {} if checkpoint else carried(opened.folder)
    frames = [each.frames(str(opened.folder), iri, files) for iri, each in rows.items()]
    processor = ResultProcessor(str(opened.folder), ("columns",), files, columns)
    processor.position = opened.control().position
    answered = processor.over(
        reduce(DataFrame.unionByName, frames), f"{columns.ddl}, `{COUNTS}` array<bigint>"
    )
    told = observed(answered, name, COUNTS, (UNTYPED,)).where(f"`{COUNTS}` IS NULL").drop(COUNTS)
    warn_of(spark, name)
    return told


class ResultProcessor(GroupProcessor):
    """A group of one query; its rows are the answers themselves, and in each batch one more with its counts.
    ``files`` are what tasks need of the folder, where they may not see it."""

    spooled = False

    def __init__(
        self,
        folder: str,
        forms: Sequence[str],
        files: Mapping[str, bytes],
        columns: AnswerTypes,
    ) -> None:
        super().__init__(folder, forms)
        self.files = files
        self.columns = columns

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        """Frames in, answers out."""
        self.folder = unpacked(self.folder, self.files)
        counts, untyped = [0] * (len(SUMS) + 1), 0
        for item in self.advance(key, rows, timerValues):
            if item.kind == FAILED:
                # There is no other query here: Spark's fails with it, and can be started again.
                failure = failure_in(item)
                raise EvaluationError(f"query {failure.name!r} failed", detail=failure.reason)
            if item.kind == "metrics" and item.counts is not None:
                counts = item.counts
            if item.kind == "columns":
                table = read_answers(item.data)
                made, missed = self.columns.values(table)
                untyped += missed
                yield pd.DataFrame(
                    {
                        "at": table["at"].cast(pa.timestamp("us", tz="UTC")).to_pandas(),
                        "op": table["op"].to_pandas(),
                        **{name: _series(values) for name, values in made.items()},
                        COUNTS: pd.Series([None] * len(table), dtype=object),
                    }
                )
        yield pd.DataFrame(
            {
                "at": pd.to_datetime(pd.Series([None]), utc=True),
                **{name: pd.Series([None], dtype=object) for name in ("op", *self.columns.types)},
                COUNTS: [[*counts, untyped]],
            }
        )


def _series(values: pa.Array) -> pd.Series[Any]:
    """A column in which what is missing is null, also among numbers."""
    found: pd.Series[Any] = values.to_pandas(
        types_mapper=None if pa.types.is_timestamp(values.type) else pd.ArrowDtype
    )
    return found


def _enrol(checkpoint: Checkpoint, made: Registration, streams: list[str], library: GraphSources) -> None:
    """The control log of one query, written once; a folder that has another is refused."""
    log = checkpoint.control()
    catalog = log.catalog()
    if catalog.version:
        known = catalog.queries.get(made.name)
        if known is None or known.text != made.text or set(catalog.streams) != set(streams):
            raise CheckpointError(
                f"{checkpoint.folder} belongs to another query or to other streams",
                hint="give the same as before, or a new folder, here and to writeStream",
            )
        return
    extractor = Extractor(library.open(Dictionary(checkpoint.key), checkpoint.graphs / BASE), checkpoint)
    entries = [StreamEntry(iri, IDLE, number=number) for number, iri in enumerate(streams)]
    registrations = registrations_of([made], catalog, streams, checkpoint.slots, extractor)
    log.append([*(entry_of(each, 0) for each in entries), *(entry_of(each, 0) for each in registrations)])


def _library(graphs: Mapping[str | None, str | Path]) -> GraphSources:
    library = GraphSources()
    for iri, source in graphs.items():
        if is_url(str(source)):
            library.add_remote(iri, RemoteGraph(str(source)))
        else:
            library.add(iri, local_path(source, "a graph"))
    return library


def _of(declared: Declared, iri: str) -> str | None:
    return declared.get(iri) if isinstance(declared, Mapping) else declared


def _temporary() -> Path:
    """A folder that goes when the process does."""
    folder = Path(tempfile.mkdtemp(prefix="weir-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
