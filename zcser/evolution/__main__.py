"""``python -m zcser.evolution > docs/EVOLUTION.md``: the matrix of zcser's own codecs, all of which must be installed."""

from zcser import registry
from zcser.evolution.matrix import markdown

own = sorted(name for name in registry.names() if registry.codec_class(name).__module__.startswith("zcser.codecs."))
print(markdown(own), end="")
