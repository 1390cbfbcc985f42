"""Percentile distributions against text of other HdrHistograms and against arithmetic by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.report.results import cell, realistic, result
from zcser.measure.hdr import percentile_distribution, write_distributions
from zcser.measure.histogram import histogram
from zcser.measure.result import Latency, ResultError

# From the tests of HdrHistogram's JavaScript port (assembly/__tests__/Histogram.spec.ts), values 25, 50 and 75; only
# the last line depends on the histogram's own layout.
PUBLISHED = """\
       Value     Percentile TotalCount 1/(1-Percentile)

      25.000 0.000000000000          1           1.00
      25.000 0.100000000000          1           1.11
      25.000 0.200000000000          1           1.25
      25.000 0.300000000000          1           1.43
      50.000 0.400000000000          2           1.67
      50.000 0.500000000000          2           2.00
      50.000 0.550000000000          2           2.22
      50.000 0.600000000000          2           2.50
      50.000 0.650000000000          2           2.86
      75.000 0.700000000000          3           3.33
      75.000 1.000000000000          3
#[Mean    =       50.000, StdDeviation   =       20.412]
#[Max     =       75.000, Total count    =            3]
"""


def latency(samples_ns=None, *, buckets=(), max_ns=0.0):
    if samples_ns is not None:
        buckets, max_ns = histogram(np.array(samples_ns)), float(max(samples_ns))
    count = sum(number for _, number in buckets)
    return Latency(count, None, None, None, None, max_ns, (), tuple(buckets))


def rows(text):
    """Value, percentile and count of each line."""
    lines = [line.split() for line in text.splitlines()[2:] if not line.startswith("#")]
    return [(float(value), float(share), int(count)) for value, share, count, *_ in lines]


def test_text_is_that_of_other_implementations():
    assert percentile_distribution(latency([50, 75, 25])) == PUBLISHED + (
        "#[Buckets =           48, SubBuckets     =           24]\n"
    )


def test_one_value_reaches_every_percentile_at_once():
    assert rows(percentile_distribution(latency([7, 7]))) == [(7.0, 0.0, 2), (7.0, 1.0, 2)]


def test_percentiles_get_denser_with_each_halving_of_the_distance_to_all():
    text = percentile_distribution(latency([10, 10, 10, 20]))
    # By hand: three of four samples reach 75%; steps of 10 up to 50%, of 5 up to 75%, of 2.5 from there.
    shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75]
    assert rows(text) == [*((10.0, share, 3) for share in shares), (20.0, 0.775, 4), (20.0, 1.0, 4)]
    # Mean (3 * 10 + 20) / 4; deviation sqrt((3 * 2.5**2 + 7.5**2) / 4).
    assert "#[Mean    =       12.500, StdDeviation   =        4.330]" in text


def test_last_column_is_one_over_the_share_above():
    lines = percentile_distribution(latency([10, 10, 10, 20])).splitlines()
    assert lines[7].split() == ["10.000", "0.500000000000", "3", "2.00"]
    assert lines[12].split() == ["10.000", "0.750000000000", "3", "4.00"]
    assert len(lines[14].split()) == 3


def test_bucket_stands_for_its_highest_value_and_the_last_one_for_the_maximum():
    # 2**10 is a bucket's beginning; the next begins at 1024 * 2**(1/24) = 1054.005..., so at 1055.
    found = rows(percentile_distribution(latency([1024, 5000])))
    assert found[0][0] == 1054.0
    assert found[-1] == (5000.0, 1.0, 2)


@pytest.mark.parametrize("sample_ns", [0, 1, 33, 35, 1000, 123_456, 10**9, 2**40 + 1])
def test_highest_value_is_in_the_bucket_and_the_next_nanosecond_is_not(sample_ns):
    ((low_ns, _),) = histogram(np.array([sample_ns]))
    highest_ns = int(rows(percentile_distribution(latency([sample_ns, 2**47])))[0][0])
    assert histogram(np.array([highest_ns])) == ((low_ns, 1),)
    assert histogram(np.array([highest_ns + 1])) != ((low_ns, 1),)


@pytest.mark.parametrize(
    "buckets", [(), ((10, 0),), ((10, 5), (9, 5)), ((10, 5), (10, 5)), ((-1, 1),), ((10**300, 1),)]
)
def test_what_is_no_histogram_is_refused(buckets):
    with pytest.raises(ResultError, match="buckets must ascend"):
        percentile_distribution(latency(buckets=buckets, max_ns=20.0))


def test_every_cell_with_a_latency_gets_a_file(tmp_path):
    made = realistic()
    written = write_distributions(made, tmp_path / "new" / "folder")
    assert len(written) == sum(one.latency is not None for one in made.cells)
    assert "baseline.struct.hgrm" in {path.name for path in written}
    path = tmp_path / "new" / "folder" / "token-chunk.orjson.encode.hgrm"
    assert path in written
    wanted = percentile_distribution(made.cell("token-chunk", "orjson", "encode").latency)
    assert path.read_text() == wanted


def test_names_cannot_leave_the_folder_and_stay_apart(tmp_path):
    some = latency([5])
    made = result([cell("a", "encode", 1, payload=name, latency=some) for name in ("../x", "//x", "p q", "p\nq")])
    names = [path.name for path in write_distributions(made, tmp_path)]
    assert names == ["_x.a.encode.hgrm", "_x.a.encode.2.hgrm", "p_q.a.encode.hgrm", "p_q.a.encode.2.hgrm"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match=r"cannot write .*file/"):
        write_distributions(realistic(), tmp_path / "file")


def test_result_without_latencies_is_an_error(tmp_path):
    made = dataclasses.replace(realistic(), cells=())
    with pytest.raises(ResultError, match="no cell"):
        write_distributions(made, tmp_path)
