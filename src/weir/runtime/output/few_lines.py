"""The result lines of a few answers, one by one: columns have a fixed cost that a single message feels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

import numpy as np
import pyarrow as pa

from weir.kernel.contract import Answers
from weir.language.algebra.patterns import is_ordered
from weir.language.algebra.query import Query, Select
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.json_columns import compact, in_json
from weir.runtime.output.text_columns import texts_of, timestamp

FEW = 512
"""Answers that are written one by one."""


def few_lines(
    query: Query, answers: Answers, dictionary: Dictionary, head: str, middle: str, names: Sequence[str]
) -> dict[str, pa.Array]:
    """The lines of solutions or triples as ``results`` writes them: ``head`` and ``middle`` stand before and
    after the time, ``names`` are the columns."""
    ids = [answers.columns[name] for name in names]
    distinct = np.unique(np.concatenate(ids)) if ids else np.empty(0, np.int64)
    texts = dict(zip(distinct.tolist(), texts_of(distinct, dictionary).to_pylist(), strict=True))
    rows = list(zip(*([texts[each] for each in column.tolist()] for column in ids), strict=True))
    rows = rows or [()] * len(answers.at)
    at = (answers.at + query.semantics.emit_after).tolist()
    if isinstance(query.form, Select):
        made = _solutions(query, answers, rows, names)
        begins = {t: f"{head}{timestamp(t)}{middle}" for t in set(at)}
        when, lines = at, [begins[t] + body for t, body in zip(at, made, strict=True)]
    else:
        when, lines = [], []
        told_apart = zip(answers.evaluation.tolist(), at, rows, strict=True)
        for _, group in groupby(told_apart, key=itemgetter(0)):
            every = list(group)
            triples = sorted([f"{part} " for part in row] for _, _, row in every)
            told = ",".join(compact("".join([*triple, "."])) for triple in triples)
            when.append(every[0][1])
            lines.append(f'{head}{timestamp(when[-1])}{middle}"triples":[{told}]}}\n')
    return {"at": pa.array(when, pa.int64()), "line": pa.array(lines, pa.large_string())}


def _solutions(
    query: Query, answers: Answers, rows: Sequence[tuple[str | None, ...]], names: Sequence[str]
) -> list[str]:
    """What follows the time of each line, those of an evaluation in the order of their text."""
    labels = [compact(name) + ":" for name in names]
    whole = not any(text is None for row in rows for text in row)
    keyed = []
    for evaluation, row in zip(answers.evaluation.tolist(), rows, strict=True):
        fields = [label + _json(text) for label, text in zip(labels, row, strict=True) if text is not None]
        joined = ",".join(fields)
        key = tuple(field + "}" for field in fields) if whole else (joined + "}",)
        keyed.append((evaluation, key, f'"bindings":{{{joined}}}}}\n'))
    if not is_ordered(query.pattern):
        keyed.sort(key=lambda each: each[:2])
    return [line for _, _, line in keyed]


@lru_cache(maxsize=1 << 14)
def _json(text: str) -> str:
    return in_json(text)
