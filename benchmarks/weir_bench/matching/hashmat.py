"""HashMat and StringMat as the CTP-automata paper describes them, triple by triple, compiled with numba.

Construction combines all patterns into one automaton (section 2.2). Each arriving triple runs through it;
the machines that it reaches get it as a candidate, and the triple that leaves the window is removed from
its lists (Figure 3). Then every query one of whose lists changed has its conjunctive constraints verified,
query by query, over the candidates of its machines: the paper's CCR stage, and its bottleneck. HashMat
compares numbers, StringMat the texts themselves. ``pinned`` is kinder than the paper: only an arriving
triple starts a verification, and it takes part in every combination that is tried.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from weir.kernel.matching.join_order import Conjunctions
from weir.plan.analysis.conjunctions import MAX_PATTERNS
from weir.rdf.columns import Ids


class Automaton(NamedTuple):
    """The combined machine as an open-addressing table, who uses which machine, and the constraints.

    ``users`` are the queries of each machine; ``constraints`` are rows (left pattern, place, right pattern,
    place), those of each query together.
    """

    states: Ids
    symbols: Ids
    targets: Ids
    machines: Ids
    final: Ids
    users: Ids
    user_offsets: Ids
    constraints: NDArray[np.int64]
    constraint_offsets: Ids


class Texts(NamedTuple):
    """The bytes of all terms, one after another; a symbol is then the number of a term, 0 still ``?``."""

    data: NDArray[np.uint8]
    offsets: Ids


class Lists(NamedTuple):
    """The candidate lists: a ring of room enough per machine."""

    bases: Ids
    room: Ids
    heads: Ids
    lengths: Ids
    candidates: Ids


class Outcome(NamedTuple):
    """``results`` combinations that an arrival completed, ``verified`` queries, ``checks`` of constraints."""

    results: int
    verified: int
    checks: int


@njit(cache=True)
def _key(symbol: Any, texts: Any) -> Any:
    """What is hashed of a symbol: itself, or (FNV-1a) the bytes of its text."""
    if texts is None:
        return np.uint64(symbol)
    data, offsets = texts
    found = np.uint64(14695981039346656037)
    for place in range(offsets[symbol], offsets[symbol + 1]):
        found = (found ^ np.uint64(data[place])) * np.uint64(1099511628211)
    return found


@njit(cache=True)
def _same(one: Any, two: Any, texts: Any) -> Any:
    """Whether two symbols are equal; as texts, byte by byte."""
    if texts is None:
        return one == two
    data, offsets = texts
    length = offsets[one + 1] - offsets[one]
    if length != offsets[two + 1] - offsets[two]:
        return False
    place = 0
    while place < length and data[offsets[one] + place] == data[offsets[two] + place]:
        place += 1
    return place == length


@njit(cache=True)
def _slot(state: Any, key: Any, mask: Any) -> Any:
    mixed = key * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= np.uint64(state) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(40)) & mask


@njit(cache=True)
def _construct(offsets: Ids, symbols: Any, variables: Any, texts: Any) -> Any:
    patterns = len(symbols)
    capacity = 64
    while capacity < 12 * patterns:
        capacity *= 2
    mask = capacity - 1
    key_states = np.zeros(capacity, np.int64)
    key_symbols = np.zeros(capacity, np.int64)
    targets = np.full(capacity, -1, np.int64)
    machines = np.empty(patterns, np.int64)
    final = np.full(3 * patterns + 1, -1, np.int64)
    state_count, machine_count = 1, 0
    for pattern in range(patterns):
        state = 0
        for place in range(3):
            symbol = symbols[pattern, place]
            slot = _slot(state, _key(symbol, texts), mask)
            while targets[slot] >= 0 and not (
                key_states[slot] == state and _same(key_symbols[slot], symbol, texts)
            ):
                slot = (slot + 1) & mask
            if targets[slot] < 0:
                key_states[slot], key_symbols[slot], targets[slot] = state, symbol, state_count
                state_count += 1
            state = targets[slot]
        if final[state] < 0:
            final[state] = machine_count
            machine_count += 1
        machines[pattern] = final[state]

    queries = len(offsets) - 1
    user_offsets = np.zeros(machine_count + 1, np.int64)
    for pattern in range(patterns):
        user_offsets[machines[pattern] + 1] += 1
    for machine in range(machine_count):
        user_offsets[machine + 1] += user_offsets[machine]
    users = np.empty(patterns, np.int64)
    fill = user_offsets[:-1].copy()
    for query in range(queries):
        for pattern in range(offsets[query], offsets[query + 1]):
            users[fill[machines[pattern]]] = query
            fill[machines[pattern]] += 1

    count = 0
    constraint_offsets = np.zeros(queries + 1, np.int64)
    constraints = np.empty((9 * patterns * MAX_PATTERNS, 4), np.int64)
    for query in range(queries):
        first = offsets[query]
        for right in range(offsets[query + 1] - first):
            for left in range(right + 1):
                for one in range(3):
                    for two in range(one + 1 if left == right else 0, 3):
                        number = variables[first + left, one]
                        if number >= 0 and number == variables[first + right, two]:
                            constraints[count, 0], constraints[count, 1] = left, one
                            constraints[count, 2], constraints[count, 3] = right, two
                            count += 1
        constraint_offsets[query + 1] = count
    return (
        key_states,
        key_symbols,
        targets,
        machines,
        final,
        users,
        user_offsets,
        constraints[:count].copy(),
        constraint_offsets,
    )


@njit(cache=True)
def _follow(states: Ids, symbols: Ids, targets: Ids, state: Any, symbol: Any, key: Any, texts: Any) -> Any:
    mask = len(states) - 1
    slot = _slot(state, key, mask)
    while targets[slot] >= 0:
        if states[slot] == state and _same(symbols[slot], symbol, texts):
            return targets[slot]
        slot = (slot + 1) & mask
    return np.int64(-1)


@njit(cache=True)
def _reach(automaton: Any, triple: Any, texts: Any, out: Ids) -> Any:
    """The machines that a triple reaches: both transitions of every active state, level by level."""
    states, symbols, targets, final = (
        automaton.states, automaton.symbols, automaton.targets, automaton.final,
    )  # fmt: skip
    any_key = _key(np.int64(0), texts)
    active = np.zeros(8, np.int64)
    following = np.empty(8, np.int64)
    count = 1
    for place in range(3):
        key = _key(triple[place], texts)
        reached = 0
        for index in range(count):
            state = _follow(states, symbols, targets, active[index], triple[place], key, texts)
            if state >= 0:
                following[reached] = state
                reached += 1
            state = _follow(states, symbols, targets, active[index], np.int64(0), any_key, texts)
            if state >= 0:
                following[reached] = state
                reached += 1
        active, following, count = following, active, reached
    for index in range(count):
        out[index] = final[active[index]]
    return count


@njit(cache=True)
def _verify(
    query: Any,
    arrived: Any,
    pinned: Any,
    triples: Any,
    texts: Any,
    offsets: Any,
    automaton: Any,
    lists: Any,
    chosen: Any,
    places: Any,
    out: Any,
    written: Any,
) -> Any:
    """All combinations of candidates that satisfy the query's constraints, by backtracking.

    A combination counts, and is written out, if the triple that arrived takes part. With ``pinned`` ≥ 0 it
    stands in that pattern, and in no earlier one.
    """
    machines, constraints, constraint_offsets = (
        automaton.machines, automaton.constraints, automaton.constraint_offsets,
    )  # fmt: skip
    bases, room, heads, lengths, candidates = lists
    first = offsets[query]
    size = offsets[query + 1] - first
    low, high = constraint_offsets[query], constraint_offsets[query + 1]
    places[0] = 0
    depth, results, checks = 0, 0, 0
    while depth >= 0:
        machine = machines[first + depth]
        if depth == pinned:
            if places[depth] > 0:
                depth -= 1
                continue
            candidate = arrived
        else:
            if places[depth] >= lengths[machine]:
                depth -= 1
                continue
            at = heads[machine] + places[depth]
            if at >= room[machine]:
                at -= room[machine]
            candidate = candidates[bases[machine] + at]
        places[depth] += 1
        if depth < pinned and candidate == arrived:
            continue
        chosen[depth] = candidate
        good = True
        for number in range(low, high):
            if constraints[number, 2] != depth:
                continue
            checks += 1
            left = triples[chosen[constraints[number, 0]], constraints[number, 1]]
            if not _same(left, triples[candidate, constraints[number, 3]], texts):
                good = False
                break
        if not good:
            continue
        if depth + 1 < size:
            depth += 1
            places[depth] = 0
            continue
        fresh = pinned >= 0
        for index in range(size):
            if chosen[index] == arrived:
                fresh = True
        if fresh:
            row = (written + results) % len(out)
            out[row, 0] = query
            for index in range(size):
                out[row, 1 + index] = chosen[index]
            results += 1
    return results, checks


@njit(cache=True)
def _occupancy(triples: Any, texts: Any, window: int, automaton: Any, machine_count: int) -> Any:
    """The longest that each candidate list gets, so that lists can be plain rings."""
    lengths = np.zeros(machine_count, np.int64)
    longest = np.zeros(machine_count, np.int64)
    reached = np.empty(8, np.int64)
    for row in range(len(triples)):
        if row >= window:
            for index in range(_reach(automaton, triples[row - window], texts, reached)):
                lengths[reached[index]] -= 1
        for index in range(_reach(automaton, triples[row], texts, reached)):
            lengths[reached[index]] += 1
            longest[reached[index]] = max(longest[reached[index]], lengths[reached[index]])
    return longest


@njit(cache=True)
def _run(
    triples: Any, texts: Any, window: int, offsets: Ids, automaton: Any, room: Ids, pinning: bool, out: Any
) -> Any:
    machine_count = len(room)
    bases = np.zeros(machine_count, np.int64)
    for machine in range(1, machine_count):
        bases[machine] = bases[machine - 1] + room[machine - 1]
    candidates = np.empty(max(1, bases[-1] + room[-1]), np.int64)
    heads, lengths = np.zeros(machine_count, np.int64), np.zeros(machine_count, np.int64)
    lists = (bases, room, heads, lengths, candidates)
    users, user_offsets, machines = automaton.users, automaton.user_offsets, automaton.machines
    history = np.empty((window, 8), np.int64)
    history_counts = np.zeros(window, np.int64)
    seen = np.full(len(offsets) - 1, -1, np.int64)
    reached = np.empty(8, np.int64)
    chosen, places = np.zeros(MAX_PATTERNS, np.int64), np.zeros(MAX_PATTERNS, np.int64)
    affected = np.empty(len(offsets) - 1, np.int64)
    results, verified, checks = 0, 0, 0
    for row in range(len(triples)):
        place = row % window
        left = history_counts[place]
        for index in range(left):
            machine = history[place, index]
            heads[machine] = (heads[machine] + 1) % room[machine]
            lengths[machine] -= 1
        count = _reach(automaton, triples[row], texts, reached)
        for index in range(count):
            machine = reached[index]
            candidates[bases[machine] + (heads[machine] + lengths[machine]) % room[machine]] = row
            lengths[machine] += 1
        if pinning:
            for index in range(count):
                machine = reached[index]
                for user in range(user_offsets[machine], user_offsets[machine + 1]):
                    query = users[user]
                    if user > user_offsets[machine] and users[user - 1] == query:
                        continue
                    for pattern in range(offsets[query], offsets[query + 1]):
                        if machines[pattern] == machine:
                            found, tried = _verify(
                                query, row, pattern - offsets[query], triples, texts, offsets, automaton,
                                lists, chosen, places, out, results,
                            )  # fmt: skip
                            results, verified, checks = results + found, verified + 1, checks + tried
        else:
            total = 0
            for index in range(left + count):
                machine = history[place, index] if index < left else reached[index - left]
                for user in range(user_offsets[machine], user_offsets[machine + 1]):
                    if seen[users[user]] != row:
                        seen[users[user]] = row
                        affected[total] = users[user]
                        total += 1
            for index in range(total):
                found, tried = _verify(
                    affected[index], row, -1, triples, texts, offsets, automaton, lists, chosen, places, out,
                    results,
                )  # fmt: skip
                results, verified, checks = results + found, verified + 1, checks + tried
        history_counts[place] = count
        for index in range(count):
            history[place, index] = reached[index]
    return results, verified, checks


class HashMat:
    """The paper's system on numbers, or on texts: build it from a query set, then run it over triples."""

    def __init__(self, queries: Conjunctions, texts: Texts | None = None) -> None:
        self.queries = queries
        self.texts = texts
        self.automaton = Automaton(
            *_construct(queries.offsets, queries.symbols, queries.variables, _plain(texts))
        )

    def prepare(self, triples: Any, window: int) -> Ids:
        """Room for every candidate list, found before the clock starts."""
        count = int(self.automaton.final.max()) + 1
        longest: Ids = _occupancy(triples, _plain(self.texts), window, self.automaton, count)
        return np.maximum(longest, 1)

    def run(self, triples: Any, window: int, room: Ids, *, pinned: bool = False) -> Outcome:
        """Every combination that each arriving triple completes within the latest ``window`` triples."""
        out = np.empty((1 << 16, 1 + MAX_PATTERNS), np.int64)
        return Outcome(
            *_run(
                triples, _plain(self.texts), window, self.queries.offsets, self.automaton, room, pinned, out
            )
        )


def _plain(texts: Texts | None) -> tuple[Any, ...] | None:
    return None if texts is None else (texts.data, texts.offsets)


def texts_of(terms: pl.Series) -> Texts:
    """Term number n of ``terms`` is symbol n + 1; symbol 0 is ``?``."""
    array = pl.concat([pl.Series("term", ["?"]), terms.rename("term")]).to_arrow()
    offsets = np.frombuffer(array.buffers()[1], np.int64)[: len(array) + 1]
    return Texts(np.frombuffer(array.buffers()[2], np.uint8), offsets - offsets[0])
