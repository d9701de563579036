"""The query streamer: time-annotated Triple Pattern Fragments, server and client."""
