"""The walk over a message's wire form: in C where it was built, else in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from zcser.core.buffers import Buffer
from zcser.native import backend
from zcser.protowire.routes import Routes

__all__ = ["Walker", "make_walker"]


class Walker(Protocol):
    """What both walks do. Neither checks more of a message than it needs: upb parses what they give."""

    def cut(self, data: Buffer, least: int, gaps: Sequence[tuple[int, int]] = (), /) -> bytes | None:
        """A message with stand-ins for its payloads, and the lengths around them mended.

        Parameters
        ----------
        data
            The message, of less than 2 GiB. Where there are gaps: what lies before, between and behind them.
        least
            Payloads of so many bytes, at least 1, get a stand-in; smaller ones do where they have the size of one.
        gaps
            Payloads that lie elsewhere: the first byte of each in the message, and its size, which is not 0; by rising
            place. They get stand-ins of the buffers 1, 2 and so on; what lies in `data`, of buffer 0.

        Returns
        -------
        bytes or None
            None where the way to a payload cannot be walked, or a gap is not just the payload of one field.

        Notes
        -----
        Copies: all but the payloads.
        """

    def splice(self, head: bytes, aligned: bool, /) -> tuple[bytes, list[int]] | None:
        """Inverse of `cut`: a message less its payloads, and where they belong.

        Parameters
        ----------
        head
            A message with stand-ins, as upb wrote it.
        aligned
            Put padding around the data of tensors; see `zcser.protowire.padding`.

        Returns
        -------
        tuple or None
            The bytes of the message without its payloads, the lengths around these already as they are to be; and for
            each payload its place in those bytes and the number in its stand-in, all in one list. None where `head` is
            no message.
        """


def make_walker(routes: Routes) -> Walker:
    """The walk along some routes."""
    if backend == "native":
        from zcser.native import _protowire

        return _protowire.Walker(routes.nodes, routes.root)
    from zcser.protowire.pure import PureWalker

    return PureWalker(routes.nodes, routes.root)
