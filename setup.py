"""The C parts. Each is optional: without a compiler the install succeeds, and zcser says what it does without them."""

from pathlib import Path

from setuptools import Extension, setup


def engine(name: str) -> Extension:
    """An engine in C: ``zcser.native._NAME``, of the sources in zcser/native/NAME."""
    folder = Path("zcser/native") / name
    return Extension(
        f"zcser.native._{name}",
        sorted(map(str, folder.glob("*.c"))),
        depends=sorted(map(str, folder.glob("*.h"))),
        extra_compile_args=["-std=c11", "-O3", "-fvisibility=hidden"],
        optional=True,
    )


setup(
    ext_modules=[
        # No Python module: a shared library that ctypes loads and LD_PRELOAD takes. Any CPython can use it.
        Extension(
            "zcser.native._zcount",
            ["zcser/native/zcount.c"],
            extra_compile_args=["-O2", "-fvisibility=hidden"],
            libraries=["dl"],
            optional=True,
        ),
        engine("flat"),
        engine("frame"),
        engine("header"),
        engine("protowire"),
        engine("tree"),
    ]
)
