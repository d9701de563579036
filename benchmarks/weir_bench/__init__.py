"""The papers' experiments, each reproducible by one command: ``weir bench NAME`` runs ``NAME.benchmark``."""

__all__ = [
    "answers",
    "city",
    "conference",
    "data",
    "fragments",
    "freshness",
    "language",
    "matching",
    "oxigraph",
    "pages",
    "peers",
    "plots",
    "replay",
    "report",
    "service",
    "spark",
    "suites",
]
