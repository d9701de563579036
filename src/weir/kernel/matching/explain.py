"""What ``weir explain --all`` says of a query set: states of the automaton, templates, what is shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from weir.kernel.matching.conjunctive import ConjunctiveSet
from weir.kernel.matching.constraints import constraints
from weir.kernel.matching.shared import SharedEvaluator
from weir.kernel.matching.steps import PLACES, link
from weir.language.writing.windows import rspql

_MOST = 20


def explain_all(shared: SharedEvaluator) -> str:
    """The whole query set, one block per set of conjunctions, then templates, then single queries."""
    lines = [f"{_count(len(shared), 'query', 'queries')}"]
    for (window, semantics), generations in shared.sets.items():
        for generation in generations:
            lines.append("")
            lines.append(f"conjunctions on <{window.stream}> {rspql(window)}, {semantics.r2s.name}")
            lines += [f"  {line}" for line in _set(generation.set)]
            if generation is not generations[0]:
                lines.append("  joins the set above once the window holds nothing older")
    for part in shared.templates:
        lines.append("")
        rows = len({reader.number for reader in part.readers.values()})
        lines.append(f"template of {_count(len(part), 'query', 'queries')}: {rows} different, evaluated once")
        lines.append(f"  {_some(list(part.readers))}")
    if shared.own:
        lines += ["", f"evaluated singly: {_count(len(shared.own), 'query', 'queries')}"]
        lines += [f"  {part.name}: {part.reason}" for part in shared.own]
    return "\n".join(lines) + "\n"


def _set(found: ConjunctiveSet) -> Iterator[str]:
    channels = found.channels
    statistics = found.statistics()
    patterns = sum(len(query.patterns) for query in channels.queries.values())
    yield (
        f"{_count(len(channels), 'query', 'queries')}, {statistics['channels']} different up to the names "
        "of variables; equal ones are evaluated once"
    )
    yield (
        f"automaton: {statistics['states']} states; {_count(patterns, 'triple pattern', 'triple patterns')} "
        f"share {_count(len(channels.matcher), 'machine', 'machines')}"
    )
    ends = channels.ends
    steps = int(channels.trie.steps(np.unique(ends)).sum())
    yield f"steps: {steps} of the different queries share {len(channels.trie)} nodes"
    found_templates = channels.trie.template(ends)
    templates = Counter(found_templates.tolist())
    example = dict(zip(found_templates.tolist(), ends.tolist(), strict=True))
    yield f"templates: {len(templates)}, with the number of their queries"
    for template, count in templates.most_common(_MOST):
        yield f"  {count:6}  {_shape(found, example[template])}"
    if len(templates) > _MOST:
        yield f"          and {len(templates) - _MOST} more"


def _shape(found: ConjunctiveSet, end: int) -> str:
    """A template's patterns, ``#`` for a constant, and its constraints by the names of Table 1."""
    machines, links = found.channels.trie.path(end)
    numbers: dict[tuple[int, int], int] = {}
    rows: list[list[int]] = []
    shown = []
    for step, machine in enumerate(machines.tolist()):
        symbols = found.channels.matcher.pattern(machine)
        row = []
        for place in range(PLACES):
            origin_step, origin_place = (int(part[0]) for part in link(links[step : step + 1], place))
            if symbols[place]:
                row.append(-1)
            elif origin_step >= 0:
                row.append(numbers[origin_step, origin_place])
            else:
                row.append(numbers.setdefault((step, place), len(numbers)))
        rows.append(row)
        shown.append("(" + " ".join("#" if number < 0 else f"?{number + 1}" for number in row) + ")")
    demands = ", ".join(str(constraint) for constraint in constraints(rows))
    return " ".join(shown) + (f"   {demands}" if demands else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
