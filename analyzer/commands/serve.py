"""`backline serve`: the drag-in page."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.archive.store import Archive
from analyzer.commands.local import RuleChoice, draft_option, kb_option, local_options
from analyzer.commands.made_pages import list_page_makers
from analyzer.commands.plain import print_broken, speak_plainly
from analyzer.rules import run_catalog
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import BacklineError


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port; 0 picks a free one.",
)
@click.option(
    "--archive",
    "archive_url",
    default="",
    metavar="DIR",
    help="Keep the cases in this archive; a folder or a URL.",
)
@click.option(
    "--work-dir", type=click.Path(path_type=Path), help="Folder for uploads while the server runs."
)
@click.option("--no-open", is_flag=True, help="Only print the address, do not open a browser.")
@kb_option
@draft_option
@local_options
@speak_plainly
def command(
    port: int,
    archive_url: str,
    work_dir: Path | None,
    no_open: bool,
    choice: RuleChoice,
) -> None:
    """Open a page on this machine to drop files on.

    The page can be reached from this machine only, and only with the printed address. Ctrl-C ends
    it and removes what was uploaded. Rules and settings are those of `triage` with the same options;
    they are read again for every case.

    \b
    Example:
      backline serve
      backline serve --archive archive --kb my-rules
    """
    try:
        from analyzer.web.serving import serve_page
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        do = "Install it: pip install 'backline[web]'."
        raise BacklineError(f"the page needs {error.name}, which is not installed", do=do) from None
    _check_archive(archive_url)
    how = _choose_rules(choice)
    main = click.get_current_context().find_root().command
    made = list_page_makers(main) if isinstance(main, click.Group) else {}
    serve_page(
        port,
        archive_url,
        work_dir,
        say=click.echo,
        open_browser=not no_open,
        how=how,
        made_pages=made,
    )


def _check_archive(place: str) -> None:
    """Refuse a file, or a folder of other things, before the first case is stored in it."""
    path = Path(place)
    if (
        place
        and "://" not in place
        and path.exists()
        and not (path.is_dir() and not any(path.iterdir()))
    ):
        Archive.open(place)


def _choose_rules(choice: RuleChoice) -> RunOptions:
    """Return how the cases are judged; what is wrong with rules or settings is printed before the first case."""

    local = choice.load_local(quiet=False)
    if choice.kb or local.settings.file:
        print_broken(run_catalog.load_run_catalog(local, choice.kb, drafts=choice.draft))
    return RunOptions(tuple(map(str, choice.kb)), choice.settings, choice.packs, choice.draft)
