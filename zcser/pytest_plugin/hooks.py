"""What pytest calls at its start: the options, the mark ``zcser``, and which of two plugins serves the session.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from zcser.pytest_plugin.judge import Judge

INSTALL = "pip install 'pytest-benchmark>=5.3,<6'"

AXES = {"payloads": "payload", "codecs": "codec", "operations": "operation"}
"""Keywords of the mark, and the arguments of the test that they fill, in the order of a test's id."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("zcser", "zcser: percentiles, memory and garbage collections of benchmarks")
    group.addoption(
        "--zcser-preset",
        metavar="NAME",
        default="quick",
        help="how much `zbench` measures: a preset of `zcser compare`, quick by default",
    )
    group.addoption(
        "--zcser-fail",
        metavar="RULE",
        action="append",
        default=[],
        help="fail the session where a figure exceeds the baseline's by more than this: 'p10>5%%', 'allocs>0'; "
        "may be given several times, needs --zcser-baseline",
    )
    group.addoption(
        "--zcser-baseline",
        metavar="FILE",
        help="what --zcser-fail compares with: a JSON file of pytest-benchmark that holds figures of `zbench`, or a result "
        "of `zcser compare`",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and register what the session needs.

    Raises
    ------
    pytest.UsageError
        A rule, the preset or the baseline is none.
    """
    config.addinivalue_line(
        "markers",
        "zcser(codecs=[...], payloads=[...], operations=[...]): run the test once for each combination of these names, "
        "which it takes as its arguments codec, payload and operation",
    )
    judge = _judge(config)
    _check_preset(config.getoption("--zcser-preset"))
    plugins = config.pluginmanager
    if plugins.hasplugin("benchmark") or plugins.hasplugin("pytest_benchmark.plugin"):
        from zcser.pytest_plugin.session import Session

        plugins.register(Session(config.getoption("--zcser-preset"), judge), "zcser-session")
    else:
        plugins.register(WithoutBenchmark(), "zcser-without-benchmark")


def _judge(config: pytest.Config) -> Judge | None:
    rules, baseline = config.getoption("--zcser-fail"), config.getoption("--zcser-baseline")
    if not rules and baseline is None:
        return None
    if not rules or baseline is None:
        given, needed = ("--zcser-fail", "--zcser-baseline") if rules else ("--zcser-baseline", "--zcser-fail")
        raise pytest.UsageError(f"{given} needs {needed} too")
    from zcser.core.errors import ZcserError
    from zcser.pytest_plugin.judge import make_judge

    try:
        return make_judge(rules, baseline)
    except ZcserError as error:
        raise pytest.UsageError(str(error)) from None


def _check_preset(name: str) -> None:
    if name == "quick":
        return
    from zcser.measure.presets import PRESETS

    if name not in PRESETS:
        raise pytest.UsageError(f"--zcser-preset {name!r} is none; presets are {', '.join(PRESETS)}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise a test by the names in its mark."""
    mark = metafunc.definition.get_closest_marker("zcser")
    if mark is None:
        return
    unknown = [repr(argument) for argument in mark.args] + [name for name in mark.kwargs if name not in AXES]
    if unknown:
        message = f"{metafunc.definition.nodeid}: the mark zcser takes {', '.join(AXES)}, not {', '.join(unknown)}"
        pytest.fail(message, pytrace=False)
    for axis, argument in AXES.items():
        if axis in mark.kwargs:
            metafunc.parametrize(argument, mark.kwargs[axis], ids=_id)


def _id(item: Any) -> str | None:
    """A name as it is, a payload by its name; None leaves anything else to pytest."""
    return item if isinstance(item, str) else getattr(item, "name", None)


class WithoutBenchmark:
    """Stands in where pytest-benchmark is not there."""

    @pytest.fixture
    def zbench(self) -> Any:
        """Needs pytest-benchmark, which is not installed or is switched off."""
        pytest.fail(f"zbench needs pytest-benchmark, which this session does not have: {INSTALL}", pytrace=False)
