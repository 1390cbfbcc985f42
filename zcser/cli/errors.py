"""What the command line itself finds wrong, beside the errors of the library below."""

from __future__ import annotations

from zcser.core.errors import ZcserError

__all__ = ["UsageError"]


class UsageError(ZcserError, ValueError):
    """The command line asks for something that cannot be; the message is one line for a person."""
