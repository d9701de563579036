"""The papers' experiments, each reproducible by one command: ``weir bench NAME`` runs ``NAME.benchmark``."""

__all__ = [
    "conference",
    "data",
    "fragments",
    "freshness",
    "language",
    "matching",
    "oxigraph",
    "plots",
    "report",
    "service",
    "spark",
]
