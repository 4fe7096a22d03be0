"""Build the documentation as a site: the pages of docs/ (mkdocs.yml), and live examples made from the sample cases.

    python tools/site.py DIR             needs the extra `docs`; nothing is fetched

What the site has next to docs/ comes from tools/site_pages.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "samples" / "cases"


def run_backline(*words: object) -> None:
    """Run the command; a status that means a crash or a refusal ends the build."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "analyzer", *map(str, words)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 5):  # 5: one of the sample cases is cut
        raise SystemExit(f"{' '.join(command)} ends with {done.returncode}: {done.stderr}")


def write_examples(out: Path) -> None:
    """Write the pages that docs/examples.md names."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run_backline(
            "triage", CASES / "nsx-633-site", "-o", work / "case", "--quiet", "--no-settings"
        )
        run_backline("batch", CASES, "--archive", work / "archive", "--quiet")
        out.mkdir(parents=True, exist_ok=True)
        run_backline(
            "archive",
            "heatmap",
            "--archive",
            work / "archive",
            "-o",
            out / "fleet",
            "--with-reports",
        )
        sides = [CASES / "lab-ring-before", CASES / "lab-ring-after"]
        run_backline("compare", *sides, "-o", out / "compare", "--quiet", "--no-settings")
        shutil.copyfile(work / "case" / "report.html", out / "report.html")


def build_pages(out: Path) -> None:
    """Write the pages of docs/."""
    from mkdocs.commands.build import build  # noqa: PLC0415 - an extra
    from mkdocs.config import load_config  # noqa: PLC0415 - the same

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(out)))


def main() -> int:
    """Build everything; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder to write to")
    out = parser.parse_args().out.resolve()
    print("pages", flush=True)
    build_pages(out)
    print("examples", flush=True)
    write_examples(out / "examples")
    print(f"done: {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
