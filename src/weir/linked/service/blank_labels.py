"""Labels for the blank nodes of answers that stay the same from one request to the next.

A label means something inside of one answer only, and servers give others at every request. So a blank node
is named by what the answer says about it: by the rows it stands in, without what is blank in them. Law: rows
of a key that did not change at the endpoint get the labels they had, whatever else was asked for with them;
nodes that are different in an answer stay different, and one that stands in rows of several keys stays one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence

from weir.rdf.terms import BlankNode, Term, TripleTerm, relabelled


def with_stable_labels(
    columns: Mapping[str, Sequence[Term | None]], own: Collection[str], scope: str
) -> dict[str, list[Term | None]]:
    """The columns of an answer with other labels; ``own`` are those that name a node, the rest only tell
    nodes apart that these do not. ``scope`` is what was asked of whom, but for the keys."""
    blank = {name for name, column in columns.items() if any(_has_blanks(term) for term in column)}
    if not blank:
        return {name: list(column) for name, column in columns.items()}
    told: dict[str, tuple[list[str], list[str]]] = {}
    for row in zip(*columns.values(), strict=True):
        labels: dict[str, list[str]] = {}
        shown = {name: _shown(term, name, labels) for name, term in zip(columns, row, strict=True)}
        if labels:
            named = "\t".join(f"{name}={text}" for name, text in shown.items() if name in own)
            whole = "\t".join(f"{name}={text}" for name, text in shown.items())
            for label, places in labels.items():
                about, rows = told.setdefault(label, ([], []))
                about.append(f"{places} {named}")
                rows.append(whole)
    names: dict[str, str] = {}
    taken: dict[str, int] = {}
    for label, (said, _) in sorted(told.items(), key=lambda item: (*map(sorted, item[1]), item[0])):
        text = "\n".join(sorted(said))
        twin = taken[text] = taken.get(text, -1) + 1
        digest = hashlib.blake2b(f"{scope}\n{text}\n{twin}".encode(), digest_size=12)
        names[label] = f"s{digest.hexdigest()}"
    return {
        name: [_renamed(term, names) for term in column] if name in blank else list(column)
        for name, column in columns.items()
    }


def _has_blanks(term: Term | None) -> bool:
    match term:
        case BlankNode():
            return True
        case TripleTerm(subject, _, target):
            return _has_blanks(subject) or _has_blanks(target)
    return False


def _shown(term: Term | None, name: str, labels: dict[str, list[str]]) -> str:
    """A term's text without labels, which are noted with the column they stand in."""
    if not _has_blanks(term):
        return "" if term is None else str(term)
    assert term is not None

    def note(label: str) -> str:
        labels.setdefault(label, []).append(name)
        return "b"

    return str(relabelled(term, note))


def _renamed(term: Term | None, names: Mapping[str, str]) -> Term | None:
    return relabelled(term, names.__getitem__) if term is not None and _has_blanks(term) else term
