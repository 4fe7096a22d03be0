"""Compiles the templates when a wheel is built (setup.py): compiling them takes longer than filling them in."""

from __future__ import annotations

from pathlib import Path

from jinja2 import ModuleLoader

from analyzer.report import fleet, html
from analyzer.report.page import find_compiled
from analyzer.report.styles import read_asset


def compile_templates(folder: Path) -> None:
    """Write every template as a Python module below `folder`, the copy of this package in a built wheel."""
    target = find_compiled(folder)
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(__file__).parent.glob("*.html")):
        if path.name == "fleet.html":
            made = fleet.load_templates()
        else:
            made = html.load_templates()
        code = made.compile(read_asset(path.name), path.name, path.name, raw=True, defer_init=True)
        module = target / ModuleLoader.get_module_filename(path.name)
        module.write_text(code, encoding="utf-8", newline="\n")
