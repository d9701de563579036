"""Deterministic data for the benchmarks."""

__all__ = ["conference", "conference_files", "energy", "library"]
