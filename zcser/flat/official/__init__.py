"""FlatBuffers by the official package: code for its classes, generated from a layout."""
