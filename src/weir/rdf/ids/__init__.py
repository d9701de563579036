"""Terms as 64-bit ids: ``inline`` literals, or a keyed hash of the text (``encoding``), whose texts the
``dictionary`` keeps."""

__all__ = ["dictionary", "encoding", "inline"]
