"""Ingest: from sources to frames, and from frames to messages in order.

A source's feed plans ``parts``; a ``stage`` reads each, or rows of a table, ``matching`` finds what queries
want (``pools``) and deals it to slots (``dealing``) as ``frames``. ``order`` decides in which order messages
go to the evaluators, and which are late.
"""

__all__ = ["dealing", "frames", "matching", "order", "parts", "stage"]
