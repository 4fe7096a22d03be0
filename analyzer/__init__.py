"""Backline: an offline analyzer of VMware support material.

The parsers and templates lie beside this package in a checkout and inside it
once installed; the hook below makes `analyzer.parsers` and
`analyzer.templates` the same import in both.
"""

from analyzer import safepath

if safepath.started_as_module():  # the current folder is where Python would look first for all that comes now
    safepath.hold()

from pathlib import Path

__version__ = "0.1.0"

_root = Path(__file__).resolve().parent.parent
if (_root / "setup.cfg").is_file() and (_root / "parsers").is_dir():
    __path__.append(str(_root))
