"""Which triples of a stream a query's demand selects, and what stands for the names of graphs.

A graph's name travels as a triple of that graph: the first of each message, its *witness*. So names need no
columns of their own, and are in a window exactly as long as their messages are.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from weir.kernel.contract import NO_GRAPH
from weir.kernel.matching.automaton import Matcher
from weir.plan.analysis.demand import Wanted
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages


def witnesses(message: Ids, graph: Ids) -> Ids:
    """The first row of each named graph in each message, ascending; rows are in the order of messages."""
    named = np.flatnonzero(graph != NO_GRAPH)
    names, code = np.unique(graph[named], return_inverse=True)
    _, first = np.unique(message[named] * len(names) + code, return_index=True)
    return np.sort(named[first])


class Selection:
    """The triples that one query wants of one stream.

    Law: a query answers the same whether it is given all triples or those that its selection keeps.
    """

    def __init__(self, wanted: Iterable[Wanted], dictionary: Dictionary) -> None:
        self._triples, self._names = Matcher(), Matcher()
        for each in wanted:
            places = (each.subject, each.predicate, each.object, each.graph)
            matcher = self._names if each.names else self._triples
            matcher.add(np.atleast_2d(dictionary.encode_terms(places)))

    def of(self, messages: Messages) -> Messages:
        """All messages, without the triples that are not wanted."""
        keep = self._triples.mask(*messages.quads)
        if len(self._names):
            rows = witnesses(messages.message, messages.graph)
            keep[rows] |= self._names.mask(*(column[rows] for column in messages.quads))
        return messages.rows(keep)
