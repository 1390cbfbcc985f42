"""``python -m zcser``: the command line without its script."""

import sys

from zcser.cli import main

if __name__ == "__main__":
    sys.exit(main())
