"""Floor 2, above the trees: the Thrift form of a schema, its IDL, and the structs of a value as Thrift's libraries take it."""
