"""Deterministic data for the benchmarks."""
