"""The pipeline without Spark: what is registered, what comes in, what workers keep, what goes out.

``pipeline`` has the stages as every runner calls them, ``direct`` is the runner without Spark.
"""

__all__ = ["direct", "pipeline"]
