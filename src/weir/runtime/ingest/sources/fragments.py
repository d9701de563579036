"""A fragments feed as a source: what a CONSTRUCT query over a fragments server adds, as it becomes valid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from weir.errors import UsageError
from weir.fragments.client import Options
from weir.language import parse
from weir.language.algebra.query import Construct
from weir.runtime.ingest.sources.push import PushSource

EVERYTHING = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentsSource(PushSource):
    """``query`` is evaluated over the data set at ``url`` whenever a fact that it read expires; the triples
    that an evaluation adds are a message of that instant, and one that adds nothing is a heartbeat.

    ``least`` and ``most`` are seconds between two evaluations.
    """

    kind: ClassVar[str] = "fragments"
    promise: ClassVar[str] = (
        "exactly once while the job runs; after a break what holds then comes again,"
        " and what came and went meanwhile is missed"
    )

    url: str
    query: str = EVERYTHING
    least: float = 0.1
    most: float = 60.0

    @property
    def beats(self) -> str:
        """Evaluations are heartbeats of their own."""
        return self.heartbeat or "off"

    def check(self) -> None:
        PushSource.check(self)
        if not isinstance(parse(self.query, dialect="sparql").form, Construct):
            raise UsageError("only CONSTRUCT makes a stream", hint="write CONSTRUCT { … } WHERE { … }")
        self.options()

    def options(self) -> Options:
        """How to follow: for ever, also while there is nothing dynamic."""
        return Options(min_interval=self.least, max_interval=self.most, stop_when_static=False)
