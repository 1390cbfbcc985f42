"""What the studies of this folder share: figures with goals, fresh processes, batches, the command line and its report."""

WARM_CALLS = 128
"""Past the longest free list of CPython, 80 lists or dicts."""
