"""The measuring core, measured: what counting and recording cost, and how far their figures can be trusted.

1. Whatever is timed runs in fresh processes; two sides of a ratio take turns, so that drift of the machine strikes both.
2. Every figure comes with its spread, and says over what: processes, pairs of processes, or operations.
3. A figure that cannot be taken here says why, and its goal counts as neither met nor missed.

Run: ``python -m benchmarks.measuring [-o DIR]`` from the checkout's root, on a machine that is otherwise idle; some three
minutes, two of them valgrind's.
"""
