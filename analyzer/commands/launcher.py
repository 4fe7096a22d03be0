"""`backline launcher`: a desktop icon to drop a case on, made as each desktop documents.

Linux    a desktop entry: https://specifications.freedesktop.org/desktop-entry-spec/latest/
Windows  a command file; the Explorer starts it with what was dropped
macOS    the source of an AppleScript droplet, for `osacompile`

All of them run `backline launcher --start [FILES]`: `triage --open` for what was dropped, `serve` for a click.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from analyzer.commands.plain import DONE, PARTIAL, speak_plainly
from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.output import write_atomic
from analyzer.runtime.paths import absolute_path
from analyzer.runtime.text import for_terminal

SYSTEMS = ("linux", "windows", "macos")
LINE = "BACKLINE_LINE"  # the command line that the Explorer made, from Backline.cmd
START = ("launcher", "--start")
_RESERVED = re.compile(r"""[ \t\n"'\\><~|&;$*?#()`]""")  # of the Exec key
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
MIME = (
    "application/x-compressed-tar", "application/gzip", "application/x-tar", "application/zip", "application/zstd",
    "text/plain", "text/csv", "inode/directory",
)  # fmt: skip


@click.command("launcher")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, readable=False), metavar="")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), default=Path(), help="Folder to write into."
)
@click.option(
    "--system", type=click.Choice(SYSTEMS), help="Desktop to write it for; this one by default."
)
@click.option(
    "--program", metavar="PATH", help="What the icon starts; this installation by default."
)
@click.option("--start", is_flag=True, hidden=True)
@speak_plainly
def command(
    paths: tuple[Path, ...], output: Path, system: str | None, program: str | None, start: bool
) -> None:
    """Write an icon to drop bundles on.

    Files dropped on it together are triaged as one case.
    Writes one file into the current folder, or the one that -o names, and prints what to do with
    it. A click on the icon without a file opens the page of `backline serve`. The reports go to
    backline-out in the home folder.

    \b
    Example:
      backline launcher -o ~/Desktop
    """
    if start:
        click.get_current_context().exit(start_dropped(paths))
    if paths:
        raise UsageError(
            "launcher takes no files", do="Drop them on the icon, or run `backline triage`."
        )

    here = find_system()
    system = system or here
    if program is not None:
        words = [program]
    elif system == here:
        words = find_program()
    else:
        words = ["backline"]  # found on the PATH there
    name, text, advice = WRITERS[system](words)
    path = absolute_path(output / name)
    write_atomic(path, text)
    if system == "linux":
        path.chmod(0o755)  # desktops start only an entry that may be executed
    click.echo(f"written: {for_terminal(str(path))}")
    for line in advice:
        click.echo(f"  {for_terminal(line.format(path=shlex.quote(str(path)), name=name))}")


def find_system() -> str:
    """Return the desktop that is run here."""
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def find_program() -> list[str]:
    """Return what starts this very installation from any folder.

    -P keeps Python from importing what lies in the current folder, which may be one of downloads.
    """
    single = os.environ.get(
        "PEX", ""
    )  # set by the single file, whose unpacked copy may be removed at any time
    if single and Path(single).is_file():
        return [str(Path(single).absolute())]
    return [sys.executable, "-P", "-m", "analyzer"]


def write_desktop_entry(words: Sequence[str]) -> tuple[str, str, list[str]]:
    """Return name, text and advice of the desktop entry."""
    if "=" in words[0]:
        why = "the specification of desktop entries forbids it"
        raise UsageError(
            "the path of the program holds a `=`",
            where=words[0],
            why=why,
            do="Install it elsewhere.",
        )
    line = " ".join([*map(quote_exec_word, [*words, *START]), "%F"])
    text = f"""[Desktop Entry]
Type=Application
Version=1.0
Name=Backline
GenericName=Support bundle analyzer
Comment=Drop a VMware support bundle here to read its report
Exec={line}
Terminal=true
StartupNotify=false
Categories=Utility;
MimeType={";".join(MIME)};
"""
    return "backline.desktop", text, [
        "as an icon: put it on the desktop (cp {path} ~/Desktop/), and allow it to be started:",
        '    right click, "Allow Launching" (GNOME), or "Properties", "Permissions", "Executable" (KDE, Xfce)',
        "for \"Open with\": desktop-file-install --dir=\"$HOME/.local/share/applications\" {path}",
    ]  # fmt: skip


def quote_exec_word(word: str) -> str:
    """Return a word as the Exec key of a desktop entry writes it: quoted by its rules, then escaped as a string."""
    _refuse_control(word)
    plain = word.replace("%", "%%")
    if not plain or _RESERVED.search(plain):
        plain = '"' + re.sub(r'(["`$\\])', r"\\\1", plain) + '"'
    return plain.replace("\\", "\\\\")


def write_command_file(words: Sequence[str]) -> tuple[str, str, list[str]]:
    """Return name, text and advice of the command file for Windows.

    The Explorer quotes a dropped name only when it holds a space, so that `%*` breaks at a `&`. The line it made
    is therefore handed over unread, in a variable; and `exit` keeps the rest of a broken line from being run.
    Programs are not looked for in the current folder, where the shell looks first and where downloads may lie.
    """
    line = " ".join(quote_command_word(word) for word in (*words, *START))
    text = f"""@echo off
rem Drop a support bundle, or several files of one case, on this file.
setlocal EnableExtensions EnableDelayedExpansion
set "{LINE}=!cmdcmdline!"
setlocal DisableDelayedExpansion
set "NoDefaultCurrentDirectoryInExePath=1"
"%SystemRoot%\\System32\\chcp.com" 65001 >nul
{line}
exit
"""
    return "Backline.cmd", text.replace("\n", "\r\n"), [
        "as an icon: put it on the desktop and drop files on it",
        'for "Send to" of the context menu: press Win+R, enter shell:sendto, and put {name} into that folder',
    ]  # fmt: skip


def quote_command_word(word: str) -> str:
    """Return a word between quotes for a command file; nothing but `%` means anything there."""
    _refuse_control(word)
    if '"' in word:
        raise UsageError(
            "the path of the program contains a quote",
            where=word,
            do="Give another one with --program.",
        )
    return '"' + word.replace("%", "%%") + '"'


def parse_dropped(line: str) -> list[str]:
    """Return the files that the Explorer started a command file with, from the line it made.

    The line is `...cmd.exe /c ""PATH\\Backline.cmd" C:\\a&b.tgz "C:\\c d.txt""`: a name holds no quote, and one
    without quotes no space. A shell in which a user typed has another line, and there was nothing dropped.
    """
    _, mark, rest = re.sub(r"\s/c\s", "\0", line, count=1, flags=re.IGNORECASE).partition("\0")
    rest = rest.strip()
    if not mark:
        return []
    if rest.startswith('""'):  # quotes around the whole, which cmd takes away
        rest = rest[1:].removesuffix('"')
    words = [quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|([^\s"]+)', rest)]
    return words[1:]


def write_droplet(words: Sequence[str]) -> tuple[str, str, list[str]]:
    """Return name, text and advice of the droplet for macOS."""
    for word in words:
        _refuse_control(word)
    line = " ".join(shlex.quote(word) for word in (*words, *START))
    line = (
        '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )  # as AppleScript writes a text
    text = f"""-- Drop a support bundle, or several files of one case, on the droplet made from this script.
on open theItems
	set theCommand to {line} & " --"
	repeat with anItem in theItems
		set theCommand to theCommand & " " & quoted form of (POSIX path of anItem)
	end repeat
	startBackline(theCommand)
end open

on run
	startBackline({line})
end run

on startBackline(theCommand)
	tell application "Terminal"
		activate
		do script theCommand
	end tell
end startBackline
"""
    return "Backline.applescript", text, [
        "build the droplet: osacompile -o ~/Desktop/Backline.app {path}",
        "macOS asks once whether Backline may control Terminal, where the triage runs",
    ]  # fmt: skip


def _refuse_control(word: str) -> None:
    if _CONTROL.search(word):
        why = "it contains a character that cannot be written there"
        raise UsageError(
            "this path cannot be started from an icon",
            where=word,
            why=why,
            do="Install it elsewhere.",
        )


WRITERS: dict[str, Callable[[Sequence[str]], tuple[str, str, list[str]]]] = {
    "linux": write_desktop_entry, "windows": write_command_file, "macos": write_droplet,
}  # fmt: skip


def start_dropped(paths: Sequence[Path]) -> int:
    """Do what the icon is for; keep the window open when something is to be read in it."""
    line = os.environ.pop(LINE, "")
    given = [*map(str, paths), *parse_dropped(line)]
    files = [str(absolute_path(path)) for path in given]
    try:
        os.chdir(Path.home())  # where the reports go: an icon is started anywhere
    except (OSError, RuntimeError) as error:
        raise BacklineError("there is no home folder for the report", why=str(error)) from None
    words = ["triage", "--open", "--", *files] if files else ["serve"]
    root = click.get_current_context().find_root().command
    try:
        code = root.main(words, prog_name="backline", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    status = code if isinstance(code, int) else DONE
    if status not in (DONE, PARTIAL) and sys.stdin is not None and sys.stdin.isatty():
        click.echo("Press Enter to close.", err=True)
        sys.stdin.readline()
    return status
