"""Cap'n Proto: the layout of a schema, its ``.capnp`` text, and code that drives the library's builders and readers."""
