"""`backline rules schema`: the JSON Schema of rule files, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.commands.made_pages import make_rule_schema
from analyzer.commands.places import ANY_PATH
from analyzer.commands.plain import speak_plainly
from analyzer.commands.showing import write_text
from analyzer.runtime.output import check_folder, write_atomic
from analyzer.runtime.text import one_line


@click.command("schema")
@click.option("-o", "--output", type=ANY_PATH, help="File to write it to.")
@speak_plainly
def command(output: Path | None) -> None:
    """Print the JSON Schema of rule files.

    It is of draft-07 and holds the tables and columns of all parsers.
    An editor with a YAML language server uses it to complete and check rules; see docs/editor.md.

    \b
    Example:
      backline rules schema -o my-rules/rule-schema.json
    """

    text = make_rule_schema()
    if output is None:
        write_text(text)
        return
    check_folder(output.parent, (output.name,))
    write_atomic(output, text)
    click.echo(f"written: {one_line(str(output))}")
    schema, folder = one_line(output.as_posix()), one_line(output.parent.as_posix())
    click.echo(f'for your editor: "yaml.schemas": {{"{schema}": "{folder}/**/*.yaml"}}', err=True)
