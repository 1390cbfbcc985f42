"""zcser's views of JSON text against pysimdjson itself and orjson, side by side.

1. The arms take turns, batch by batch in an order that is drawn anew each time, in several fresh processes. A ratio is of
   the p10 of clean batches in one process; the figure is the median of the processes' ratios, with the least and the
   greatest beside it.
2. pysimdjson is at its best: one parser, used again for each text, and nothing checked. Our codec has its guard on, and
   pointers are made before.
3. What was to be equal was found equal before it is timed: an arm that gives another value stops the study.
4. Where a view loses there is a row for it: all fields through the view, against decoding.

Run: ``python -m benchmarks.jsonview [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; some two minutes.
"""
