"""Floor 2: the FlatBuffers layout of a schema, and the verifier of buffers."""
