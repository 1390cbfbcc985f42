"""The user's data in files: one module per kind, each of which imports its library when it is asked for."""
