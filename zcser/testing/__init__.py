"""For those who write codecs: `check_codec` holds one to everything that zcser promises of every codec.

Nothing that `import zcser` loads imports this package. It needs neither pytest nor hypothesis.
"""

from zcser.testing.check import check_codec
from zcser.testing.report import CodecCheckError, Finding, Report

__all__ = ["CodecCheckError", "Finding", "Report", "check_codec"]
