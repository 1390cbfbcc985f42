"""Floor 2: the tree of builtins that JSON-like libraries take and give."""
