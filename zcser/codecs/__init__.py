"""Floor 3: one file per format. Codecs never import each other."""
