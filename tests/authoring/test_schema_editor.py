"""The schema of rules in the language server that VS Code, Neovim and others use, over its own protocol."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.commands.made_pages import make_rule_schema

ROOT = Path(__file__).resolve().parents[2]
KB = ROOT / "analyzer" / "kb"
SERVER = (
    ROOT
    / "tools"
    / "editor"
    / "node_modules"
    / "yaml-language-server"
    / "bin"
    / "yaml-language-server"
)
NODE = shutil.which("node")
HERE = NODE is not None and SERVER.exists()
pytestmark = [
    pytest.mark.editor,
    pytest.mark.skipif(
        not HERE and not os.environ.get("CI"), reason="`make editor` installs the language server"
    ),
]
RULE = (KB / "network" / "kb-2039495.yaml").read_text(encoding="utf-8")
PATIENCE = 30  # seconds for one answer
YAML = {"validate": True, "hover": True, "completion": True, "schemaStore": {"enable": False}}
CAPABILITIES = {
    "textDocument": {
        "completion": {
            "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}
        },
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {},
    },
    "workspace": {"configuration": True},
}


class Editor:
    """An editor as the server sees it: opens files, collects diagnostics, asks at a place."""

    def __init__(self, checkout: Path) -> None:
        """Start the server; `checkout` is a folder whose docs hold the schema, as `make docs` writes it."""
        self.checkout = checkout
        schema = checkout / "docs" / "rule-schema.json"
        schema.parent.mkdir()
        schema.write_text(make_rule_schema(), encoding="utf-8")
        self.settings = YAML | {
            "schemas": {schema.as_uri(): ["private-rules/*.yaml", "analyzer/kb/*/*.yaml"]}
        }
        assert NODE is not None and SERVER.exists(), (
            "the language server is missing: run `make editor`"
        )
        self.process = subprocess.Popen(
            [NODE, str(SERVER), "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.number = self.files = 0
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": CAPABILITIES})
        self.tell("initialized", {})

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            elif not line.strip():
                self.inbox.put(json.loads(stream.read(length)))

    def _send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _step(self) -> dict[str, Any]:
        """Take one message; questions of the server are answered at once."""
        message = self.inbox.get(timeout=PATIENCE)
        if "method" in message and "id" in message:
            items = (
                message["params"].get("items", [])
                if message["method"] == "workspace/configuration"
                else []
            )
            self._send(
                id=message["id"],
                result=[self.settings if item.get("section") == "yaml" else {} for item in items],
            )
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def tell(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send(method=method, params=params)

    def ask(self, method: str, params: Any) -> Any:
        """Send a request and return its result."""
        self.number += 1
        self._send(id=self.number, method=method, params=params)
        while True:
            message = self._step()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message.get("result")

    def open(self, text: str, folder: str = "analyzer/kb/network") -> list[tuple[int, int, str]]:
        """Open a text as a new file of the catalog; returns (line, column, message), counted from 1."""
        return self.found(self.begin(text, folder))

    def begin(self, text: str, folder: str = "analyzer/kb/network") -> str:
        """Open a text as a new file of the catalog without waiting for what is said of it; returns its address."""
        self.files += 1
        self.uri = (self.checkout / folder / f"opened-{self.files}.yaml").as_uri()
        item = {"uri": self.uri, "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self.uri

    def found(self, uri: str) -> list[tuple[int, int, str]]:
        """Wait for what is said of a file; returns (line, column, message), counted from 1."""
        while uri not in self.diagnostics:
            self._step()
        found = self.diagnostics.pop(uri)
        starts = [(one["range"]["start"], one["message"]) for one in found]
        return sorted(
            (start["line"] + 1, start["character"] + 1, message) for start, message in starts
        )

    def at(self, method: str, text: str) -> Any:
        """Ask at the place of `|` in a text, which is taken out."""
        before, _, after = text.partition("|")
        self.open(before + after)
        place = {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}
        return self.ask(method, {"textDocument": {"uri": self.uri}, "position": place})

    def completions(self, text: str) -> dict[str, str]:
        """Return what the editor offers at `|`: label -> text to insert."""
        return {
            item["label"]: item["insertText"]
            for item in self.at("textDocument/completion", text)["items"]
        }

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    found = Editor(tmp_path_factory.mktemp("checkout"))
    yield found
    found.close()


HEAD = ""  # the settings lead to the schema, no line of the rule does


def test_no_shipped_rule_has_a_diagnostic(editor: Editor) -> None:
    """The settings lead to the schema, and it has nothing to say. All are opened before the first is looked at."""
    files = {
        editor.begin(path.read_text(encoding="utf-8")): path.stem
        for path in sorted(KB.glob("*/*.yaml"))
    }

    assert len(files) > 400
    assert {name: said for uri, name in files.items() if (said := editor.found(uri))} == {}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("about: ", "abuot: ", "Property abuot is not allowed."),
        ("esxi.client_stats, by", "esxi.clint_stats, by", "Value is not accepted."),
        ("severity: major}", "severity: high}", "Value is not accepted."),
        ("each: rx in", "each: rx on", "Write `alias in table`"),
        ("dropped_rx: 10312", "droped_rx: 10312", "Property droped_rx is not allowed."),
        ("port_id: 5, queue", "port_id: five, queue", "Write a number, or a series"),
        ("confidence: confirmed", "confidence: none", "Value is not accepted."),
        ("    run: ethtool -G {dev.interface} rx {dev.rx_max}\n", "", "Missing property"),
    ],
)
def test_a_mistake_is_told_at_its_place(editor: Editor, old: str, new: str, message: str) -> None:
    """An unknown key, a misspelt table or column, a wrong word: a diagnostic at that very line and column."""
    assert old in RULE
    wrong = RULE.replace(old, new, 1)
    place = RULE.index(old)
    line = RULE.count("\n", 0, place) + 1
    found = [one for one in editor.open(wrong) if message in one[2]]
    assert found
    if new:  # a missing key is told at the step that lacks it
        lines = wrong.split("\n")
        word = lines[line - 1][found[0][1] - 1 :]
        assert found[0][0] == line
        assert word.startswith(("abuot", "esxi.clint", "high", "rx on", "droped", "five", "none"))


def test_a_folder_is_mapped_without_the_first_line(editor: Editor) -> None:
    """The setting `yaml.schemas` does what the first line does; another folder knows no schema."""
    wrong = "rule: a\ntitle: b\neach: x in esxi.vm\nwhen: true\noutcomes: [{severity: info}]\nsttus: test\n"
    assert editor.open(wrong, "private-rules") == [(6, 1, "Property sttus is not allowed.")]
    assert editor.open(wrong, "other") == []


def test_a_table_is_completed(editor: Editor) -> None:
    """`table: esxi.` offers the tables of the parsers, logs not among them; the words beside tell their columns."""
    text = HEAD + "rule: a\njoin:\n  p: {table: esxi.|}\n"
    found = editor.at("textDocument/completion", text)["items"]
    offered = {item["label"]: item for item in found}
    assert {"esxi.client_stats", "esxi.vmxnet3_rx_summary"} <= set(offered)
    assert "esxi.vobd" not in offered
    assert "`dropped_rx` (packets)" in json.dumps(offered["esxi.client_stats"]["documentation"])


def test_a_severity_is_completed(editor: Editor) -> None:
    """`severity:` offers the four, each with its meaning."""
    text = HEAD + "rule: a\noutcomes:\n  - when: true\n    severity: |\n"
    assert list(editor.completions(text)) == ["critical", "major", "warning", "info"]


def test_tables_of_each_are_completed(editor: Editor) -> None:
    """Behind `each:` stands one choice a table, with an alias to type over."""
    found = editor.completions(HEAD + "rule: a\neach: |\n")
    assert found["… in esxi.client_stats"] == "${1:stats} in esxi.client_stats"


def test_columns_of_an_example_are_completed(editor: Editor) -> None:
    """A row by hand offers the columns of its table and those of the origin."""
    text = (
        HEAD
        + "rule: a\nexamples:\n  - name: x\n    tables:\n      esxi.client_stats:\n        - po|\n"
    )
    found = editor.completions(text)
    assert {"port_id", "dropped_rx", "node", "taken"} <= set(found)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("join:\n  p: {table: esxi.net_stats, by: [|]}\n", {"port_id", "switch", "node"}),
        ("join:\n  p:\n    by:\n      - |\n", {"port_id", "switch", "node"}),
        ("evidence: [|]\n", {"sign", "cleared", "often"}),
        ("when: |\n", {"sign", "not over", "count", "share"}),
        ("sign:\n  in: |\n", {"esxi.vobd", "esxi.vmkernel"}),
        ("sign:\n  |\n", {"in", "match", "per", "at_least", "within"}),
        ("cleared:\n  |\n", {"match", "longer_than", "severity", "say"}),
        ("examples:\n  |\n", {"match", "no_match", "cleared", "more"}),
        (
            "examples:\n  - name: x\n    tables:\n      esxi.client_stats: [{po|}]\n",
            {"port_id", "dropped_rx"},
        ),
        (
            "examples:\n  - name: x\n    tables:\n      esxi.client_stats: [{port_id: 5, d|}]\n",
            {"dropped_rx"},
        ),
    ],
)
def test_what_may_stand_there_is_offered(editor: Editor, text: str, offered: set[str]) -> None:
    """Keys of the short form, columns of a row in flow style and in `by`, evidence and conditions are completed."""
    assert offered <= set(editor.completions(HEAD + "rule: a\n" + text))


@pytest.mark.parametrize(
    ("text", "label", "part"),
    [
        ("outcomes:\n  - |\n", "an outcome", "severity: ${2|critical,major,warning,info|}"),
        ("join:\n  |\n", "a join", "table: $2"),
        ("logs:\n  |\n", "a signature", "match: '${3:pattern}'"),
        ("examples:\n  - |\n", "an example", "expect:"),
        ("fix:\n  - |\n", "a step", "run: ${2:command}"),
    ],
)
def test_whole_parts_are_offered(editor: Editor, text: str, label: str, part: str) -> None:
    """A new outcome, join, signature, example or step comes with its keys."""
    assert part in editor.completions(HEAD + "rule: a\n" + text)[label]


def test_a_whole_rule_is_offered_in_an_empty_file(editor: Editor) -> None:
    """An empty file offers a rule with every part it needs."""
    body = editor.completions(HEAD + "|")["a whole rule"]
    for key in ("rule", "title", "each", "when", "outcomes", "examples"):
        assert f"{key}:" in body


def test_a_pointer_shows_our_words(editor: Editor) -> None:
    """Resting on `confidence` shows what the four words mean; on a column its meaning and unit."""
    text = HEAD + "rule: a\noutcomes:\n  - when: true\n    conf|idence: likely\n"
    shown = editor.at("textDocument/hover", text)["contents"]["value"]
    assert "this version has the fault; no sign of it was seen" in shown
    text = (
        HEAD
        + "rule: a\nexamples:\n  - name: x\n    tables:\n      esxi.client_stats: [{dropped|_rx: 7}]\n"
    )
    shown = editor.at("textDocument/hover", text)["contents"]["value"]
    assert "in packets (whole number)" in shown
