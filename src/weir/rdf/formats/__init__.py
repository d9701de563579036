"""From bytes to messages: stream lines (``tnq``), payloads and files in every RDF syntax.

``media`` lists the formats, ``times`` says what the time of a message is, ``payloads`` reads messages that
come one by one, ``units`` files of messages. ``guarded_parser`` is the only way into the strict RDF parsers,
``guards`` say what is never given to them.
"""

__all__ = ["guarded_parser", "guards", "media", "payloads", "times", "tnq", "tnq_split", "units"]
