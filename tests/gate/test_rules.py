"""The grammar of rules."""

import pytest

from zcser.gate.rules import METRICS, RuleError, parse_rule, parse_rules


@pytest.mark.parametrize(
    ("text", "metric", "limit", "percent"),
    [
        ("p10>5%", "p10", 5, True),
        ("cost>5%", "p10", 5, True),
        (" P999 > 12.5 % ", "p999", 12.5, True),
        ("allocs>0", "allocs", 0, False),
        ("size>.5", "size", 0.5, False),
        ("bytes>1024", "bytes", 1024, False),
        ("gc>1.", "gc", 1, False),
    ],
)
def test_rule_is_a_metric_a_limit_and_perhaps_percent(text, metric, limit, percent):
    rule = parse_rule(text)
    assert (rule.metric.name, rule.limit, rule.percent) == (metric, limit, percent)
    assert parse_rule(rule.text) == rule


@pytest.mark.parametrize(
    "text",
    ["", "p10", "p10>", ">5%", "p10<5%", "p10>=5%", "p10>-5%", "p10>5%%", "p10>5 % x", "p10>nan", "p10>1e3", "p10>\u0665",
     "p10>5%\np99>5%", "x" * 10_000],
)  # fmt: skip
def test_text_that_is_no_rule_is_refused_with_an_example(text):
    with pytest.raises(RuleError, match="not a rule; write METRIC>NUMBER") as caught:
        parse_rule(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "near"), [("p9>5%", "p99"), ("alocs>0", "allocs"), ("p99.9>5%", "p999"), ("costs>5%", "cost")]
)
def test_unknown_metric_is_refused_with_near_names(text, near):
    with pytest.raises(RuleError, match=f"did you mean .*{near}"):
        parse_rule(text)


def test_unknown_metric_without_a_near_name_is_refused_with_all_names():
    with pytest.raises(RuleError) as caught:
        parse_rule("qqq>1")
    assert all(name in str(caught.value) for name in METRICS)


def test_limit_out_of_range_is_refused():
    with pytest.raises(RuleError, match="out of range"):
        parse_rule(f"p10>{'9' * 400}")


def test_two_rules_on_one_metric_are_refused_by_any_of_its_names():
    with pytest.raises(RuleError, match="two rules limit p10"):
        parse_rules(["p10>5%", "allocs>0", "cost>3%"])


def test_without_rules_there_are_default_ones():
    assert [rule.text for rule in parse_rules([])] == ["p10>3%", "allocs>0", "size>0"]


@pytest.mark.parametrize(
    ("text", "low", "high", "exceeded"),
    [
        ("size>0", 100, 100, False),
        ("size>0", 100, 101, True),
        ("size>10%", 100, 110, False),
        ("size>10%", 100, 111, True),
        ("size>10", 100, 110, False),
        ("size>10%", 0, 1, True),
        ("size>10%", 0, 0, False),
        ("size>0%", 100, 101, True),
    ],
)
def test_limit_is_exceeded_by_more_than_itself(text, low, high, exceeded):
    assert parse_rule(text).exceeded(low, high) is exceeded
