"""What the slots answered to the first stages of queries, put together and written: the second stage.

All slots have come as far when a batch is done, so a batch has all parts of the evaluations that it makes,
and nothing is kept between batches. What becomes of a query depends on its own rows alone: a runner may
bring those of different queries to different places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weir.errors import CheckpointError
from weir.kernel.contract import FailedAt
from weir.kernel.interval.second_stage import answers_of_all
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.catalog import Catalog, Registration
from weir.runtime.output.compact import COMPACT
from weir.runtime.output.outputs import Output, failed_row, written_answers
from weir.runtime.output.partial_answers import PART, read_part
from weir.runtime.output.results import COLUMNS
from weir.runtime.worker.alone import failure_of
from weir.storage.spool import SpoolWriter

NO_SLOT = -1
"""The slot of rows that belong to all."""


def put_together(
    rows: Sequence[Output],
    catalog: Catalog,
    key: bytes,
    forms: Sequence[str],
    writer: Callable[[], SpoolWriter] = SpoolWriter,
) -> list[Output]:
    """The rows of one batch with answers, in each of ``forms``, in the place of parts."""
    parts: dict[str, list[Output]] = {}
    found = []
    for row in rows:
        if row.kind == PART:
            parts.setdefault(row.name, []).append(row)
        else:
            found.append(row)
    for name in sorted(parts):
        if name not in catalog.queries:
            raise CheckpointError(
                f"slots answered the query {name!r}, which the control log does not have yet",
                detail="the storage of the checkpoint showed a worker an old log",
                hint="start the job again: the batch is done again; for NFS mount with actimeo=1",
            )
        found += _answers(catalog.queries[name], parts[name], key, forms, writer)
    return found


def _answers(
    query: Registration,
    parts: Sequence[Output],
    key: bytes,
    forms: Sequence[str],
    writer: Callable[[], SpoolWriter],
) -> Iterator[Output]:
    """A query's answers. Where they cannot be made or written it fails, and says what comes before."""
    assert query.stages is not None
    dictionary = Dictionary(key)
    try:
        slots = sorted(parts, key=lambda row: row.slot)
        answers = answers_of_all(query.stages, [read_part(row.data, dictionary) for row in slots], dictionary)
    except OSError:
        raise
    except Exception as error:
        yield failed_row(failure_of(query, error, NO_SLOT))
        return
    for form in forms if len(answers.at) or len(answers.empty) else ():
        own = COLUMNS if form == COMPACT else form
        try:
            data = written_answers(query.query, query.name, answers, dictionary, own, writer)
        except FailedAt as error:
            answers = answers.older(error.time)
            data = written_answers(query.query, query.name, answers, dictionary, own, writer)
            yield failed_row(failure_of(query, error, NO_SLOT))
        yield Output(form, query.name, NO_SLOT, data)
