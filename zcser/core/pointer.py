"""One place in the messages of a codec, found in the schema once and read from many messages."""

from __future__ import annotations

from typing import Any

from zcser.core.errors import DecodeError, ReleasedViewError
from zcser.core.paths import pointer
from zcser.core.view import View, at

__all__ = ["Pointer"]


class Pointer:
    """What `Codec.pointer` gives: call it with a view, or with a buffer that holds a message.

    Attributes
    ----------
    steps
        Names, keys and indices, in order.

    Notes
    -----
    Nothing but the steps is read. Copies and lifetime: as for the views of the codec; a view that is the result keeps
    the message alive.
    """

    __slots__ = ("_codec", "_keys", "_open", "steps")

    def __init__(self, codec: Any, steps: tuple[str | int, ...], keys: tuple[Any, ...] | None) -> None:
        self._codec = codec
        self._open = codec.view
        self.steps = steps
        self._keys = keys

    def __reduce__(self) -> tuple[Any, ...]:
        # `view` may be a native engine's, which does not pickle; a codec does.
        return Pointer, (self._codec, self.steps, self._keys)

    def __call__(self, message: Any) -> Any:
        """What stands there.

        Parameters
        ----------
        message
            A view of the codec; or any buffer that its `view` takes.

        Raises
        ------
        KeyError, IndexError
            This message has no such place; says which step leads nowhere.
        DecodeError
            The buffer is no message of the codec, or what stands on the way does not fit the schema.
        """
        root: Any = message if isinstance(message, View) else self._open(message)
        if self._keys is None:
            return at(root, self.steps)
        here: Any = root
        try:
            for key in self._keys:
                here = here[key]
        except (DecodeError, ReleasedViewError):
            raise
        except (LookupError, TypeError, ValueError):
            # at() goes the same way, and has the words.
            return at(root, self.steps)
        return here

    def __repr__(self) -> str:
        return f"<zcser pointer {pointer(self.steps)!r}>"
