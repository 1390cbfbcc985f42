"""The two tables that this project began with, taken again in Python, the original's figures beside them.

``message``: a message of 1 KB, written and read one million times. Time, collections of the garbage collector, bytes
allocated for each. The original, in another language, reports for writing it: protobuf as usual 428 ms, 1000k collections,
1280 B; with its tensor spliced into a reused buffer 136 ms, 2 collections, 0 B.
"""
