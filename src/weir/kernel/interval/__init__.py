"""The vectorised kernel: relations over validity intervals, evaluated a slab at a time."""
