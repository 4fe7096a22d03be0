"""`backline completion`: a script by which a shell completes commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from analyzer.commands.plain import speak_plainly

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_BACKLINE_COMPLETE"

# click has none for PowerShell. It gets the words that click gives to fish, a line each: `kind,value<TAB>help`. Of a
# path click only says that it is one; nothing is returned then, and PowerShell completes the file itself.
POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName backline -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $line = $commandAst.ToString()
    $line = $line.Substring(0, [Math]::Min($line.Length, $cursorPosition - $commandAst.Extent.StartOffset))
    $before = $env:_BACKLINE_COMPLETE, $env:COMP_WORDS, $env:COMP_CWORD
    try {
        $env:_BACKLINE_COMPLETE = 'fish_complete'
        $env:COMP_WORDS = $line.Replace('\\', '\\\\')
        $env:COMP_CWORD = $wordToComplete.Replace('\\', '\\\\')
        backline | ForEach-Object {
            $kind, $rest = $_ -split ',', 2
            if ($kind -eq 'plain') {
                $value, $help = $rest -split "`t", 2
                if (-not $help) { $help = $value }
                [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
            }
        }
    } finally {
        $env:_BACKLINE_COMPLETE, $env:COMP_WORDS, $env:COMP_CWORD = $before
    }
}
"""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@speak_plainly
def command(shell: str) -> None:
    """Print the script that completes commands in your shell.

    It completes commands, options, paths and ids of rules.

    \b
    Example:
      backline completion bash > ~/.local/share/bash-completion/completions/backline
      backline completion zsh > ~/.zfunc/_backline      (with ~/.zfunc in fpath)
      backline completion fish > ~/.config/fish/completions/backline.fish
      backline completion powershell >> $PROFILE
    """
    root = click.get_current_context().find_root()
    click.echo(write_script(root.command, shell), nl=False)


def write_script(main: click.Command, shell: str) -> str:
    """Return the script for one of SHELLS; no shell is started."""
    if shell == "powershell":
        return POWERSHELL
    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(main, {}, "backline", VARIABLE)
    return (completion.source_template % completion.source_vars()).lstrip("\n")
