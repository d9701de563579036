"""Terms as 64-bit ids: inline literals, a keyed hash, and the dictionary of hashed texts."""
