"""Backline: an offline analyzer of VMware support material.

The parsers and templates lie next to this package in a checkout and inside it
once installed; the hook below makes `analyzer.parsers` and
`analyzer.templates` the same import in both.
"""

from analyzer.runtime import safepath

if (
    safepath.started_as_module()
):  # the current folder is where Python would look first for all that comes now
    safepath.hold_path()

import os

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all of this
if TYPE_CHECKING:
    from analyzer.library import OpenedCase, open_case

__all__ = ["OpenedCase", "__version__", "open_case"]
__version__ = "0.1.0"

_root = os.path.dirname(
    os.path.dirname(os.path.realpath(__file__))
)  # pathlib takes as long as all the rest
if os.path.isfile(os.path.join(_root, "setup.cfg")) and os.path.isdir(
    os.path.join(_root, "parsers")
):
    __path__.append(_root)


def __getattr__(name: str) -> object:
    """Import the library when it is first asked for: `import analyzer` itself stays light."""
    if name not in ("OpenedCase", "open_case"):
        raise AttributeError(f"module 'analyzer' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - see above

    return getattr(import_module("analyzer.library"), name)
