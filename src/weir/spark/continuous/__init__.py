"""A query over streaming DataFrames that is a streaming DataFrame itself, as one step of a user's own job."""

from weir.spark.continuous.streaming_query import continuous

__all__ = ["continuous"]
