"""Floor 4: what is measured: the seeded inference suite, and the user's own data."""
