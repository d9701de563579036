"""The pipeline on Spark: throughput and latency against plain Spark jobs."""
