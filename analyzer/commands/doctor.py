"""`backline doctor`: what a bug report needs to know of this installation, without a word of any case."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import click

import analyzer
from analyzer import __version__
from analyzer.commands.plain import DONE, PARTIAL, speak_plainly
from analyzer.rules import run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.runtime import cache_folder
from analyzer.runtime.limits import Limits
from analyzer.runtime.text import one_line
from analyzer.scan import engines

NEEDED = (
    "click",
    "duckdb",
    "jinja2",
    "numpy",
    "pandas",
    "PyYAML",
    "rich",
    "textfsm",
    "watchfiles",
    "zstandard",
)
FASTER = ("google-re2", "hyperscan", "isal")
EXTRAS = (
    "fsspec", "s3fs", "dask", "distributed", "starlette", "uvicorn", "httptools", "uvloop", "textual", "mcp"
)  # fmt: skip
LITTLE = 1 << 30  # bytes free, below which disk space is a remark
_SETTINGS = ("BACKLINE_", "NO_COLOR", "COLUMNS", "SOURCE_DATE_EPOCH", "PYTHON")


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@speak_plainly
def command(as_json: bool) -> None:
    """Show what Backline runs on, for a bug report.

    Versions, engines, cache, browser and disk.
    It opens no case and no archive. The home folder is told as ~, the current folder not at all, and of environment
    variables only the names. Ends with 5 when something that is needed is missing.

    \b
    Example:
      backline doctor
    """
    parts = {title: dict(_run_part(describe)) for title, describe in PARTS.items()}
    if as_json:
        click.echo(json.dumps(parts, indent=1))
    faults = []
    for title, facts in parts.items():
        if not as_json:
            click.echo(title)
        for name, text in facts.items():
            if not as_json:
                click.echo(f"  {name:<14} {text.removeprefix('!')}")
            if text.startswith("!"):
                faults.append(f"{title}: {name}")
    for fault in faults:
        click.echo(f"backline: look at {fault}", err=True)
    click.get_current_context().exit(PARTIAL if faults else DONE)


def _run_part(part: Callable[[], Iterator[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield the facts of a part, the home folder of the user left out; an error takes the place of the rest."""
    try:
        for name, text in part():
            yield name, _hide_home(text)
    except Exception as error:  # noqa: BLE001 - this command is run because something is broken
        yield "failed", "!" + _hide_home(one_line(f"{type(error).__name__}: {error}", 200))


def _hide_home(text: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return text.replace(home, "~") if len(home) > 1 else text


def describe_program() -> Iterator[tuple[str, str]]:
    """Yield versions of Backline, its rules, Python and the system; a text that begins with `!` is a fault."""

    root = Path(analyzer.__file__).resolve().parent
    kind = "checkout" if (root.parent / "setup.cfg").is_file() else "installed"
    yield "backline", f"{__version__} ({kind})"

    catalog = run_catalog.load_run_catalog(Local(), (), limits=Limits(), drafts=False)
    rules = f"{len(catalog.rules)}, catalog {catalog.hash[:12]}"
    yield "rules", f"!{rules}" if catalog.broken else rules
    bits = "64" if sys.maxsize > 1 << 32 else "32"
    yield "python", f"{platform.python_implementation()} {platform.python_version()}, {bits} bit"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "processors", str(os.cpu_count())


def describe_packages() -> Iterator[tuple[str, str]]:
    """Yield the version of each package that is needed or may be installed."""
    for name in NEEDED:
        yield name, _find_version(name) or "!is missing"
    for name in EXTRAS:
        yield name, _find_version(name) or "not installed (an extra)"


def _find_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def describe_engines() -> Iterator[tuple[str, str]]:
    """Yield what searches logs, and what would be faster."""

    yield "logs", engines.choose_engine()
    for name in FASTER:
        yield name, _find_version(name) or "not installed: the same findings, slower"


def describe_folders() -> Iterator[tuple[str, str]]:
    """Yield the cache, and how much room there is."""

    cache = cache_folder.find_folder()
    if cache is None:
        yield "cache", "off: every run reads all rules again"
    else:
        files = [path for path in cache.rglob("*") if path.is_file()] if cache.is_dir() else []
        size = sum(path.stat().st_size for path in files)
        yield "cache", f"{cache}, {len(files)} files, {size / 1e6:.1f} MB"
    for name, folder in (("temporary", Path(tempfile.gettempdir())), ("current", Path.cwd())):
        free = shutil.disk_usage(folder).free
        text = f"{free / 1e9:.1f} GB free"
        if free < LITTLE:
            text = f"!{text}"
        if name == "temporary":
            text += f" in {folder}"
        if not os.access(folder, os.W_OK):
            text += ", cannot be written to"
        yield name, text


def describe_terminal() -> Iterator[tuple[str, str]]:
    """Yield what the terminal is, the browser, and the names of variables that matter."""

    terminal = "a terminal" if sys.stdout.isatty() else "no terminal"
    yield "output", f"{terminal}, {sys.stdout.encoding}"
    yield "files", f"names as {sys.getfilesystemencoding()}"
    yield "width", str(shutil.get_terminal_size().columns)
    try:
        yield "browser", type(webbrowser.get()).__name__
    except webbrowser.Error:
        yield "browser", "none: --open and `backline serve` cannot open a page"
    names = sorted(name for name in os.environ if name.startswith(_SETTINGS))
    yield "variables", ", ".join(names) or "none"


PARTS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "Backline": describe_program,
    "Engines": describe_engines,
    "Folders": describe_folders,
    "Terminal": describe_terminal,
    "Packages": describe_packages,
}
