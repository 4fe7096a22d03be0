"""Material for attacks on the whole command: a sound bundle, grafts on it, and judges of the answers.

Nothing here is taken from a real capture; the public corner cases are read where they lie.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from rich.console import Console

from analyzer import rules as rule_module
from analyzer.case import case_file
from analyzer.case.packed_text import unpack_text
from analyzer.pipeline.triage import Options, triage
from analyzer.report import html, markdown, terminal
from analyzer.runtime.errors import BacklineError
from tools import make_case
from tools.case_pack import STAMP

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).resolve().parents[2] / "../shared/corpus/hostile"
HOST = "esx61.lab.example"
TOP = f"esx-{HOST}-2017-10-14--16.53-71234"
# What must never reach a terminal: C0 but TAB and LF, DEL, C1, bidi controls, line separators.
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
FORMULA = re.compile(
    r"^[\s\u200b\u200d\ufe0f]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b\u2212]|^[\t\r\n]"
)
NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$")
Files = dict[str, str | bytes]


def corpus_files(*folders: str) -> list[Path]:
    """Return the public corner cases of some folders, of all when none is named; empty when they are not here."""
    if not CORPUS.exists():
        return []
    chosen = (
        [CORPUS / name for name in folders]
        if folders
        else [path for path in CORPUS.iterdir() if path.is_dir()]
    )
    return sorted(path for folder in chosen for path in folder.iterdir())


def sampled(paths: list[Path], count: int, seed: int = 7) -> list[Path]:
    """Return the same few of many on every run."""
    return sorted(random.Random(seed).sample(paths, min(count, len(paths))))


def payloads() -> list[str]:
    """Return strings written to do harm where they are shown: the public lists when here, and our own."""
    own = [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "\"'><iframe srcdoc='<script>alert(1)</script>'>",
        "javascript:alert(1)",
        "{{ 7*7 }}{% for x in y %}",
        "%n%s%x {0.__class__} ${jndi:ldap://x}",
        "=cmd|'/c calc'!A0",
        "@SUM(1+1)*cmd",
        "```\n# not a heading\n```",
        "[link](javascript:alert(1)) ![x](http://evil.example/x.png)",
        "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
        "\u202egnp.exe\u2066\u200f\x9b31m\x85",
        "a\udcffb",
        "--><!--",
        "&lt;&#x3c;script&#62;",
        "A" * 4000,
    ]
    lists = [path for path in corpus_files("payloads") if path.suffix != ".json"]
    lines = [
        line
        for path in lists
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    return own + [line for line in lines if line.strip() and not line.startswith("# ")]


# --- the sound part -----------------------------------------------------------------------------


def sound_files() -> Files:
    """Return the files of a small vm-support bundle in which several rules find something."""
    packed = next(body for name, body in make_case.config_traps().items() if name.endswith(".tgz"))
    assert isinstance(packed, bytes)
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def tar_of(files: Files, *, end: bool = True) -> bytes:
    """Return a tar; without its end marker when more shall follow."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, body in files.items():
            data = body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), STAMP
            tar.addfile(info, io.BytesIO(data))
        length = tar.offset
    return plain.getvalue() if end else plain.getvalue()[:length]


def tgz_of(files: Files, tail: bytes = b"") -> bytes:
    """Return a .tgz of files, with raw bytes of another tar behind them."""
    plain = tar_of(files, end=False) + tail if tail else tar_of(files)
    return gzip.compress(plain, compresslevel=1, mtime=STAMP)


def bundle(folder: Path, extra: Files | None = None, tail: bytes = b"") -> Path:
    """Write the sound bundle with further members under its top directory."""
    files = sound_files() | {f"{TOP}/{name}": body for name, body in (extra or {}).items()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{TOP}.tgz"
    path.write_bytes(tgz_of(files, tail))
    return path


# --- answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What one run gave: its class, the document (None when refused), and the message of a refusal."""

    state: str
    document: dict[str, Any] | None
    message: str = ""

    @property
    def findings(self) -> set[tuple[str, str, str, str]]:
        """Rule, node, subject and severity of each finding."""
        found = self.document.findings if self.document else []
        return {(one.rule, one.node, one.subject, one.severity) for one in found}


def ask(*paths: Path, options: Options | None = None) -> Answer:
    """Run one triage; whatever comes in, it is answered, and nothing in it failed inside."""
    try:
        outcome = triage(list(paths), options)
    except BacklineError as error:
        assert error.exit_code == 3, error
        check_message(error)
        return Answer("refused", None, str(error))
    document = outcome.document
    inside = [damage for damage in document.damage if "internal error" in damage.what]
    failed = [fault for fault in document.faults if fault.why.startswith("the parser failed")]
    broke = [one for one in document.findings if one.verdict == "error"]
    assert not inside, inside
    assert not failed, failed
    assert not broke, broke
    return Answer("partial" if outcome.partial else "ok", document)


def check_message(error: BacklineError) -> None:
    """A message says what, where, why and what to do, on one line that cannot steer a terminal."""
    assert error.what, error
    assert error.where, error
    assert error.why, error
    assert error.do, error
    assert not re.search(r"\b\w*(Error|Exception)\b", error.why), error.why


@contextmanager
def rules_read_once() -> Iterator[None]:
    """Read the rules that come with the tool once for many runs; own rules are read each time."""
    real, kept = rule_module.load, {}

    def load(paths: Any = None, *rest: Any, **named: Any) -> Any:
        key = tuple(map(str, paths or []))
        if len(key) > 1:
            return real(paths, *rest, **named)
        if key not in kept:
            kept[key] = real(paths, *rest, **named)
        return kept[key]

    rule_module.load = load  # type: ignore[assignment]
    try:
        yield
    finally:
        rule_module.load = real


# --- the outputs --------------------------------------------------------------------------------


class Page(HTMLParser):
    """The elements and attributes of a report, as a browser would come to see them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.kinds: set[tuple[str, str]] = set()
        self.scripts: list[tuple[str, str]] = []
        self.trouble: list[str] = []
        self._script: list[str] | None = None
        self._type = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element, its attributes, and what must not be there."""
        self.kinds |= {(tag, "")} | {(tag, name) for name, _ in attrs}
        if tag in (
            "img",
            "iframe",
            "object",
            "embed",
            "link",
            "base",
            "form",
            "audio",
            "video",
            "math",
            "foreignobject",
        ):
            self.trouble.append(f"<{tag}>")
        for name, value in attrs:
            plain = re.sub(r"[\s\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or name in ("srcdoc", "style", "formaction"):
                self.trouble.append(f"<{tag} {name}>")
            if name in ("href", "src", "xlink:href", "action") and not plain.startswith(
                ("#", "https://knowledge.broadcom")
            ):
                self.trouble.append(f"<{tag} {name}={value!r:.80}>")
        if tag == "script":
            self._script, self._type = [], dict(attrs).get("type") or ""

    def handle_data(self, data: str) -> None:
        """Keep what a script holds."""
        if self._script is not None:
            self._script.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Close a script."""
        if tag == "script" and self._script is not None:
            self.scripts.append((self._type, "".join(self._script)))
            self._script = None


def live_markers(page: str, sound: Page) -> list[str]:
    """Return what in a page is more than the page of a sound case has: elements, attributes, scripts."""
    seen = Page(page)
    trouble = list(seen.trouble)
    trouble += [f"new kind {kind}" for kind in sorted(seen.kinds - sound.kinds)]
    if [text for kind, text in seen.scripts if not kind] != [
        text for kind, text in sound.scripts if not kind
    ]:
        trouble.append("another script")
    for kind, text in seen.scripts:
        if kind:
            json.loads(unpack_text(text))
    if "Content-Security-Policy" not in page[:2000]:
        trouble.append("no policy")
    if steer := STEERS.search(page):
        trouble.append(f"control character {steer.group()!r}")
    return trouble


def on_terminal(document: dict[str, Any], verbose: int = 2) -> str:
    """Return what the terminal shows of a case."""
    out = io.StringIO()
    terminal.print_case(
        document, Console(file=out, width=100, force_terminal=False, highlight=False), verbose
    )
    return out.getvalue()


def open_fences(note: str) -> int:
    """Return how many fenced blocks of a Markdown text are never closed, after CommonMark."""
    fence = ""
    for line in note.split("\n"):
        found = re.match(r" {0,3}(`{3,})([^`]*)$", line)
        if fence:
            if found and len(found[1]) >= len(fence) and not found[2].strip():
                fence = ""
        elif found:
            fence = found[1]
    return int(bool(fence))


def check_outputs(
    document: dict[str, Any], sound: Page, report_bytes: int = html.REPORT_BYTES
) -> None:
    """Every output of a case is harmless: page, note, terminal and document."""
    page = html.render_page(document, report_bytes)
    assert not (found := live_markers(page, sound)), found
    assert len(page.encode()) <= report_bytes
    note = markdown.render_note(document)
    assert open_fences(note) == 0
    assert not STEERS.search(note)
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$", "", note)
    outside = re.sub(
        r"(?<!\\)`[^`\n]+`", "", outside
    )  # in a code span nothing is markup; backticks of a case are escaped
    assert not re.search(r"(?<!\\)<[a-zA-Z/!]", outside), "markup in the note"
    shown = on_terminal(document)
    assert not STEERS.search(shown), STEERS.search(shown)
    assert not STEERS.search(case_file.write_case(document)), "the document steers a terminal"


def each(paths: list[Path], check: Callable[[Path], None]) -> list[str]:
    """Run a check on many files and return what failed, with the name of the file."""
    failed = []
    for path in paths:
        try:
            check(path)
        except Exception as error:  # noqa: BLE001 - all failures are told together
            failed.append(
                f"{path.parent.name}/{path.name}: {type(error).__name__}: {str(error)[:300]}"
            )
    return failed
