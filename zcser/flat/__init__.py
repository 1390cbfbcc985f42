"""Floor 2: FlatBuffers: the layout of a schema, its verifier, its .fbs text, and code for the official classes."""
