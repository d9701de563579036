"""``weir compare``: where two queries differ on the same streams, and which option makes it so.

Two queries of one text in two dialects differ in what the dialects leave unsaid. What makes the difference
is found by trying: each option of the first query is put into the second, which is then run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import pyarrow as pa

from weir.language import Dialect, write
from weir.language.algebra.query import Query, canonical
from weir.language.syntax.durations import written
from weir.language.writing.terms import ShownTerms
from weir.language.writing.windows import kind_text, report_text, tick_text
from weir.rdf.terms import parse_term
from weir.runtime.output.text_columns import timestamp

Run = Callable[[str, str], pa.Table]
"""Runs a text in a dialect: its results as columns ``at``, ``op`` and texts."""
_SHOWN = 5
"""Rows of one side that are listed."""
_DURATIONS = ("lateness", "ahead", "emit_after")


@dataclass(frozen=True, slots=True)
class Part:
    """One option in which two queries differ: what each has, and the second query with the first one's."""

    name: str
    first: str
    second: str
    mended: Query


def compared(names: tuple[str, str], first: Query, second: Query, run: Run) -> tuple[bool, str]:
    """Whether two queries answer alike, and in words where and why they do not."""
    found = [_answers(run(query.text, query.dialect.value)) for query in (first, second)]
    lines = [
        f"{name} ({query.dialect.value}): {sum(map(Counter.total, each.values())):,} results "
        f"at {len(each):,} times"
        for name, query, each in zip(names, (first, second), found, strict=True)
    ]
    wrong = _wrong(*found)
    options = list(_options(first, second))
    if not wrong:
        lines.append("the same results" + (", though they differ in" if options else ""))
        return True, "\n".join([*lines, *_table(names, options)])
    lines.append(f"they differ at {len(wrong):,} of {len(found[0].keys() | found[1].keys()):,} times")
    lines += _where(names, wrong[0], *(each.get(wrong[0], Counter()) for each in found))
    lines += ["", "they differ in", *_table(names, options)] if options else []
    return False, "\n".join([*lines, "", *_why(names, found[0], len(wrong), options, first, run)])


Answers = Mapping[int, Counter[tuple[str, ...]]]


def _answers(table: pa.Table) -> Answers:
    """The rows of each time; of an answer that is a set of bindings, by the names of its variables."""
    found: dict[int, Counter[tuple[str, ...]]] = {}
    times = table["at"].cast(pa.int64()).to_pylist()
    names = sorted(table.column_names[2:])
    columns = [table[name].to_pylist() for name in names]
    for at, *values in zip(times, *columns, strict=True):
        row = tuple(
            f"?{name}={value}" for name, value in zip(names, values, strict=True) if value is not None
        )
        found.setdefault(at, Counter())[row] += 1
    return found


def _wrong(first: Answers, second: Answers) -> list[int]:
    """The times at which they differ."""
    none: Counter[tuple[str, ...]] = Counter()
    return [at for at in sorted(first.keys() | second.keys()) if first.get(at, none) != second.get(at, none)]


def _where(
    names: tuple[str, str], at: int, first: Counter[tuple[str, ...]], second: Counter[tuple[str, ...]]
) -> Iterator[str]:
    yield f"first at {timestamp(at)}"
    for name, rows in ((names[0], first - second), (names[1], second - first)):
        listed = sorted(rows.items())
        for row, count in listed[:_SHOWN]:
            yield f"  only {name}: {' '.join(map(_shown, row)) or '(a row without bindings)'}" + (
                f"  ({count} times)" if count > 1 else ""
            )
        if len(listed) > _SHOWN:
            yield f"  only {name}: and {len(listed) - _SHOWN:,} more rows"


def _shown(binding: str) -> str:
    name, _, text = binding.partition("=")
    return f"{name}={text if text in ('True', 'False') else ShownTerms({}).node(parse_term(text))}"


def _table(names: tuple[str, str], options: list[Part]) -> Iterator[str]:
    rows = [("", *names), *((part.name, part.first, part.second) for part in options)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, one, other in rows if options else ():
        yield f"  {name:<{widths[0]}}  {one:<{widths[1]}}  {other}"


def _why(
    names: tuple[str, str], wanted: Answers, before: int, options: list[Part], first: Query, run: Run
) -> Iterator[str]:
    """Which options make the difference: each put into the second query alone, then all of them."""
    if not options:
        yield "both have the same window options: their patterns or forms make the difference"
        return
    told = False
    for part in options:
        left = len(_wrong(wanted, _answers(run(write(part.mended, Dialect.RSPQL), "rspql"))))
        if not left:
            yield f"why: {part.name}. With {part.first}, {names[1]} gives what {names[0]} gives"
            return
        if left != before:
            told = True
            yield f"partly why: {part.name}. With {part.first}, {names[1]} differs at {left:,} times"
    if not told:
        yield "why: no one option alone; several together, or the patterns"


def _options(first: Query, second: Query) -> Iterator[Part]:
    """The options in which the queries differ; windows are compared in the order in which they are used."""
    one, other = canonical(first), canonical(second)
    for each in fields(one.semantics):
        mine, theirs = getattr(one.semantics, each.name), getattr(other.semantics, each.name)
        if mine != theirs:
            mended = replace(other, semantics=replace(other.semantics, **{each.name: mine}))
            yield Part(
                _NAMES.get(each.name, each.name), _text(each.name, mine), _text(each.name, theirs), mended
            )
    ours, windows = one.dataset.windows, other.dataset.windows
    if len(ours) != len(windows):
        return
    for place, (mine_in, theirs_in) in enumerate(zip(ours, windows, strict=True)):
        for holder in ("", "semantics"):
            mine, theirs = (getattr(w, holder) if holder else w for w in (mine_in, theirs_in))
            for each in fields(mine):
                values = getattr(mine, each.name), getattr(theirs, each.name)
                if each.name in ("name", "semantics", "in_default") or values[0] == values[1]:
                    continue
                changed: Any = replace(theirs, **{each.name: values[0]})
                window: Any = replace(theirs_in, semantics=changed) if holder else changed
                made = (*windows[:place], window, *windows[place + 1 :])
                mended = replace(other, dataset=replace(other.dataset, windows=made))
                which = f" of window {place + 1}" if len(windows) > 1 else ""
                name = f"{_NAMES.get(each.name, each.name)}{which}"
                yield Part(name, _text(each.name, values[0]), _text(each.name, values[1]), mended)


_NAMES = {"r2s": "operator", "kind": "window", "emit_after": "emit after", "times_distinct": "times distinct"}


def _text(name: str, value: Any) -> str:
    match name:
        case "report":
            return report_text(value)
        case "tick":
            return tick_text(value)
        case "kind":
            return kind_text(value)
        case "r2s" | "previous" | "content" | "bounds":
            return str(value.name if name == "r2s" else value.value)
        case "start":
            return "aligned to the step" if value is None else str(value)
    return written(value) if name in _DURATIONS else str(value)
