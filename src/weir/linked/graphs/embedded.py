"""Small graphs read into memory: files of any format as tables, all of them or an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weir.errors import DataError
from weir.kernel.contract import Background, GraphTable
from weir.linked.graphs.files import graph_files, read_file
from weir.linked.graphs.tables import DEFAULT
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary

_SHOWN = 20


def read_graphs(sources: Mapping[str, Sequence[Path]], dictionary: Dictionary) -> Background:
    """The graphs of files and folders, by IRI ("" is the default graph); texts go into ``dictionary``.

    Statements that name a graph of their own (N-Quads, TriG, JSON-LD) go there; the rest into the graph
    that the file was given for. Malformed input is a ``DataError`` that lists file, line and reason.
    """
    columns: dict[str, list[list[Ids]]] = {}
    problems: list[str] = []
    for name, paths in sources.items():
        columns.setdefault(name, [])
        for file in graph_files(paths):
            for piece in read_file(file, dictionary.key):
                problems += [f"{file.path}:{item.line}: {item.reason}" for item in piece.rejected]
                for terms in piece.columns:
                    known = terms.ids > 0
                    dictionary.add(terms.ids[known], terms.texts.filter(known).to_list())
                graph = piece.graph.column
                for number in np.unique(graph).tolist():
                    target = dictionary.text(number)[1:-1] if number else name
                    rows = graph == number
                    parts = [column.column[rows] for column in piece.columns[:3]]
                    columns.setdefault(target, []).append(parts)
    if problems:
        raise DataError(
            f"{len(problems)} malformed {'line' if len(problems) == 1 else 'lines'} in graph files",
            detail="\n".join(problems[:_SHOWN]) + ("\n…" if len(problems) > _SHOWN else ""),
            hint="mend or remove these lines: a graph is read whole or not at all",
        )
    tables = {name: _table(parts) for name, parts in columns.items()}
    default = tables.pop(DEFAULT, GraphTable.empty())
    return Background(default, tables)


def _table(parts: Sequence[Sequence[Ids]]) -> GraphTable:
    if not parts:
        return GraphTable.empty()
    rows = np.unique(
        np.stack([np.concatenate([part[place] for part in parts]) for place in range(3)]), axis=1
    )
    return GraphTable(rows[0], rows[1], rows[2])
