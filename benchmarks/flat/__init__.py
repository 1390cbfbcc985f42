"""zcser's FlatBuffers engines against the official package, protobuf, msgspec and plain copies, side by side.

1. Every arm takes the user's own value, a dataclass or a dict, and gives one: conversion is inside, and so is the guard of
   our engines. The official package and protobuf run with ``guard="off"``, at their best.
2. Both of our engines and all that they are compared with take turns, batch by batch in an order that is drawn anew each
   time, in several fresh processes. A ratio is of the p10 of clean batches in one process; the figure is the median of the
   processes' ratios, with the least and the greatest beside it.
3. A batch goes through all values equally often: 64 that differ, fewer of those that are large.
4. What was to be equal was found equal before it is timed: an arm that does not give its value back stops the study.
5. Whatever cannot be taken here says why, and its goal counts as neither met nor missed.

Run: ``python -m benchmarks.flat [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; some two minutes, and up to four where it is not.
"""
