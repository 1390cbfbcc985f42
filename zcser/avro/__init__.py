"""Floor 2, above the trees: the Avro form of a schema, its text, and the datum of a value as Avro libraries take it."""
