"""Ingest: from sources to frames, and from frames to messages in order."""
