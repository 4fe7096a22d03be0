"""What setup.cfg cannot say: what is made while the wheel is built (analyzer/commands/wheel.py)."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

from distutils.command.install_data import install_data  # isort: skip - setuptools brings it

HERE = Path(__file__).resolve().parent
MAN_FOLDER = "share/man/man1"
sys.path.insert(0, str(HERE))


class BuildPy(build_py):
    """Builds the package, and what a run would have to make beside it."""

    def run(self) -> None:
        """Build as setuptools does, then add to the copy."""
        super().run()
        if not self.editable_mode:
            from analyzer.commands.wheel import complete  # noqa: PLC0415 - needs the path above

            complete(Path(self.build_lib) / "analyzer")


class InstallData(install_data):
    """Installs the man page, which is no file of the source: it is made of the help of the commands."""

    def run(self) -> None:
        """Make the page, then install it."""
        from analyzer.cli import main  # noqa: PLC0415 - needs the path above
        from analyzer.commands.wheel import write_man_page  # noqa: PLC0415 - the same

        page = write_man_page(Path(self.get_finalized_command("build").build_temp), main)
        self.data_files = [(MAN_FOLDER, [str(page)])]
        super().run()


setup(cmdclass={"build_py": BuildPy, "install_data": InstallData}, data_files=[(MAN_FOLDER, [])])
