"""Messages read from bytes: stream lines, every RDF syntax, and the guards before the parsers."""
