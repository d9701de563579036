"""Sinks: where results go, and what each promises."""
