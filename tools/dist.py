"""Build what is handed out: wheel, wheels of all dependencies, one file that runs, checksums.

    python tools/dist.py [-o dist] [--no-cluster] [--no-single] [--constraint FILE]

Into the folder, which is made anew as a whole:

    backline-VERSION-py3-none-any.whl
    wheelhouse/            the wheel and all it needs with the extra `web`, for this system and this Python;
                           pip as well, since pipx asks for a recent one
    wheelhouse-cluster/    what the extra `cluster` needs next to that
    backline-VERSION-cpXY-PLATFORM.pex    one file that needs nothing but this Python
    constraints.txt        the versions; with --constraint the next build takes the same
    INSTALL.txt, SHA256SUMS

The wheel and the single file are the same bytes for the same commit and the same versions: times are those of the
last commit, the files those that git knows. The index of packages is asked for the dependencies only.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (
    "analyzer",
    "docs",
    "parsers",
    "templates",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
)
INSTALL = """Backline {version}, for CPython {python} on {platform}. Nothing here asks a package index.

With pipx
  pipx install --python python{python} --pip-args='--no-index --find-links wheelhouse' 'backline[web]'

Into a virtual environment
  python{python} -m venv backline
  backline/bin/pip install --no-index --find-links wheelhouse 'backline[web]'
  (with what lies in wheelhouse-cluster: --find-links wheelhouse --find-links wheelhouse-cluster 'backline[web,cluster]')

As one file
  {single} --version
  It unpacks itself into ~/.cache/pex at the first start; PEX_ROOT=FOLDER names another place.

Check what you got: sha256sum -c SHA256SUMS
"""


class BuildError(Exception):
    """A step failed; its text says which."""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build what is handed out.")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-cluster", action="store_true", help="leave the extra `cluster` out")
    parser.add_argument("--no-single", action="store_true", help="do not build the single file")
    parser.add_argument("--constraint", type=Path, help="a constraints.txt of an earlier build")
    options = parser.parse_args(words)
    os.environ["SOURCE_DATE_EPOCH"] = find_epoch()
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    output: Path = options.output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".dist-", dir=output.parent) as work:
            made = Path(work) / "dist"
            build_all(made, Path(work), options)
            if output.exists():
                output.rename(Path(work) / "before")
            made.rename(output)
    except BuildError as error:
        sys.stderr.write(f"dist: {error}\n")
        return 1
    print_sizes(output)
    return 0


def build_all(made: Path, work: Path, options: argparse.Namespace) -> None:
    """Build everything into `made`."""
    wheel = build_wheel(made, work)
    house = made / "wheelhouse"
    constraint = options.constraint
    if not options.no_cluster:  # first, so that both take the same versions
        everything = made / "wheelhouse-cluster"
        download_wheels(everything, f"{wheel}[web,cluster]", constraint)
        constraint = work / "constraints.txt"
        constraint.write_text("\n".join(list_pins(made)), encoding="utf-8")
        download_wheels(house, f"{wheel}[web]", constraint, everything)
        for path in house.iterdir():
            (everything / path.name).unlink()
    else:
        download_wheels(house, f"{wheel}[web]", constraint)
    words = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(house)]
    if options.constraint:
        words += ["--constraint", str(options.constraint.absolute())]
    run_module("pip for the wheelhouse", "pip", *words, "pip")
    version = wheel.name.split("-")[1]
    tag = sys.implementation.cache_tag.replace("cpython-", "cp")
    single = f"backline-{version}-{tag}-{name_platform()}.pex"
    if not options.no_single:
        build_single(made / single, house, work)
    (made / "constraints.txt").write_text(
        "".join(f"{line}\n" for line in list_pins(made)), encoding="utf-8"
    )
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    text = INSTALL.format(
        version=version, python=python, platform=name_platform(), single=f"./{single}"
    )
    (made / "INSTALL.txt").write_text(text, encoding="utf-8")
    (made / "SHA256SUMS").write_text(hash_files(made), encoding="utf-8")


def build_wheel(made: Path, work: Path) -> Path:
    """Build the wheel from a clean copy: a folder `build` of an earlier time would slip old modules in."""
    source = work / "source"
    copy_source(source)
    run_module(
        "the wheel", "build", "--wheel", "--no-isolation", "--outdir", str(made), str(source)
    )
    return next(made.glob("backline-*.whl"))


def copy_source(source: Path) -> None:
    """Copy the files that git knows or would add, with the same rights on every machine."""
    listing = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *NEEDED)
    try:
        names = subprocess.run(
            listing, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"git gave no answer which files belong to the source: {error}") from None
    for name in sorted({name for name in names if name and (ROOT / name).is_file()}):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(0o644)


def download_wheels(
    house: Path, wanted: str, constraint: Path | None, before: Path | None = None
) -> None:
    """Put the wheels of a requirement and of all it needs into a folder; `before` holds wheels to take first."""
    words = ["wheel", "--quiet", "--wheel-dir", str(house)]
    if constraint is not None:
        words += ["--constraint", str(constraint.absolute())]
    if before is not None:
        words += ["--find-links", str(before)]
    run_module("the wheels of the dependencies", "pip", *words, wanted)


def build_single(single: Path, house: Path, work: Path) -> None:
    """Build the single file from the wheels of the wheelhouse alone."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    run_module(
        "the single file", "pex", "--no-pypi", "--find-links", str(house), "--pex-root", str(work / "pex"),
        "--venv", "--sh-boot", "--python-shebang", f"/usr/bin/env {python}", "--no-strip-pex-env",
        "--script", "backline", "--output-file", str(single), "backline[web]",
    )  # fmt: skip


def run_module(what: str, module: str, *words: str) -> None:
    """Run a module of this Python; BuildError with the end of its output when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        output = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise BuildError(
            f"{what} could not be built ({module} ended with {done.returncode}):\n{output}"
        )


def find_epoch() -> str:
    """Return the time that everything gets: that of the last commit, in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return given
    last = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return last if last.isdigit() else "1704067200"


def name_platform() -> str:
    """Return the name of this system for file names."""
    return re.sub(r"[^A-Za-z0-9]+", "_", sysconfig.get_platform())


def list_pins(made: Path) -> list[str]:
    """Return `name==version` of the wheels that are not ours."""
    found = {tuple(path.name.split("-")[:2]) for path in made.glob("wheelhouse*/*.whl")}
    return [f"{name}=={version}" for name, version in sorted(found) if name != "backline"]


def hash_files(made: Path) -> str:
    """Return the lines of SHA256SUMS over all files."""
    lines = []
    for path in sorted(path for path in made.rglob("*") if path.is_file()):
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(made).as_posix()}\n")
    return "".join(lines)


def print_sizes(output: Path) -> None:
    """Print what was built, in MB of a million bytes."""
    for path in sorted(output.iterdir()):
        if path.is_file():
            files = [path]
        else:
            files = sorted(path.iterdir())
        size = sum(file.stat().st_size for file in files)
        if path.is_dir():
            many = f", {len(files)} wheels"
        else:
            many = ""
        print(f"{size / 1e6:8.1f} MB  {path.name}{many}")


if __name__ == "__main__":
    sys.exit(main())
