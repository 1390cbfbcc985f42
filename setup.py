"""The C parts. Each is optional: without a compiler the install succeeds, and zcser says what it does without them."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        # No Python module: a shared library that ctypes loads and LD_PRELOAD takes. Any CPython can use it.
        Extension(
            "zcser.native._zcount",
            ["zcser/native/zcount.c"],
            extra_compile_args=["-O2", "-fvisibility=hidden"],
            libraries=["dl"],
            optional=True,
        )
    ]
)
