"""Floor 1: C sources, and the one place that chooses between native and pure."""
