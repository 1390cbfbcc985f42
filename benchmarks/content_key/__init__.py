"""What a content key costs, beside hashing an encoded message: of a 1 KB message, of token ids, and of tensors.

1. All arms of a process take turns, batch by batch in an order that is drawn anew each time, in several fresh processes.
   A figure is the median of the processes' p10 of clean batches, with the least and the greatest beside it.
2. Messages are the 64 first values of the payload ``request-1k``; the other values differ as well, but for tensors: 16 MiB,
   of which each process has one.
3. The other way to a key is to encode and to hash the bytes. Codecs are deterministic for that, so that the order of a
   dict makes no other key; even so it is another key with each codec.
4. Rows of tensors are bytes hashed in a second; ``hashlib`` over the same bytes is the bound.

Run: ``python -m benchmarks.content_key [-o DIR]`` from the checkout's root in the environment of the tests, on a machine
that is otherwise idle; a minute.
"""
