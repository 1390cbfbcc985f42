"""Floor 7: the command line. `main` is the entry point of the ``zcser`` command and of ``python -m zcser``."""

from zcser.cli.app import main

__all__ = ["main"]
