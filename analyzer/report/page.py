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
from msgspec import to_builtins

from analyzer.report.kept_templates import KeptTemplates
from analyzer.report.styles import read_asset
from analyzer.runtime.text import make_visible

_HERE = Path(__file__).resolve().parent


def make_environment(page: str) -> Environment:
    """Return a new Jinja environment that escapes every text and shows what would steer a terminal or the text flow.

    page  which of our pages it is for: the compiled templates of each are kept by themselves
    """
    loader: BaseLoader = FunctionLoader(read_asset)
    compiled = find_compiled(_HERE)
    if compiled.is_dir():
        loader = ChoiceLoader([ModuleLoader(compiled), loader])
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=KeptTemplates(page),
    )
    environment.filters["n"] = "{:,}".format  # a count with separators: `1,950`
    return environment


def find_compiled(folder: Path) -> Path:
    """Return the folder of compiled templates: they call functions of the Jinja that wrote them, and of no other."""
    return folder / f"compiled_{jinja2.__version__.replace('.', '_')}"


def _make_visible(value: Any) -> Any:
    """Make control and bidi characters of every text visible; runs on each `{{ … }}` before escaping."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return make_visible(value)
    return value


def write_policy(scripts: list[str], style: str) -> str:
    """Return the content policy: nothing but these scripts and this style, by their hashes, and drawings as data."""
    hashes = " ".join(map(_hash_text, scripts))
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash_text(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash_text(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def dump_for_script(value: Any) -> Markup:
    """Return JSON that cannot leave a script block; only ASCII, so nothing in it steers text either."""
    text = json.dumps(to_builtins(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\x7f":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
