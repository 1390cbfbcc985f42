"""Messages in protobuf's own JSON and text forms, by protobuf's own parsers, as wire bytes of their schema."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf import descriptor_pool, json_format, message_factory, text_format
from google.protobuf.message import Message

from zcser.core.errors import DecodeError
from zcser.protowire.given import ProtoSchema, descriptors_of

__all__ = ["json_reader", "text_reader"]


def json_reader(schema: ProtoSchema) -> Callable[[bytes], bytes]:
    """What makes wire bytes of a message in ProtoJSON.

    Parameters
    ----------
    schema
        From `zcser.load_proto` or `zcser.load_descriptors`.

    Returns
    -------
    callable
        Of UTF-8 text. Raises `DecodeError` where `google.protobuf.json_format` refuses it: a field that the message does
        not have, a value out of range, a name that one object repeats, a required field that is missing.
    """

    def parse(text: str, message: Message, pool: descriptor_pool.DescriptorPool) -> None:
        json_format.Parse(text, message, descriptor_pool=pool)

    return _reader(schema, parse, "ProtoJSON")


def text_reader(schema: ProtoSchema) -> Callable[[bytes], bytes]:
    """The same of a message in the text format."""

    def parse(text: str, message: Message, pool: descriptor_pool.DescriptorPool) -> None:
        text_format.Parse(text, message, descriptor_pool=pool)

    return _reader(schema, parse, "text format")


def _reader(
    schema: ProtoSchema, parse: Callable[[str, Message, descriptor_pool.DescriptorPool], None], form: str
) -> Callable[[bytes], bytes]:
    pool = descriptors_of(schema)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName(str(schema.root)))

    def read(data: bytes) -> bytes:
        message = cls()
        try:
            parse(data.decode(), message, pool)
            return bytes(message.SerializeToString())
        except Exception as error:
            # The parsers have several errors of their own, and let some of Python's through.
            raise DecodeError(f"not {schema.root} in {form}: {error}", codec="protobuf") from error

    return read
