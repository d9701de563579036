"""Ingest: from sources to frames, and from frames to messages in order.

A source's feed plans ``parts``; a ``stage`` reads each, or rows of a table, and ``matching`` makes the
``frames`` of every slot. ``order`` decides in which order messages go to the evaluators, and which are late.
"""

__all__ = ["frames", "matching", "order", "parts", "stage"]
