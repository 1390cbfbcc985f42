"""Tensors of other libraries, by DLPack (https://dmlc.github.io/dlpack/latest/).

An object with ``__dlpack__`` stands wherever a tensor is wanted. One that lies in the host's memory is taken without a
copy; one on a device is refused, since to fetch it is a copy that only the caller can ask for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ForeignTensorError", "array_of", "is_foreign_tensor"]

_HOST = frozenset({1, 3, 11})
"""DLDeviceType: kDLCPU, and what CUDA and ROCm have pinned in the host's memory."""

_DEVICES = {
    2: "a CUDA device", 4: "an OpenCL device", 7: "a Vulkan device", 8: "a Metal device", 9: "a VPI device",
    10: "a ROCm device", 13: "memory that CUDA manages", 14: "a oneAPI device", 15: "a WebGPU device",
    16: "a Hexagon device", 17: "a MAIA device", 18: "a Trainium device",
}  # fmt: skip
"""DLDeviceType, in words."""


class ForeignTensorError(Exception):
    """Why a foreign tensor gives no array; the caller knows the path."""


def is_foreign_tensor(value: object) -> bool:
    """Whether a value is a tensor of another library. Subclasses of ndarray, masked arrays among them, are not."""
    return hasattr(type(value), "__dlpack__") and not isinstance(value, np.ndarray)


def array_of(tensor: Any) -> npt.NDArray[Any]:
    """The array over a foreign tensor's memory.

    Raises
    ------
    ForeignTensorError
        It lies on a device, its dtype has no DLPack form in numpy, or its library does not let it be exported.

    Notes
    -----
    Copies: none. Lifetime: the array keeps the tensor's memory alive.
    """
    name = type(tensor).__name__
    try:
        device = int(tensor.__dlpack_device__()[0])
        if device in _HOST:
            return np.from_dlpack(tensor)
    except Exception as error:
        # bfloat16 and its like: to numpy they are no dtype of DLPack.
        raise ForeignTensorError(
            f"the {name} gives no array by DLPack ({error}); detach it, or view a dtype that numpy lacks as unsigned "
            "integers of its width and the array as the ml_dtypes type"
        ) from error
    where = _DEVICES.get(device, f"a device of type {device}")
    raise ForeignTensorError(f"the {name} lies on {where}; copy it to the host first, as in .cpu()")
