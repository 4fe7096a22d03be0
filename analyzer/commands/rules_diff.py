"""`backline rules diff`: what two versions of a catalog find otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import click

from analyzer.archive.backtests.against import load_whole_catalog
from analyzer.archive.store import Archive
from analyzer.authoring.compare import compare_text
from analyzer.authoring.compare.compare import KINDS, compare_catalogs
from analyzer.commands.counter import Counter
from analyzer.commands.plain import (
    DONE,
    FAILED,
    PARTIAL,
    Interrupt,
    check_paths,
    require_sound,
    speak_plainly,
)
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal

FAIL_ON = ("lost", "gained", "changed", "unsure", "settled", "any", "none")


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATHS]...")
@click.option(
    "--archive", "archive_url", default="", metavar="DIR", help="Stored cases: a folder or a URL."
)
@click.option(
    "--jobs",
    type=click.IntRange(0, 256),
    default=0,
    metavar="N",
    help="Processes; 0 for one per processor.",
)
@click.option("--draft", is_flag=True, help="Include draft rules.")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Differences that exit with 1; repeatable. Default: any.",
)
@click.option(
    "--all", "everything", is_flag=True, help="All items of each list, not only the first five."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    help="For people or programs.",
)
@speak_plainly
def command(
    old: str,
    new: str,
    paths: tuple[Path, ...],
    archive_url: str,
    jobs: int,
    draft: bool,
    fail_on: tuple[str, ...],
    everything: bool,
    form: str,
) -> None:
    """Compare what two versions of a catalog find.

    OLD and NEW are folders or git commits.
    Both judge the examples of every rule that differs, the cases of --archive, and PATHS, each a bundle or folder
    of its own. A commit is looked up in the repository of the other folder and means that folder at
    that commit; COMMIT:PATH names another one. With two commits, the current folder is meant.

    \b
    Exit code: 0 nothing of --fail-on differs, 1 something does, 2 wrong use,
    4 a rule file is broken, 5 a case or an example could not be judged.

    \b
    Example:
      backline rules diff v1.4 my-rules
      backline rules diff HEAD~1 my-rules --archive archive --fail-on lost --fail-on unsure
      backline rules diff rules-of-march my-rules bundle.tgz --format json
    """

    check_paths(paths, UsageError)
    # A commit is looked up in the repository of the other folder, or of the current one.
    beside = next((Path(place) for place in (old, new) if Path(place).is_dir()), Path())
    before = require_sound(load_whole_catalog(old, beside))
    now = require_sound(load_whole_catalog(new, beside))
    archive = Archive.open(archive_url) if archive_url else None
    with Interrupt() as stop, Counter("judging", silent=False) as bar:
        found = compare_catalogs(
            before, now, paths, archive, drafts=draft, jobs=jobs, progress=bar.show
        )
        stop.raise_if_pressed()
    if form == "json":
        click.echo(json.dumps({"old": old, "new": new} | found.make_record(), indent=1))
    else:
        for line in compare_text.write_lines(found, 0 if everything else compare_text.SHOWN):
            click.echo(for_terminal(line))
    wanted = KINDS if not fail_on or "any" in fail_on else fail_on
    status = PARTIAL if found.unread else DONE
    if any(found.count(kind) for kind in KINDS if kind in wanted):
        status = FAILED
    click.get_current_context().exit(status)
