"""The style sheets of our pages: `base.css` for all, plus what each adds.

Dark colours are written once, as what a dark system gets; `themed` gives the same to who chose dark with the
button. The function light-dark() of CSS would need no such step, but a report is one file that is opened on
machines we do not know, often jump hosts that are never updated. A browser from before spring 2024 drops every
colour and border written with it: the marked lines of evidence and the cells of the fleet page would look alike.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DARK_SYSTEM = re.compile(
    r"^@media \(prefers-color-scheme: dark\) \{\n(.*?)^\}\n", re.MULTILINE | re.DOTALL
)
_CSS_REMARK = re.compile(r"/\*.*?\*/\n?", re.DOTALL)
_JS_REMARK = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_UNLESS_LIGHT, _CHOSEN = ':root:not([data-theme="light"])', ':root[data-theme="dark"]'


@cache
def read_asset(name: str) -> str:
    """Return a file of this package; line ends as LF, so that hashes do not depend on the checkout."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def read_styles(*names: str) -> str:
    """Return style sheets of this package as one, in this order."""
    return add_dark_choice("".join(map(read_asset, names)))


def read_lean_styles(*names: str) -> str:
    """Return the same without remarks and indentation: a report is mailed."""
    return _INDENT.sub("", _CSS_REMARK.sub("", read_styles(*names)))


def read_lean_scripts(*names: str) -> str:
    """Return our scripts as one, without lines that are remarks and without indentation."""
    return _INDENT.sub("", _JS_REMARK.sub("", "".join(map(read_asset, names))))


def add_dark_choice(css: str) -> str:
    """Return a style sheet in which dark by choice looks like dark by system."""
    return _DARK_SYSTEM.sub(lambda found: found[0] + found[1].replace(_UNLESS_LIGHT, _CHOSEN), css)
