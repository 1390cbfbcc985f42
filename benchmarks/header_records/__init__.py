"""Record layouts of zcser against bare struct, ctypes and numpy, side by side: a header of 14 fields and 64 bytes.

1. Every arm reads or writes the same records, each at its offset in a larger buffer. What is timed was first found to give
   the same values, or to write the same bytes.
2. Our engines and all that they are compared with take turns, batch by batch in an order that is drawn anew each time, in
   several fresh processes. A ratio is of the p10 of clean batches in one process; the figure is the median of the
   processes' ratios, with the least and the greatest beside it.
3. Whole records are read by a call of ``unpack_from`` alone, ours or struct's. What takes an index or an attribute besides
   is a lambda, of every arm, so that a call of Python's lies on both sides of a ratio.
4. Whatever cannot be taken here says why, and its goal counts as neither met nor missed.

Run: ``python -m benchmarks.header_records [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; less than a minute.
"""
