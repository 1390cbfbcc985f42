"""Floor 0: what every other part of zcser stands on. The standard library and numpy, nothing else."""
