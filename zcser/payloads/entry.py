"""What a built-in payload is made from."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from zcser.core.dtypes import dtype_named
from zcser.payloads.base import Payload, PayloadError
from zcser.payloads.knobs import Knob, full_name, parse
from zcser.payloads.seeded import Seeded
from zcser.schema.from_python import schema_of

__all__ = ["Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A built-in payload.

    Attributes
    ----------
    doc
        For tables and listings.
    cls
        The class of its values.
    build
        Makes a value of a generator, the value's number, and its knobs by keyword.
    field, tensor
        See `Payload`.
    knobs
        By name, in the order in which they are shown.
    """

    doc: str
    cls: type
    build: Callable[..., Any]
    field: str
    tensor: str | None = None
    knobs: Mapping[str, Knob] = dataclasses.field(default_factory=dict)

    def payload(self, name: str, said: str = "") -> Payload:
        """The payload with the knobs as said.

        Raises
        ------
        PayloadError
            See `zcser.payloads.knobs.parse`; or its dtype needs ml_dtypes, which is not installed.
        """
        values = parse(name, said, self.knobs)
        try:
            if "dtype" in values:
                dtype_named(str(values["dtype"]))
        except LookupError as error:
            raise PayloadError(f"payload {name}: {error}") from None
        full = full_name(name, values, self.knobs)
        return Payload(
            name=full,
            doc=self.doc,
            schema=schema_of(self.cls),
            make=Seeded(full, functools.partial(self.build, **values) if values else self.build),
            field=self.field,
            fields=(self.field,),
            tensor=self.tensor,
        )
