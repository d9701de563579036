"""The pipeline on Spark: throughput and latency against plain Spark jobs."""

__all__ = ["benchmark", "data", "jobs"]
