"""The pipeline without Spark: what is registered, what comes in, what workers keep, what goes out.

``pipeline`` has the stages as every runner calls them. ``direct`` runs their batches in one process,
``direct_loop`` as a job; ``running`` is what the jobs of all runners have in common.
"""

__all__ = ["direct", "direct_loop", "pipeline", "running"]
