"""Frames: messages that say what they are, checked before they are decoded.

A frame is a head of 64 bytes, then a message as one piece or as segments (`zcser.frame.layout` has every byte). The head
names the wire and the schema, the lengths, and how the rest is checksummed, so that cut, torn, foreign or damaged bytes
are refused with the reason instead of being decoded to something else.

1. The head has a checksum of its own, always. The rest has one unless the writer chose none.
2. Segments are written from where they lie, and read as views of where they were received.
3. Lengths are held to `max_bytes` before anything is allocated or read.
4. Whatever is wrong with a frame's bytes is a `FrameError`, which is a `DecodeError`. What the operating system says
   (`OSError`, a time-out among them) goes through as it is.
"""

from zcser.frame.read import Frame
from zcser.frame.stream import read_frame, read_frames, write_frame
from zcser.frame.write import frame_segments

__all__ = ["Frame", "frame_segments", "read_frame", "read_frames", "write_frame"]
