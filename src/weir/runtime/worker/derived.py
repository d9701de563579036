"""The output of a CONSTRUCT as a stream, for the queries that read it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.contract import Answers
from weir.rdf.columns import sorted_set
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.messages import Messages
from weir.runtime.ingest.frames import Frame
from weir.runtime.output.results import order_of_rows
from weir.runtime.output.text_columns import coded_texts, texts_of
from weir.runtime.worker.members import Member
from weir.runtime.worker.texts import TextChunk


def frame_of(
    stream: str,
    first: int,
    maker: Member,
    answers: Answers,
    through: int,
    dictionary: Dictionary,
    *,
    counted: bool,
) -> Frame:
    """What was answered as messages, one per evaluation, numbered from ``first`` on. Where somebody counts
    triples, they are in the order in which they are written."""
    delay = maker.query.semantics.emit_after
    subject, predicate, target = (answers.columns[name] for name in ("subject", "predicate", "object"))
    if counted:
        coded = [coded_texts(ids, dictionary) for ids in (subject, predicate, target)]
        order = order_of_rows(answers.evaluation, coded, " ")
        subject, predicate, target = subject[order], predicate[order], target[order]
    _, firsts, message, counts = np.unique(
        answers.evaluation, return_index=True, return_inverse=True, return_counts=True
    )
    messages = Messages(
        answers.at[firsts] + delay,
        counts.astype(np.int64),
        message.astype(np.int64),
        np.arange(len(message)) - firsts[message],
        subject,
        predicate,
        target,
        np.zeros(len(message), np.int64),
    )
    return Frame(stream, "", first, through + delay, maker.done, messages)


def texts_in(
    frame: Frame, name: str, until: Callable[[int], int], dictionary: Dictionary
) -> TextChunk | None:
    """The texts of what a stream is made of, as a chunk of this name, for as long as ``until`` says that
    something may need them."""
    messages = frame.messages
    ids = sorted_set(np.concatenate([messages.subject, messages.predicate, messages.object]))
    ids = ids[ids > 0]
    if not len(ids):
        return None
    texts = texts_of(ids, dictionary)
    return TextChunk.of(name, ids, texts, until(int(messages.time[-1])))
