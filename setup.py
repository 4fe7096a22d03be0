"""What setup.cfg cannot say: work that a run need not do is done while the wheel is built (analyzer/wheel.py)."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


class BuildPy(build_py):
    """Builds the package, and what a run would have to make beside it."""

    def run(self) -> None:
        """Build as setuptools does, then add to the copy."""
        super().run()
        if not self.editable_mode:
            sys.path.insert(0, str(HERE))
            from analyzer.wheel import complete  # noqa: PLC0415 - needs the path above

            complete(Path(self.build_lib) / "analyzer")


setup(cmdclass={"build_py": BuildPy})
