"""What the guard costs over the bare library: every codec of JSON and MessagePack, on dicts without tensors.

1. Arms are the library's own call as its documentation says is fastest, and zcser's codec with ``guard="off"``, with
   ``guard="on"``, and with the guard on but without its C part. All give the same bytes and the same values, which is
   checked before anything is timed.
2. They take turns, batch by batch in an order that is drawn anew each time, in several fresh processes. A ratio is of the
   p10 of clean batches in one process; the figure is the median of the processes' ratios, with the least and the
   greatest beside it.
3. 64 values that differ rotate: `telemetry-1k` is about 1 KB of JSON, `llm-chunk` a call of less than a microsecond.

Run: ``python -m benchmarks.guards [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; about a minute.
"""
