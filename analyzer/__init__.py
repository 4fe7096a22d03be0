"""Backline: an offline analyzer of VMware support material.

The parsers and templates lie beside this package in a checkout and inside it
once installed; the hook below makes `analyzer.parsers` and
`analyzer.templates` the same import in both.
"""

from analyzer import safepath

if safepath.started_as_module():  # the current folder is where Python would look first for all that comes now
    safepath.hold()

import os

__version__ = "0.1.0"

_root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # pathlib takes as long as all the rest
if os.path.isfile(os.path.join(_root, "setup.cfg")) and os.path.isdir(os.path.join(_root, "parsers")):
    __path__.append(_root)
