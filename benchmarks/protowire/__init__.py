"""Payloads spliced into protobuf messages and cut out of them, against protobuf driven by hand, side by side.

1. Every arm takes the user's own value, a dataclass, or the bytes of a message; conversion and the guard are inside ours.
   protobuf by hand is code without glue or guard over the same message classes.
2. Both walks and what they are compared with take turns, batch by batch in an order that is drawn anew each time, in
   several fresh processes. A ratio is of the p10 of clean batches in one process; the figure is the median of the
   processes' ratios, with the least and the greatest beside it.
3. malloc decides what large copies cost: *kept* is the state in which freed memory is used again, which suits protobuf
   best; in *mapped* each large block is mapped anew, as it is where blocks vary. Goals are held in the first.
4. What was to be equal was found equal before it is timed: an arm that does not give its value back stops the study.

Run: ``python -m benchmarks.protowire [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; some two minutes.
"""
