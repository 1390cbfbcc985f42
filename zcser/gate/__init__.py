"""Floor 6: whether a new result is worse than an old one. Reads results only; `zcser diff` is its command."""
