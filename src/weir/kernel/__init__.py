"""The interval relation and its operators, windows, reports, R2S, routing, matching, the reference."""
