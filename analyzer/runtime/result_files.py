"""Names of the files that every case ends in; nothing is imported, so that `--help` need not wait."""

from __future__ import annotations

RESULTS = ("case.json", "report.html", "report.md")
