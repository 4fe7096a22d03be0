"""The wheel is built in an environment of its own, which holds just what pyproject.toml asks for."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]

# The man page names all commands, so writing it imports what each of them imports.
BUILD = """
import pathlib, sys, tempfile
for name in {missing!r}:
    sys.modules[name] = None  # "import name" is refused as where it is not installed
sys.path.insert(0, {root!r})
from analyzer.cli import main
from analyzer.commands import wheel
with tempfile.TemporaryDirectory() as folder:
    wheel.write_man_page(pathlib.Path(folder), main)
"""


def list_needed_packages(names: set[str]) -> set[str]:
    """Return the canonical names of packages and of all that they ask for themselves."""
    found: set[str] = set()
    waiting = {canonicalize_name(name) for name in names}
    while waiting:
        name = waiting.pop()
        found.add(name)
        for line in requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting |= {canonicalize_name(needed.name)} - found
    return found


def write_man_page_with(packages: set[str]) -> subprocess.CompletedProcess[str]:
    """Write the man page in a process that has no other package than these and what they need."""
    kept = list_needed_packages(packages) | {"backline"}
    missing = sorted(
        module
        for module, owners in packages_distributions().items()
        if not kept.intersection(canonicalize_name(owner) for owner in owners)
    )
    script = BUILD.format(missing=missing, root=str(ROOT))
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def list_build_packages() -> set[str]:
    """Return the packages that pyproject.toml asks for to build the wheel."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {Requirement(line).name for line in project["build-system"]["requires"]}


def test_the_build_has_every_package_that_the_commands_import() -> None:
    done = write_man_page_with(list_build_packages())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["duckdb", "jinja2"])
def test_a_build_without_one_of_them_fails(package: str) -> None:
    """Else the test above would pass whatever is asked for."""
    done = write_man_page_with(list_build_packages() - {package})
    assert f"import of {package} halted" in done.stderr or "ModuleNotFoundError" in done.stderr
