"""Planning Ahead: how fresh remote views stay under a refresh budget, by policy."""
