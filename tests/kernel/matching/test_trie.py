"""The tree of steps: shared prefixes, references, templates and origins."""

from __future__ import annotations

import numpy as np

from weir.kernel.matching.trie import Trie

NONE = -1
# Step 1 is linked to the subject of step 0 by its own subject: code 1 + 4·0 + 0 in the first byte.
LINKED = 1
SUBJECT_FREE = 0b110  # predicate and object are constants


def added(trie: Trie, *queries: list[int]) -> np.ndarray:
    """Star queries, given by their machines: every pattern has the same variable as subject."""
    width = max(map(len, queries))
    machines = np.array([query + [NONE] * (width - len(query)) for query in queries])
    links = np.where(np.arange(width) > 0, LINKED, 0) * np.ones_like(machines)
    return trie.add(machines, links, np.full_like(machines, SUBJECT_FREE))


def test_queries_share_the_prefix_they_have_in_common():
    trie = Trie()
    ends = added(trie, [1, 2], [1, 2, 3], [1, 4], [1, 2])
    assert len(trie) == 4
    assert ends[0] == ends[3]
    assert trie.steps(ends).tolist() == [2, 3, 2, 2]
    assert trie.path(int(ends[1]))[0].tolist() == [1, 2, 3]


def test_a_node_lives_while_a_query_ends_at_it_or_below_it():
    trie = Trie()
    ends = added(trie, [1, 2], [1, 2, 3])
    trie.drop(ends[:1])
    assert len(trie) == 3
    trie.drop(ends[1:])
    assert len(trie) == 0


def test_an_origin_is_where_a_variable_first_occurs():
    trie = Trie()
    (end,) = added(trie, [1, 2])
    assert trie.width(np.array([end])).tolist() == [1]
    assert trie.origins[end].tolist() == [0, -1, -1, -1]


def test_the_layout_has_the_children_of_every_node():
    trie = Trie()
    first, *_ = added(trie, [1], [1, 2], [1, 3])
    layout = trie.layout
    children = layout.children[layout.child_offsets[first] : layout.child_offsets[first + 1]]
    assert sorted(layout.child_machine.tolist()) == [2, 3]
    assert len(children) == 2
    assert layout.roots[layout.root_offsets[1] : layout.root_offsets[2]].tolist() == [first]
