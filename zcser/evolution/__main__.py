"""The matrix of zcser's own codecs, all of which must be installed.

``python -m zcser.evolution > docs/EVOLUTION.md`` writes the document, and ``python -m zcser.evolution --json >
zcser/report/page/assets/evolution.json`` what pages show of it, since to run it takes longer than to make a page.
"""

import dataclasses
import json
import sys

from zcser import registry
from zcser.evolution.matrix import markdown, sections

own = sorted(name for name in registry.names() if registry.codec_class(name).__module__.startswith("zcser.codecs."))
found = sections(own)
if "--json" in sys.argv[1:]:
    print(json.dumps([dataclasses.asdict(one) for one in found], indent=1))
else:
    print(markdown(own, found), end="")
