"""What setup.cfg cannot say: work that a run need not do is done while the wheel is built.

The templates of the report are compiled, and the declarations of the parsers are put in one index.
"""

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
            from analyzer import parser_index, parsing  # noqa: PLC0415 - needs the path above
            from analyzer.ingest import known_files  # noqa: PLC0415 - the same
            from analyzer.report.compiling import compile_templates  # noqa: PLC0415 - the same

            known_files.note(parsing.registry().values())
            parser_index.write(Path(self.build_lib) / "analyzer" / "parsers", parsing.modules())
            compile_templates(Path(self.build_lib) / "analyzer" / "report")


setup(cmdclass={"build_py": BuildPy})
