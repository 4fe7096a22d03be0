"""`backline archive label`: say that a finding was right or wrong."""

from __future__ import annotations

import click

from analyzer.archive import labels
from analyzer.archive.query import browse
from analyzer.commands.archived import archive_option, open_archive
from analyzer.commands.places import RuleName
from analyzer.commands.plain import speak_plainly
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import for_terminal


@click.command("label")
@click.argument("case")
@click.argument("rule", type=RuleName())
@archive_option
@click.option("--confirm", "verdict", flag_value="confirmed", help="The finding was right.")
@click.option("--reject", "verdict", flag_value="rejected", help="The finding was wrong.")
@click.option("--remove", "verdict", flag_value="removed", help="Remove a label.")
@click.option(
    "--missed", is_flag=True, help="With --confirm: the fault was there and the rule missed it."
)
@click.option("--subject", default="", help="Only this subject of the rule.")
@click.option("--node", default="", help="Only on this machine.")
@click.option("--note", default="", metavar="TEXT", help="Why, in your words.")
@click.option(
    "--by", default="", metavar="NAME", help="Who says so; never taken from the environment."
)
@click.option("--force", is_flag=True, help="Set the label even if the case has no such finding.")
@speak_plainly
def command(
    case: str,
    rule: str,
    archive_url: str,
    verdict: str | None,
    missed: bool,
    subject: str,
    node: str,
    note: str,
    by: str,
    force: bool,
) -> None:
    """Label the findings of RULE in CASE as right or wrong.

    CASE is a name, or the start of an id.
    `healthy` in place of RULE says it of the whole case: `backline archive background` counts what such cases show.
    Labels measure rules: `backline rules backtest` computes the precision of a rule from them. The newest
    label of a finding counts.

    \b
    Example:
      backline archive label acme-2291 kb-2039495 --archive archive --confirm --note "ring set to 4096, drops gone"
      backline archive label acme-2291 kb-2113956 --archive archive --missed --confirm
    """

    if verdict is None:
        raise UsageError("say --confirm, --reject or --remove")
    if missed and verdict == "rejected":
        raise UsageError(
            "a missed finding cannot be rejected",
            do="--missed --confirm says that the fault was there.",
        )
    archive = open_archive(archive_url)
    _snapshot, found = browse.find_stored_case(archive, case)
    wanted = labels.LabelRequest(rule, node, subject, verdict, missed, force, by, note)
    for line in labels.label_lines(labels.give_labels(archive, found, wanted)):
        click.echo(for_terminal(line))
