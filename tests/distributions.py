"""What is in an sdist and in a wheel: ``python -m tests.distributions FOLDER``, in a checkout, for those in a folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

UNPACKAGED = {".gitignore"}
GENERATED = {"PKG-INFO", "setup.cfg"}
BUILT = {f"zcser/native/_{part}" for part in ("flat", "frame", "header", "protowire", "tree", "zcount")}


def main(folder: Path) -> None:
    """Hold both to the files of the checkout."""
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    git = shutil.which("git") or "git"
    listed = subprocess.check_output([git, "ls-files", "--cached", "--others", "--exclude-standard"], text=True)
    checkout = {name for name in listed.splitlines() if Path(name).exists()}
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    _same("the sdist", {name for name in names if ".egg-info/" not in name} - GENERATED, checkout - UNPACKAGED)

    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    built = {name for name in names if name.endswith(".so")}
    _same("the wheel", {name.partition(".")[0] for name in built}, BUILT)
    # All of the package but the sources of what is built.
    expected = {name for name in checkout if name.startswith("zcser/") and not name.endswith((".c", ".h"))}
    _same("the wheel", names - built, expected)


def _same(what: str, found: set[str], expected: set[str]) -> None:
    if found != expected:
        raise SystemExit(f"{what} lacks {sorted(expected - found)}, and has {sorted(found - expected)} besides")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
