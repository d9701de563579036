"""Linked Data beside the streams: static graphs, and remote endpoints under a budget."""
