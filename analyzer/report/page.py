"""Building blocks of our HTML pages: escaping templates, inline script and style, the policy that allows them."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FunctionLoader,
    ModuleLoader,
    StrictUndefined,
)
from markupsafe import Markup

from analyzer.report.styles import asset
from analyzer.runtime.text import make_visible

_HERE = Path(__file__).resolve().parent


def environment() -> Environment:
    """Return a new Jinja environment that escapes every text and shows what would steer a terminal or the text flow."""
    made = Environment(
        loader=_loader(),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["n"] = "{:,}".format  # a count with separators: `1,950`
    return made


def _loader() -> BaseLoader:
    """Return what finds templates: those compiled for this version of Jinja where they are, else their sources."""
    compiled, sources = compiled_in(_HERE), FunctionLoader(asset)
    return ChoiceLoader([ModuleLoader(compiled), sources]) if compiled.is_dir() else sources


def compiled_in(folder: Path) -> Path:
    """Return the folder of compiled templates: they call functions of the Jinja that wrote them, and of no other."""
    return folder / f"compiled_{jinja2.__version__.replace('.', '_')}"


def _shown(value: Any) -> Any:
    """Make control and bidi characters of every text visible; runs on each `{{ … }}` before escaping."""
    return (
        make_visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def policy(scripts: list[str], style: str) -> str:
    """Return the content policy: nothing but these scripts and this style, by their hashes, and drawings as data."""
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def script_json(value: Any) -> Markup:
    """Return JSON that cannot leave a script block; only ASCII, so nothing in it steers text either."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\x7f":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
