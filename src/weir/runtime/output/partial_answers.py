"""What a slot answered to the first stage of a query, on its way to the second: ids, and the texts of those
that do not carry their own."""

from __future__ import annotations

import numpy as np
import polars as pl

from weir.kernel.contract import Answers
from weir.language.algebra.query import Ask, Query
from weir.rdf.columns import sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.text_columns import texts_of
from weir.storage import numbers, pack, unpack
from weir.storage.spool import Buffer

PART = "part"
"""The kind of a row that carries such answers."""
_KIND = "partial answers"


def part_of(answers: Answers, query: Query, dictionary: Dictionary) -> bytes | None:
    """The answers as bytes; None where there are none."""
    if not len(answers.at) and not len(answers.empty):
        return None
    columns = list(answers.columns.values())
    ids = sorted_set(np.concatenate([np.empty(0, np.int64), *columns]))
    ids = ids[:0] if isinstance(query.form, Ask) else ids[ids > 0]
    tables = {
        "rows": {"at": answers.at, **{str(place): column for place, column in enumerate(columns)}},
        "empty": {"at": answers.empty},
        "texts": {"id": ids, "text": texts_of(ids, dictionary)},
    }
    made: bytes = pack(_KIND, {"columns": list(answers.columns)}, tables).to_pybytes()
    return made


def read_part(data: Buffer, dictionary: Dictionary) -> Answers:
    """The answers; ``dictionary`` learns the texts of their terms."""
    found = unpack(data, _KIND)
    rows, texts = found.table("rows"), found.table("texts")
    names = enumerate(found.header["columns"])
    columns = {name: numbers(rows[str(place)]) for place, name in names}
    dictionary.add(numbers(texts["id"]), pl.Series(texts["text"]).to_list())
    return Answers(numbers(rows["at"]), columns, numbers(found.table("empty")["at"]))
