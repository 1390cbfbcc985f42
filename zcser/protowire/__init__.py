"""Floor 2: the protobuf form of a schema, built at run time."""
