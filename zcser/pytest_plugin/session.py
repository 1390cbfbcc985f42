"""One pytest session: the fixture, and what becomes of its figures in the JSON, on the screen and in the exit status.

It goes through pytest-benchmark's public fixture and hooks alone, and imports nothing heavy: what measures is imported
when a test calls ``zbench``.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from zcser.pytest_plugin.figures import Figures
    from zcser.pytest_plugin.fixture import ZBench
    from zcser.pytest_plugin.judge import Judge, Verdict

EXTRA = "zcser"
"""The key of all figures in the ``extra_info`` of a benchmark."""


class Session:
    """The plugin object of a session with pytest-benchmark.

    Parameters
    ----------
    preset
        How much is measured.
    judge
        The rules and their baseline; None where none were given.
    """

    def __init__(self, preset: str, judge: Judge | None) -> None:
        self._preset = preset
        self._judge = judge
        self._rows: list[dict[str, Any]] = []
        self._found: dict[str, Figures] = {}
        self._verdicts: Sequence[Verdict] = ()

    @pytest.fixture
    def zbench(self, benchmark: Any, request: pytest.FixtureRequest) -> ZBench:
        """Benchmark a callable, or an operation of a codec, with percentiles, memory and garbage collections."""
        from zcser.pytest_plugin.fixture import ZBench

        def keep(figures: Figures) -> None:
            benchmark.extra_info[EXTRA] = figures.to_json()
            self._found[request.node.nodeid] = figures

        return ZBench(benchmark, self._preset, keep)

    @pytest.hookimpl(optionalhook=True)
    def pytest_benchmark_update_json(self, output_json: dict[str, Any]) -> None:
        """Put the figures where pytest-benchmark's comparison looks for them."""
        for entry in output_json["benchmarks"]:
            found = entry["extra_info"].get(EXTRA)
            if found is not None:
                from zcser.pytest_plugin.figures import Figures, columns

                entry["stats"].update(columns(Figures.from_json(found)))

    @pytest.hookimpl(optionalhook=True, wrapper=True)
    def pytest_benchmark_group_stats(self, benchmarks: list[dict[str, Any]]) -> Generator[None, Any, Any]:
        """Note the rows of pytest-benchmark's table, those of the runs that it compares with among them."""
        # Copies, since pytest-benchmark changes the names as it shows them.
        self._rows = [dict(row) for row in benchmarks]
        return (yield)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge; a regression turns a passed session into a failed one."""
        if self._judge is None:
            return
        self._verdicts = self._judge.judge(self._found)
        if exitstatus == pytest.ExitCode.OK and any(verdict.regressed for verdict in self._verdicts):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(wrapper=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> Generator[None, Any, Any]:
        """Show the figures below pytest-benchmark's table, whose own rules may end the summary by an exception."""
        try:
            return (yield)
        finally:
            if self._found and not config.getoption("benchmark_quiet", default=False):
                from zcser.pytest_plugin.table import table_lines

                terminalreporter.section("zcser: percentiles, memory, garbage collections", sep="-", yellow=True)
                for line in table_lines(self._rows, self._found):
                    terminalreporter.write_line(line)
            if self._judge is not None:
                self._show_verdicts(terminalreporter)

    def _show_verdicts(self, terminal: pytest.TerminalReporter) -> None:
        terminal.section("zcser: rules", sep="-", yellow=True)
        if not self._verdicts:
            terminal.write_line("nothing to judge: no figures were taken in this session")
        for verdict in self._verdicts:
            terminal.write_line(str(verdict), red=verdict.regressed)
