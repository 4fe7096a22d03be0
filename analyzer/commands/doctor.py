"""`backline doctor`: what a bug report needs to say of this installation, without a word of any case."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import click

from analyzer import __version__
from analyzer.commands.plain import DONE, PARTIAL, speaks_plainly
from analyzer.runtime.text import one_line

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
EXTRAS = ("fsspec", "s3fs", "dask", "distributed", "starlette", "uvicorn", "httptools", "uvloop")
LITTLE = 1 << 30  # bytes free, below which disk space is a remark
_SETTINGS = ("BACKLINE_", "NO_COLOR", "COLUMNS", "SOURCE_DATE_EPOCH", "PYTHON")


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
@speaks_plainly
def command(as_json: bool) -> None:
    """Show what Backline runs on, for a bug report.

    Versions, engines, cache, browser and disk.
    It opens no case and no archive. The home folder is told as ~, the current folder not at all, and of environment
    variables only the names. Ends with 5 when something that is needed is missing.

    \b
    Example:
      backline doctor
    """
    found = {title: dict(_safely(part)) for title, part in PARTS.items()}
    ill = [
        f"{title}: {name}"
        for title, part in found.items()
        for name, said in part.items()
        if said.startswith("!")
    ]
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        for title, part in found.items():
            click.echo(title)
            for name, said in part.items():
                click.echo(f"  {name:<14} {said.removeprefix('!')}")
    for one in ill:
        click.echo(f"backline: look at {one}", err=True)
    click.get_current_context().exit(PARTIAL if ill else DONE)


def _safely(part: Callable[[], Iterator[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield what a part tells, names and folders of the user left out; what fails is told in its place."""
    try:
        for name, said in part():
            yield name, _anonymous(said)
    except Exception as error:  # noqa: BLE001 - this command is run because something is broken
        yield "failed", "!" + _anonymous(one_line(f"{type(error).__name__}: {error}", 200))


def _anonymous(said: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return said.replace(home, "~") if len(home) > 1 else said


def _program() -> Iterator[tuple[str, str]]:
    import analyzer
    from analyzer.rules import run_catalog
    from analyzer.rules.run_catalog import Local

    root = Path(analyzer.__file__).resolve().parent
    kind = "checkout" if (root.parent / "setup.cfg").is_file() else "installed"
    yield "backline", f"{__version__} ({kind})"
    from analyzer.runtime.limits import Limits

    catalog = run_catalog.load_run_catalog(Local(), (), limits=Limits(), drafts=False)
    yield "rules", f"{'!' * bool(catalog.broken)}{len(catalog.rules)}, catalog {catalog.hash[:12]}"
    bits = "64" if sys.maxsize > 1 << 32 else "32"
    yield "python", f"{platform.python_implementation()} {platform.python_version()}, {bits} bit"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "processors", str(os.cpu_count())


def _packages() -> Iterator[tuple[str, str]]:
    for name in NEEDED:
        yield name, _version(name) or "!is missing"
    for name in EXTRAS:
        yield name, _version(name) or "not installed (an extra)"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _engines() -> Iterator[tuple[str, str]]:
    from analyzer.scan import engines

    yield "logs", engines.choose_engine()
    for name in FASTER:
        yield name, _version(name) or "not installed: the same findings, slower"


def _folders() -> Iterator[tuple[str, str]]:
    from analyzer.runtime import cache_folder

    cache = cache_folder.find_folder()
    if cache is None:
        yield "cache", "off: every run reads all rules again"
    else:
        files = [path for path in cache.rglob("*") if path.is_file()] if cache.is_dir() else []
        size = sum(path.stat().st_size for path in files)
        yield "cache", f"{cache}, {len(files)} files, {size / 1e6:.1f} MB"
    for name, folder in (("temporary", Path(tempfile.gettempdir())), ("current", Path.cwd())):
        free = shutil.disk_usage(folder).free
        where = f" in {folder}" if name == "temporary" else ""
        writable = "" if os.access(folder, os.W_OK) else ", cannot be written to"
        yield name, f"{'!' * (free < LITTLE)}{free / 1e9:.1f} GB free{where}{writable}"


def _terminal() -> Iterator[tuple[str, str]]:
    import webbrowser

    yield (
        "output",
        f"{'a terminal' if sys.stdout.isatty() else 'no terminal'}, {sys.stdout.encoding}",
    )
    yield "files", f"names as {sys.getfilesystemencoding()}"
    yield "width", str(shutil.get_terminal_size().columns)
    try:
        yield "browser", type(webbrowser.get()).__name__
    except webbrowser.Error:
        yield "browser", "none: --open and `backline serve` cannot open a page"
    names = sorted(name for name in os.environ if name.startswith(_SETTINGS))
    yield "variables", ", ".join(names) or "none"


PARTS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "Backline": _program,
    "Engines": _engines,
    "Folders": _folders,
    "Terminal": _terminal,
    "Packages": _packages,
}
