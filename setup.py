"""What setup.cfg cannot say: the templates of the report are compiled while the wheel is built.

Compiling them takes longer than filling them in, and would be done again in every run.
"""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent


class BuildPy(build_py):
    """Builds the package, and the compiled templates beside their sources."""

    def run(self) -> None:
        """Build as setuptools does, then compile the templates into the copy."""
        super().run()
        if not self.editable_mode:
            sys.path.insert(0, str(HERE))
            from analyzer.report.compiling import compile_templates  # noqa: PLC0415 - needs the path above

            compile_templates(Path(self.build_lib) / "analyzer" / "report")


setup(cmdclass={"build_py": BuildPy})
