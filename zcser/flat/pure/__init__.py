"""The engine in Python: code generated from a program."""
