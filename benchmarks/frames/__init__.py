"""What frames cost: reading and checking one, and making one, by checksum and size.

1. All arms of a process take turns, batch by batch in an order that is drawn anew each time, in several fresh processes.
   A figure is the median of the processes' p10 of clean batches, with the least and the greatest beside it.
2. A batch goes through frames of 64 lengths about a size equally often; four of those of a megabyte.
3. Reading is `read_frame` of bytes: the head with its CRC-32, all lengths, the checksum where there is one. The segments
   are opened in a row of their own. Making is `frame_segments` of a byte string, beside `encode` alone.

Run: ``python -m benchmarks.frames [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; half a minute.
"""
