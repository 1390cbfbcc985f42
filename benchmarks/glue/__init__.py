"""What conversion between a value and a library's own object costs, against glue written by hand for the same message.

1. `convert` and `restore` of four codecs whose libraries take another object each: dicts for orjson, dicts with bytes for
   msgpack, dicts with the names of branches for fastavro, messages for protobuf. What the libraries then do is not timed.
2. The glue by hand is what one writes for one message and one library, as fast as we could make it (`trees`, `datums`,
   `protobuf`): no loops over fields, no checks of any kind. It makes objects that give the same bytes, and reads the
   same values, which is checked before anything is timed.
3. zcser's ``guard="on"`` checks every value on the way, and raises instead of losing something; that is part of the
   figure. ``guard="off"`` does no more than the glue by hand does.
4. Arms take turns, batch by batch in an order that is drawn anew each time, in several fresh processes. A ratio is of the
   p10 of clean batches in one process; the figure is the median of the processes' ratios, with the least and the
   greatest beside it. 64 values that differ rotate.

Run: ``python -m benchmarks.glue [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; about two minutes.
"""
