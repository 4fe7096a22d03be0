"""Building blocks of our HTML pages: escaping templates, inline script and style, the policy that allows them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from analyzer.report.styles import asset
from analyzer.text import visible


def environment() -> Environment:
    """Return a new Jinja environment that escapes every text and shows what would steer a terminal or the text flow."""
    made = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["n"] = _grouped
    return made


def _grouped(number: int) -> str:
    """Return a count with separators: `1,950`."""
    return f"{number:,}"


def _shown(value: Any) -> Any:
    """Make control and bidi characters of every text visible; runs on each `{{ … }}` before escaping."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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
