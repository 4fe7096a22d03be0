"""The manual of `backline`, made of the help of its commands: a page in Markdown, and one for man (roff, man(7))."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

TAIL = """.SH EXIT STATUS
.TP
.B 0
done and nothing lost
.TP
.B 1
a finding at or above \\-\\-fail\\-on, or what rules commands look for
.TP
.B 2
usage
.TP
.B 3
nothing readable, or something that is needed is not there
.TP
.B 4
a rule is invalid, or a folder of rules has none
.TP
.B 5
done but something could not be read or understood
.TP
.B 6
a result could not be written, or a name was left after \\-\\-redact
.TP
.B 70
a fault of Backline
.TP
.B 130
interrupted
.SH ENVIRONMENT
.TP
.B BACKLINE_CACHE
folder for what is kept between runs, or off
.TP
.B NO_COLOR
no colour on the terminal
.TP
.B SOURCE_DATE_EPOCH
the time that a case is said to be made at
.SH FILES
.TP
.I backline.toml
settings of the folder a command is run in
"""


WIDTH = 100  # of the help in the Markdown page


def write_cli_page(main: click.Group) -> str:
    """Return the help of every command as Markdown, those of groups as well, as the command prints it."""
    words = main.context_settings["help_option_names"]
    top = click.Context(
        main, info_name="backline", terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=words
    )
    parts = [
        "# Command line\n\nGenerated from the command's own help; `backline COMMAND --help` prints each part.\n",
        f"```\n{main.get_help(top)}\n```\n",
    ]
    for name, command, context in list_commands(main, top):
        parts.append(f"## {name}\n\n```\n{command.get_help(context)}\n```\n")
    return "\n".join(parts).rstrip() + "\n"


def write_man_page(main: click.Group, version: str) -> str:
    """Return the whole man page; each command is a section of its own, with its options."""
    root = click.Context(main, info_name="backline", help_option_names=main.context_settings["help_option_names"])
    lines = [f'.TH BACKLINE 1 "" "backline {version}" "User Commands"', ".SH NAME"]
    lines += ["backline \\- offline analyzer of VMware support bundles", ".SH SYNOPSIS"]
    lines += [".B backline", ".I PATH ...", ".br", ".B backline", ".I COMMAND", "[options]", ".SH DESCRIPTION"]
    lines += [*_text(main.help or ""), ".SH OPTIONS", *_options(main, root), ".SH COMMANDS"]
    for name, command, context in list_commands(main, root):
        lines += [f".SS {_quoted(name)}", *_text(command.help or ""), *_options(command, context)]
    return "\n".join(lines) + "\n" + TAIL


def list_commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield every command below a group with its full name, in the order of the help."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command, inner
        if isinstance(command, click.Group):
            yield from list_commands(command, inner)


def _text(said: str) -> Iterator[str]:
    """Yield the lines of a docstring; a paragraph behind \\b keeps its lines."""
    for place, part in enumerate(re.split(r"\n\s*\n", said.strip())):
        lines = [line.strip() for line in part.split("\n")]
        kept = lines[0] == "\b"
        yield from [".PP"] if place else []
        yield from [".nf"] if kept else []
        yield from (_roff(line) for line in lines if line and line != "\b")
        yield from [".fi"] if kept else []


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    # click keeps the help option of whichever context asked a command first, so the page makes its own
    help_option = click.Option(context.help_option_names, is_flag=True, help="Show this message and exit.")
    for option in (*command.params, help_option):
        if isinstance(option, click.Option):
            record = option.get_help_record(context)
            if record is not None:
                yield from [".TP", f".B {_quoted(record[0])}", _roff(" ".join(record[1].split()))]


def _quoted(text: str) -> str:
    return '"' + _roff(text).replace('"', "\\(dq") + '"'


def _roff(text: str) -> str:
    """Return text as roff prints it: backslashes and dashes as they are, no line that begins like a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\\&" + plain if plain.startswith((".", "'")) else plain
