"""The pytest plugin: the fixture ``zbench``, for what zcser measures beside pytest-benchmark's own table.

1. It is loaded into every pytest session of whoever has zcser installed, so it imports pytest alone until a test asks for
   ``zbench`` or an option of ours is given; a session without either shows nothing of it.
2. pytest-benchmark times the operation in the test process, as it always does. The figures of zcser come from fresh
   processes, prepared as the workers of ``zcser compare`` are. What cannot travel to another process is measured in the
   test process, and is labelled so wherever it is shown.
3. Figures go into the ``stats`` of pytest-benchmark's JSON, which is where its own comparison reads them from.
4. A rule of ``--zcser-fail`` that cannot be judged is reported and fails nothing; a baseline that cannot be read is a
   usage error, before the first test runs.

This module imports nothing, because the measuring processes import it too: the hooks are in `zcser.pytest_plugin.hooks`.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

pytest_plugins = ("zcser.pytest_plugin.hooks",)
