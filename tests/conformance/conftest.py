"""The tests of this folder read what they wrote, and hostile bytes on purpose: codecs for trusted bytes are told so."""

from __future__ import annotations

from typing import Any

import pytest

from zcser import registry


@pytest.fixture(autouse=True, scope="module")
def all_bytes_are_trusted() -> Any:
    plain = registry.codec

    def trusting(name: str, schema: Any, **options: Any) -> Any:
        if registry.codec_class(name).trusted_only:
            options = {"allow_untrusted_code": True, **options}
        return plain(name, schema, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "codec", trusting)
        yield
