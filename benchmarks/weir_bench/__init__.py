"""The papers' experiments, each reproducible by one command: ``weir bench NAME`` runs ``NAME.benchmark``."""

__all__ = [
    "city",
    "conference",
    "data",
    "fragments",
    "freshness",
    "language",
    "matching",
    "oxigraph",
    "peers",
    "plots",
    "replay",
    "report",
    "service",
    "spark",
]
