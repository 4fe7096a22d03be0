"""`backline mcp`: cases for a program that asks by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.places import CasePath
from analyzer.commands.plain import check_paths, speak_plainly
from analyzer.redact.redaction import Redaction
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.sources.remote import Place


@click.command("mcp")
@click.argument("cases", nargs=-1, type=CasePath())
@click.option(
    "--archive",
    "archive_url",
    default="",
    metavar="DIR",
    help="Search this archive too; a folder or a URL.",
)
@click.option("--no-redact", is_flag=True, help="Answer with real names instead of pseudonyms.")
@click.option(
    "--redact-map",
    metavar="FILE",
    type=click.Path(path_type=Path, readable=False, dir_okay=False),
    help="File that keeps the names and their pseudonyms; without it none is written.",
)
@speak_plainly
def command(
    cases: tuple[Place, ...], archive_url: str, no_redact: bool, redact_map: Path | None
) -> None:
    """Answer questions of an MCP client about cases, on standard input and output.

    Each CASE is a bundle, a folder of one case, or what triage wrote. The tools read only: findings, signals,
    tables, logs, and with --archive the stored cases; each fact has its address. Names are pseudonyms unless
    --no-redact is given. A client starts this command itself; nothing listens on a network.

    \b
    Example:
      backline mcp esx-host.tgz
      backline mcp case-1234/case.json --archive archive
    """
    if not cases and not archive_url:
        raise UsageError("nothing to answer for", do="Give a case, or --archive DIR.")
    if no_redact and redact_map is not None:
        raise UsageError("--redact-map and --no-redact cannot be combined")
    check_paths(cases, BacklineError)
    try:
        from analyzer.mcp_server.server import make_server
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("mcp", "mcp_types", "pydantic", "anyio"):
            raise
        do = "Install it: pip install 'backline[mcp]'."
        raise BacklineError(f"the server needs {missing}, which is not installed", do=do) from None
    from analyzer.mcp_server.open_cases import OpenCases

    redaction = None if no_redact else Redaction(redact_map)
    make_server(OpenCases(cases, archive_url, redaction)).run("stdio")
