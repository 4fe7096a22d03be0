"""`backline serve`: the drag-in page."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.plain import speaks_plainly
from analyzer.errors import BacklineError


@click.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port; 0 takes a free one.")
@click.option("--archive", "archive_url", default="", metavar="DIR", help="Keep the cases here; a folder or a URL.")
@click.option("--work-dir", type=click.Path(path_type=Path), help="Where uploads lie while the server runs.")
@click.option("--no-open", is_flag=True, help="Only print the address, do not open a browser.")
@speaks_plainly
def command(port: int, archive_url: str, work_dir: Path | None, no_open: bool) -> None:
    """Open a page on this machine: drop files on it, watch, read.

    The page is reached from this machine only, by who knows the address that is printed. Ctrl-C ends
    it and removes what was uploaded.

    \b
    Example:
      backline serve
    """
    try:
        from analyzer.web.serving import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        do = "Install it: pip install 'backline[web]'."
        raise BacklineError(f"the page needs {error.name}, which is not installed", do=do) from None
    serve(port, archive_url, work_dir, say=click.echo, open_browser=not no_open)
