"""SERVICE: remote data in a local view, kept fresh under a budget (Planning Ahead)."""
