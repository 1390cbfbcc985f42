"""The C parts. Each is optional: without a compiler the install succeeds, and zcser says what it does without them."""

from pathlib import Path

from setuptools import Extension, setup

FLAT = Path("zcser/native/flat")
TREE = Path("zcser/native/tree")

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
        Extension(
            "zcser.native._flat",
            sorted(map(str, FLAT.glob("*.c"))),
            depends=sorted(map(str, FLAT.glob("*.h"))),
            extra_compile_args=["-std=c11", "-O3", "-fvisibility=hidden"],
            optional=True,
        ),
        Extension(
            "zcser.native._tree",
            sorted(map(str, TREE.glob("*.c"))),
            depends=sorted(map(str, TREE.glob("*.h"))),
            extra_compile_args=["-std=c11", "-O3", "-fvisibility=hidden"],
            optional=True,
        ),
    ]
)
