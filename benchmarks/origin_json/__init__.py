"""The table that this project began with, in Python: a JSON array of 10,000 elements, read whole and as views.

1. Time is the p10 of clean batches of one call, the median of several fresh processes; the arms take turns.
2. Allocations are exact, in a preloaded process of their own: Python's allocators and malloc together.
3. Collections are those that run while 20 texts are read, results dropped one by one, and again with results kept; per
   text. The collector is at its defaults.
4. The original's figures stand beside them. They are of another language, machine and document, so that no column of
   theirs is to be divided by one of ours.

Run: ``python -m benchmarks.origin_json [-o DIR]`` from the checkout's root in the environment of the tests.
"""
