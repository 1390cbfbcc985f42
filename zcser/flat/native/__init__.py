"""The Python half of the engine in C."""
