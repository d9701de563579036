"""Answers as text: result lines (JSON Lines) and columns, of one query and of many evaluated together.

What a line says is in docs/semantics.md, "Result lines".

Each distinct term is written once and rows are put together a column at a time, so that a million results a
second are a matter of memory bandwidth, and a batch in which a thousand queries have a few results each costs
what their lines cost. Results of one evaluation time have no order of their own unless the query gives one;
they are written in the order of their text, so that the file does not depend on ids, evaluators or
partitions. Law: a query's rows are the same whether it is evaluated by itself or with others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from weir.extras import lazily
from weir.kernel.contract import Answers
from weir.kernel.matching.answers import Header, SetAnswers
from weir.language.algebra.patterns import is_ordered
from weir.language.algebra.query import Ask, Query, Select
from weir.rdf.columns import Ids, sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.output.few_lines import FEW, few_lines
from weir.runtime.output.json_columns import compact, json_terms, quoted
from weir.runtime.output.text_columns import (
    Coded,
    Woven,
    coded_texts,
    distinct_values,
    put_together,
    stamps,
    texts_of,
    weave,
)

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = lazily("pyarrow.compute")

JSONL, COLUMNS = "jsonl", "columns"
"""The forms: ``at`` and ``line``; or ``at``, ``op``, and a text per variable."""

MOST = 200_000
"""Rows of many queries written at a time, as a rule: what bounds the memory that texts take meanwhile."""

PARTS = ".parts"
"""The column of many result lines, in numbered parts; what is in the place of ``line`` then."""

QUERY = ".query"
"""The column that tells whose row it is; no variable has such a name."""

APART = "\n"
"""What tells the texts of a row apart where rows are ordered by them; in the text of a term there is none."""

_SLICE = 1 << 16
_TRIPLE = ("subject", "predicate", "object")
_EMPTY = '"empty":true}\n'


@dataclass(frozen=True, slots=True)
class Emission:
    """What else of a query its results show: the R2S operator, and how much later than its evaluation time a
    result is dated (EMIT AFTER)."""

    operator: str
    delay: int

    @staticmethod
    def of(query: Query) -> Emission:
        return Emission(query.semantics.r2s.value, query.semantics.emit_after)


@dataclass(frozen=True, slots=True)
class Block:
    """Solutions of queries that select variables of the same names, the rows of a query together and in the
    order of time. ``owner`` is the place of a row's query in ``names``, ``at`` the time that it is dated;
    ``fields`` are terms as the form has them. ``ordered`` says that rows of one evaluation are in an order;
    ``numbers`` tells evaluations apart where several have one time."""

    names: Sequence[str]
    operators: Sequence[str]
    owner: Ids
    at: Ids
    fields: Mapping[str, Coded]
    ordered: bool = False
    numbers: Ids | None = None

    @property
    def evaluation(self) -> Ids:
        """A number for each evaluation of each query, ascending."""
        if self.numbers is not None:
            return self.numbers
        fresh = np.ones(len(self.at), np.bool_)
        fresh[1:] = (self.at[1:] != self.at[:-1]) | (self.owner[1:] != self.owner[:-1])
        return np.cumsum(fresh)

    def lines(self) -> Lines:
        """A result line per row."""
        fields = list(self.fields.values())
        labels = [f"{',' if place else ''}{compact(name)}:" for place, name in enumerate(self.fields)]
        between = ""
        if any(field.texts.null_count for field in fields):
            fields, labels, between = [self._joined()], [""], "}"
        if fields and not self.ordered:
            order = order_of_rows(self.evaluation, fields, between)
            fields = [each.take(order) for each in fields]
        begin = labels[0] if labels else ""
        heads = [f'{{"query":{compact(name)},"at":"' for name in self.names]
        middles = [f'","op":"{operator}","bindings":{{{begin}' for operator in self.operators]
        every = np.zeros(len(self.at), np.int64)
        after = [Coded.of(every, [label]) for label in (*labels[1:], "}}\n")]
        body = [each for pair in zip(fields, after, strict=True) for each in pair] if fields else after
        head, middle = Coded.of(self.owner, heads), Coded.of(self.owner, middles)
        return Lines(self.at, weave([head, *stamps(self.at), middle, *body]))

    def _joined(self) -> Coded:
        """What each row binds, in one text."""
        bound = [field.framed(f",{compact(name)}:") for name, field in self.fields.items()]
        joined = pc.ascii_ltrim(weave(bound).rows(), ",")
        return Coded(np.arange(len(joined)), joined)

    def columns(self) -> dict[str, pa.Array]:
        """A row of texts per row, each distinct one once (``written`` writes them out). Variables that are
        named ``at`` or ``op`` keep their question mark."""
        fields = dict(self.fields)
        if fields and not self.ordered:
            order = order_of_rows(self.evaluation, list(fields.values()), APART)
            fields = {name: field.take(order) for name, field in fields.items()}
        operators = Coded.of(self.owner, self.operators)
        told = {f"?{name}" if name in ("at", "op") else name: field for name, field in fields.items()}
        columns = {name: field.column for name, field in {"op": operators, **told}.items()}
        return {"at": pa.array(self.at), **columns}


@dataclass(frozen=True, slots=True)
class Lines:
    """Result lines, dated ``at``, not yet put together."""

    at: Ids
    woven: Woven

    def table(self) -> dict[str, pa.Array]:
        """All of them."""
        return {"at": pa.array(self.at), "line": self.woven.rows()}

    def numbered(self, first: int, last: int) -> dict[str, pa.Array]:
        """Some of them as ``texts_in`` takes them."""
        return {"at": pa.array(self.at[first:last]), PARTS: self.woven.numbered(first, last)}


def texts_in(table: pa.Table) -> pa.Table:
    """Answers with every text in its row: lines that came in numbered parts are put together."""
    if PARTS not in table.column_names:
        return table
    lines = [put_together(chunk) for chunk in table[PARTS].chunks]
    return pa.table({"at": table["at"], "line": pa.chunked_array(lines, pa.large_string())})


def written(columns: Mapping[str, pa.Array], first: int = 0, last: int | None = None) -> dict[str, pa.Array]:
    """Some rows of columns, with every text in its row."""
    some = {name: column[first:last] for name, column in columns.items()}
    return {name: c.dictionary_decode() if name != "at" else c for name, c in some.items()}


def query_tables(
    query: Query, name: str, answers: Answers, dictionary: Dictionary, form: str
) -> Iterator[pa.RecordBatch]:
    """What a query answered, a bounded number of rows at a time, cut between evaluation times."""
    if len(answers.at) <= _SLICE or len(answers.empty):
        whole = (result_lines if form == JSONL else result_columns)(query, name, answers, dictionary)
        yield pa.record_batch(list(whole.values()), names=list(whole))
        return
    lines = _lines(query, name, answers, dictionary) if form == JSONL else None
    columns = _solutions(query, name, answers, dictionary, form).columns() if lines is None else {}
    at = answers.at if lines is None else lines.at
    cuts = np.unique(np.searchsorted(at, at[_SLICE::_SLICE])).tolist()
    for first, last in pairwise([0, *(cut for cut in cuts if cut), len(at)]):
        made = written(columns, first, last) if lines is None else lines.numbered(first, last)
        yield pa.record_batch(list(made.values()), names=list(made))


def set_tables(
    answers: SetAnswers, emissions: Mapping[str, Emission], dictionary: Dictionary, form: str
) -> Iterator[pa.RecordBatch]:
    """What queries that are evaluated together answered: tables with the column ``QUERY`` in front, the rows
    of a query together in one of them. Queries of one table select variables of the same names."""
    channel, at, values = answers.table
    ids = sorted_set(values)
    texts = texts_of(ids, dictionary)
    if form == JSONL:
        texts = json_terms(texts)
    first = np.searchsorted(channel, np.arange(len(answers.members) + 1))
    for signature, names in _alike(answers.headers, np.diff(first).tolist()):
        channels = np.array([answers.headers[name].channel for name in names], np.int64)
        counts = first[channels + 1] - first[channels]
        ends = np.cumsum(counts)
        rows = np.arange(int(ends[-1])) + np.repeat(first[channels] - ends + counts, counts)
        owner = np.repeat(np.arange(len(names)), counts)
        delay = np.array([emissions[name].delay for name in names], np.int64)
        fields = {}
        for variable, column in signature:
            if 0 <= column < len(values):
                distinct, where = distinct_values(values[column][rows])
                fields[variable] = Coded(where, texts.take(pa.array(np.searchsorted(ids, distinct))))
            else:
                fields[variable] = Coded.of(np.zeros(len(rows), np.int64), [None])
        operators = [emissions[name].operator for name in names]
        block = Block(names, operators, owner, at[rows] + delay[owner], fields)
        made = block.lines().table() if form == JSONL else written(block.columns())
        queries = pa.DictionaryArray.from_arrays(pa.array(owner.astype(np.int32)), pa.array(names))
        yield pa.record_batch([queries, *made.values()], names=[QUERY, *made])


def _alike(
    headers: Mapping[str, Header], counts: Sequence[int]
) -> Iterator[tuple[tuple[tuple[str, int], ...], list[str]]]:
    """Queries that have results and select the same variables from the same columns, not too many at once."""
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    held: dict[tuple[tuple[str, int], ...], int] = {}
    for name, header in headers.items():
        if not counts[header.channel]:
            continue
        signature = tuple(header.columns.items())
        alike.setdefault(signature, []).append(name)
        held[signature] = held.get(signature, 0) + counts[header.channel]
        if held[signature] >= MOST:
            yield signature, alike.pop(signature)
            del held[signature]
    yield from alike.items()


def by_query(tables: Iterable[pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    """Tables that ``set_tables`` made, query by query."""
    for table in tables:
        owner = table[QUERY].combine_chunks()
        rest = table.drop_columns([QUERY])
        codes = owner.indices.to_numpy()
        starts = np.flatnonzero(np.diff(codes, prepend=-1)).tolist()
        for first, last in pairwise([*starts, len(codes)]):
            yield owner.dictionary[int(codes[first])].as_py(), rest.slice(first, last - first)


def result_lines(query: Query, name: str, answers: Answers, dictionary: Dictionary) -> dict[str, pa.Array]:
    """The lines of a query's answers, with the time each carries: one per solution, for CONSTRUCT one per
    evaluation. Where EMPTY asks for it, a line says that an evaluation had no results."""
    if len(answers.at) <= FEW and not len(answers.empty) and not isinstance(query.form, Ask):
        return few_lines(query, answers, dictionary, *_ends(query, name), _columns_of(query))
    lines = _lines(query, name, answers, dictionary)
    made = lines.table()
    if not len(answers.empty):
        return made
    nothing = answers.empty + query.semantics.emit_after
    head, middle = _ends(query, name)
    empty = Lines(nothing, weave(_dated(nothing, head, middle + _EMPTY)))
    starts = lines.woven.starts
    told = answers.evaluation if starts is None else answers.evaluation[starts]
    return _by_time(made, empty.table(), told, answers)


def _lines(query: Query, name: str, answers: Answers, dictionary: Dictionary) -> Lines:
    """The lines of what was found."""
    if isinstance(query.form, Select):
        return _solutions(query, name, answers, dictionary, JSONL).lines()
    at = answers.at + query.semantics.emit_after
    head, middle = _ends(query, name)
    if isinstance(query.form, Ask):
        dated = _dated(at, head, middle + '"boolean":')
        return Lines(at, weave([*dated, _truth(answers).framed("", "}\n")]))
    return _triples(at, answers, dictionary, head, middle + '"triples":["')


def _ends(query: Query, name: str) -> tuple[str, str]:
    """What stands before and after the time of a line."""
    return f'{{"query":{compact(name)},"at":"', f'","op":"{query.semantics.r2s.value}",'


def result_columns(query: Query, name: str, answers: Answers, dictionary: Dictionary) -> dict[str, pa.Array]:
    """``at`` and ``op``, then a column of canonical texts per variable (or per part of a triple). Where EMPTY
    asks for it, a row without ``op`` is an evaluation that had no results."""
    columns = written(_solutions(query, name, answers, dictionary, COLUMNS).columns())
    if not len(answers.empty):
        return columns
    nothing = {each: pa.nulls(len(answers.empty), column.type) for each, column in columns.items()}
    nothing["at"] = pa.array(answers.empty + query.semantics.emit_after)
    return _by_time(columns, nothing, answers.evaluation, answers)


def _solutions(query: Query, name: str, answers: Answers, dictionary: Dictionary, form: str) -> Block:
    """A query's rows: its solutions, the triples that it makes, or the truth."""
    if isinstance(query.form, Ask):
        fields = {"boolean": _truth(answers)}
    else:
        fields = {each: coded_texts(answers.columns[each], dictionary) for each in _columns_of(query)}
    if form == JSONL:
        fields = {each: Coded(field.codes, json_terms(field.texts)) for each, field in fields.items()}
    at = answers.at + query.semantics.emit_after
    owner = np.zeros(len(at), np.int64)
    numbers = None if answers.numbers is None else answers.numbers[0]
    return Block([name], [query.semantics.r2s.value], owner, at, fields, is_ordered(query.pattern), numbers)


def _columns_of(query: Query) -> Sequence[str]:
    """The columns of what a query selects or constructs."""
    return [each.name for each in query.form.variables] if isinstance(query.form, Select) else _TRIPLE


def _truth(answers: Answers) -> Coded:
    return Coded.of((answers.columns["boolean"] != 0).astype(np.int64), ["false", "true"])


def _triples(at: Ids, answers: Answers, dictionary: Dictionary, head: str, middle: str) -> Lines:
    """One line for the triples of each evaluation."""
    starts = np.flatnonzero(np.diff(answers.evaluation, prepend=answers.evaluation[:1] - 1))
    parts = [coded_texts(answers.columns[name], dictionary) for name in _TRIPLE]
    first, last = np.zeros(len(at), np.bool_), np.zeros(len(at), np.bool_)
    first[starts] = True
    last[starts[1:] - 1], last[-1:] = True, True
    if len(starts) < len(at):
        order = order_of_rows(answers.evaluation, parts, " ")
        parts = [part.take(order) for part in parts]
    seconds, fractions = _dated(at, head, middle)
    pieces = weave(
        [
            seconds.where(first, ""),
            fractions.where(first, '"'),
            *(Coded(part.codes, quoted(part.texts)).framed("", " ") for part in parts),
            Coded.of(last.astype(np.int64), ['.",', '."]}\n']),
        ],
        starts,
    )
    return Lines(at[starts], pieces)


def _dated(at: Ids, before: str, after: str) -> tuple[Coded, Coded]:
    """The times with what stands before and after them."""
    seconds, fractions = stamps(at)
    return seconds.framed(before), fractions.framed("", after)


def _by_time(
    rows: Mapping[str, pa.Array], others: Mapping[str, pa.Array], told: Ids, answers: Answers
) -> dict[str, pa.Array]:
    """Rows and, as ``others``, evaluations without any, in the order of evaluations; those of the rows are
    ``told``."""
    silent = answers.empty if answers.numbers is None else answers.numbers[1]
    order = pa.array(np.argsort(np.concatenate([told, silent]), kind="stable"))
    return {name: pa.concat_arrays([rows[name], others[name]]).take(order) for name in rows}


def _ties(at: Ids) -> Ids:
    """The rows that share their time with a neighbour."""
    if len(at) < 2:
        return np.empty(0, np.int64)
    equal = at[1:] == at[:-1]
    return np.flatnonzero(np.concatenate([equal, [False]]) | np.concatenate([[False], equal]))


def _sorted(at: Ids, keys: Sequence[Ids]) -> Ids:
    """The order by ``at``, which ascends already, then by each of the keys, whose values are small."""
    evaluation = np.cumsum(np.diff(at, prepend=at[:1]) != 0)
    wide = [int(key.max()) + 1 for key in keys]
    if (int(evaluation[-1]) + 1) * math.prod(wide) >= 2**62:
        return np.lexsort([*reversed(keys), at])
    for key, width in zip(keys, wide, strict=True):
        evaluation = evaluation * width + key
    return np.argsort(evaluation, kind="stable")


def order_of_rows(at: Ids, columns: Sequence[Coded], between: str = "") -> Ids:
    """The order by time, which ascends already, and by the columns' texts put together with ``between``; only
    rows that share their time move.

    No text is the beginning of another that goes on with ``between``, so this is the order by one column
    after the other; of JSON objects none is the beginning of another.
    """
    order = np.arange(len(at))
    tied = _ties(at)
    if len(tied):
        keys = [each.framed("", between).ranks[each.codes[tied]] for each in columns]
        order[tied] = tied[_sorted(at[tied], keys)]
    return order
