"""An error that an API answered is found in whatever wrapping a client shows it, and said in its own words.

All bodies are synthetic.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts.parsing import registry
from analyzer.artefacts.tables import Block, Row
from analyzer.cli import main

MESSAGE = "The object web-seg-7 may not be changed while it is in use by 4 others."
BODY = {
    "httpStatus": "BAD_REQUEST",
    "error_code": 777123,
    "module_name": "policy",
    "error_message": MESSAGE,
}
ONE_LINE, MANY_LINES = json.dumps(BODY), json.dumps(BODY, indent=2)
XML = f"<error><details>{MESSAGE}</details><errorCode>777123</errorCode><moduleName>policy</moduleName></error>"


def wrap_text(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def escape_text(text: str, times: int) -> str:
    for _ in range(times):
        text = json.dumps(text)[1:-1]
    return text


WRAPPINGS = {
    "bare": ONE_LINE,
    "over lines": MANY_LINES,
    "blanks before the colons": json.dumps(BODY, indent=1, separators=(",", " : ")),
    "a dict of Python": f"ManagerError: {BODY}",
    "a traceback": f'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    raise E(x)\nE: 400 {ONE_LINE}',
    "Terraform": f"│ Error: Failed to create Segment web: {MESSAGE} (code 777123)\n│\n│   with nsxt_policy_segment.web,",
    "Ansible": f'fatal: [h]: FAILED! => {{"changed": false, "msg": "{escape_text(ONE_LINE, 1)}"}}',
    "escaped twice": f'level=error msg="{escape_text(ONE_LINE, 2)}"',
    "escaped over lines": f'{{"stderr": "{escape_text(MANY_LINES, 1)}"}}',
    "PowerShell": f"Invoke-RestMethod : {ONE_LINE}\nAt C:\\a.ps1:3 char:1\n+ Invoke-RestMethod -Uri $u\n+ ~~~~",
    "wrapped at 80": wrap_text(f"Invoke-RestMethod : {ONE_LINE}", 80),
    "wrapped at 72": wrap_text(f"ManagerError: {ONE_LINE}", 72),
    "XML": f'<?xml version="1.0" encoding="UTF-8"?>\n{XML}',
    "XML in JSON": json.dumps({"content": XML}),
    "XML as entities": XML.replace("<", "&lt;").replace(">", "&gt;"),
    "stamps before each line": "\n".join(f"2026-01-02 03:04:05.678 ERROR app {line}" for line in MANY_LINES.split("\n")),
    "cut in the message": ONE_LINE[: ONE_LINE.index("by 4") + 2],
    "cut behind the code": f'{{"error_message": "{MESSAGE}", "error_code": 777123, "modu',
    "key and value in a list": "\n".join(f"{key} : {value}" for key, value in BODY.items()),
    "vSphere": json.dumps({"error_type": "777123", "messages": [{"args": [], "default_message": MESSAGE, "id": "a.b"}]}),
}  # fmt: skip


def read_rows(text: str) -> list[Row]:
    lines = text.split("\n")
    return [
        item for item in registry()["api_error"].parse(Block(lines, 1)) if isinstance(item, Row)
    ]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_any_wrapping(wrapping: str) -> None:
    """Code and message come out whole, once."""
    (row,) = read_rows(WRAPPINGS[wrapping])
    assert row.values["api_code"] == "777123"
    said = str(row.values["message"])
    said = said.removeprefix("Failed to create Segment web: ")
    assert MESSAGE.startswith(said) if "cut" in wrapping else said == MESSAGE
    assert len(said) > 40
    parser = registry()["api_error"]
    assert any(parser.starts_at(line[:4000]) for line in WRAPPINGS[wrapping].split("\n"))


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (
            '{"type":"com.vmware.vapi.std.errors.not_found","value":{"messages":[{"args":[],'
            '"default_message":"No such thing.","id":"a"}]}}',
            "not_found",
            "No such thing.",
        ),
        (
            "<soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>The session is over.</faultstring>",
            "ServerFaultCode",
            "The session is over.",
        ),
        ("(vim.fault.InvalidLogin) {\n   dynamicType = <unset>,\n   msg = 'Cannot log in.',\n}", "InvalidLogin", "Cannot log in."),
        ("bad status code 500\n{'error': {'errorCode': '100'}}", "100", None),
    ],
)  # fmt: skip
def test_other_forms(text: str, code: str, message: str | None) -> None:
    """Faults of vSphere, and an error without a message."""
    (row,) = read_rows(text)
    assert (row.values["api_code"], row.values["message"]) == (code, message)


@pytest.mark.parametrize(
    "text",
    [
        '{"error_code": 0, "status": "ok"}',
        '{"httpStatus": "OK", "error_message": ""}',
        "if error_code == 3: raise ValueError(error_message)",
        "errors: 0",
        "The error code is in the manual.",
        "HTTP 200 OK",
        "rx_errors: 0\nmodule_name: ixgbe",
    ],
)
def test_no_errors(text: str) -> None:
    """A good answer, a source text and a counter are no errors."""
    assert read_rows(text) == []


def test_two_errors_are_two_rows() -> None:
    """What stands in one object belongs together; the same again is counted."""
    other = {"httpStatus": "NOT_FOUND", "error_code": 777999, "error_message": "It is not there."}
    rows = read_rows("\n".join([ONE_LINE, json.dumps(other), ONE_LINE]))
    assert [(row.values["api_code"], row.values["http_status"], row.values["seen"]) for row in rows] == [
        ("777123", "BAD_REQUEST", 2),
        ("777999", "NOT_FOUND", 1),
    ]  # fmt: skip


@given(text=st.text(alphabet="\"'\\{}<>&;:=, \nerror_code12massgDAILS/", max_size=400))
def test_any_text(text: str) -> None:
    """No text breaks it."""
    read_rows(f"{text}error_code{text}")


@pytest.mark.parametrize(
    "text",
    ['"error_message": "' + '"' * 50_000, "<details>" * 9000, '"error_code": ' * 9000, "Error: " * 20_000, "error_code" * 9000],
)  # fmt: skip
def test_hostile_text(text: str) -> None:
    """What looks like thousands of errors takes no time."""
    begun = time.process_time()
    assert len(read_rows(text)) <= 200
    assert time.process_time() - begun < 5


def triage_text(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "ticket.txt"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(path), "--json", "-", "--no-settings", "--no-packs"]
    )
    assert done.exit_code in (0, 5), done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_rule_always_speaks(tmp_path: Path) -> None:
    """The message is quoted as a warning, on the machine of the prompt, and nobody else is asked for such a text."""
    document = triage_text(tmp_path, f"root@jump1:~# curl -k https://m/api/v1/x\n{MANY_LINES}\n")
    (finding,) = document["findings"]
    assert (finding["rule"], finding["severity"]) == ("api-error", "warning")
    assert MESSAGE in json.dumps(finding)
    assert document["sources"][0]["state"] == "read"


def test_no_host_is_asked_for_errors(tmp_path: Path) -> None:
    """A host that shows no such error is complete without one."""
    document = triage_text(tmp_path, "[root@esx1:~] vmware -v\nVMware ESXi 6.5.0 build-4564106\n")
    assert not any("api-error" in group["rules"] for group in document["cannot_tell"])
    assert not document["findings"] or document["findings"][0]["rule"] != "api-error"


def test_an_answer_that_a_finding_quotes_is_no_sign_of_trouble(tmp_path: Path) -> None:
    """The finding says what the answer says; its lines do not stand below it once more."""
    document = triage_text(tmp_path, f"{MANY_LINES}\n")
    assert [one["rule"] for one in document["findings"]] == ["api-error"]
    assert [one for one in document["signals"] if "API error" in one["why"]] == []
