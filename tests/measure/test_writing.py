"""Files are replaced in one step; pipes, devices and what standard output goes to are written to as they are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.measure.examples import example
from zcser.measure.result import load_result
from zcser.measure.writing import write_whole


def test_what_a_link_points_to_is_replaced_and_the_link_stays(tmp_path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["target"]


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="a device of POSIX systems")
def test_a_device_is_written_to_and_stays():
    example().save("/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "text")
    reader.join(10)
    assert seen == ["text"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="a name of POSIX systems")
@pytest.mark.parametrize("mode", ["w", "a"])
def test_the_file_of_standard_output_has_all_in_order(tmp_path, mode):
    script = (
        "from tests.measure.examples import example\nprint('before'); example().save('/dev/stdout'); print('after')"
    )
    with (tmp_path / "out").open(mode) as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    first, document, last = (tmp_path / "out").read_text().splitlines()
    assert (first, last) == ("before", "after")
    (tmp_path / "result.json").write_text(document)
    assert load_result(tmp_path / "result.json") == example()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "result.json"]


def test_lone_surrogates_are_written_as_their_escapes(tmp_path):
    write_whole(tmp_path / "file", "\udc80")
    assert (tmp_path / "file").read_bytes() == rb"\udc80"
