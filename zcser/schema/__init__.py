"""Floor 1: the neutral schema that every codec is built from."""
