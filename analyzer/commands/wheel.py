"""What a wheel brings beside its sources; setup.py calls it."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer import __version__
from analyzer.artefacts import parsing
from analyzer.commands import manual
from analyzer.pipeline import triage
from analyzer.redact import signedlines, textforms
from analyzer.report.compiling import compile_templates
from analyzer.rules.catalog import write_shipped
from analyzer.runtime import snapshot


def complete_wheel(package: Path) -> None:
    """Write what every run would work out again into a copy of the package, and the compiled templates."""
    compile_templates(package / "report")  # modules, for which a snapshot counts as well
    snapshot.write_brought(package, parsing.PARSERS, parsing.import_declarations())
    snapshot.write_answers(package, note_patterns)
    write_shipped(package)


def write_man_page(folder: Path, main: click.Group) -> Path:
    """Write the man page of the command into a folder, which is made; return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "backline.1"
    page.write_text(manual.write_man_page(main, __version__), encoding="utf-8", newline="\n")
    return page


def note_patterns() -> None:
    """Work out what a run asks of the patterns of ours, those of the redaction too."""
    triage.note_patterns()
    for _, _, pattern in textforms.text_signs():
        signedlines.needed_words(pattern)
