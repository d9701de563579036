"""The papers' experiments, each reproducible by one command."""
