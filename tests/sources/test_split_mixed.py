"""Any mix of prompts, outputs, filtered logs and prose is split without a loss.

All content is synthetic.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.artefacts.parsing import registry
from analyzer.sources.prompts import find_prompt
from analyzer.sources.transcript import split

LOG = [f"2017-10-14T16:41:0{n}.000Z cpu1:65822)ScsiDeviceIO: 2595: made up {n}" for n in range(4)]
STATS = [
    "NIC statistics for vmnic0",
    "   Packets received: 1",
    "   Packets sent: 2",
    "   Strange words here",
]
OUTPUTS = {
    "vmware -v": ["VMware ESXi 6.5.0 build-4564106"],
    "esxcli network nic stats get -n vmnic0": STATS,
    "cat /var/log/vmkernel.log": LOG,
    "grep made /var/log/vmkernel.log": [f"/var/log/vmkernel.log:{line}" for line in LOG],
    "uname -a": ["VMkernel esx01 6.5.0 #1 SMP Release build-5969303 x86_64"],
    "made-up-tool": ["what nobody reads", "a: 1"],
}
PROSE = ["", "The customer says that it is slow since Monday.", "<snip>", "..", "}"]
SESSION = st.tuples(
    st.sampled_from(["esx01", "esx02", "esx03"]),
    st.sampled_from(sorted(OUTPUTS)),
    st.integers(0, 4),
)


def lines_of(parts: list[tuple[str, str, int] | str]) -> list[str]:
    """Return the text of prompts with the first lines of their outputs, and of prose."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
        else:
            host, command, count = part
            lines += [f"[root@{host}:~] {command}", *OUTPUTS[command][:count]]
    return lines


@pytest.mark.size
@settings(max_examples=150, deadline=None)
@given(st.lists(SESSION | st.sampled_from(PROSE), max_size=12))
def test_every_line_is_in_one_piece_with_its_number_and_its_host(
    parts: list[tuple[str, str, int] | str],
) -> None:
    """No line is lost or doubled, each stands at its number, and what a prompt printed has the prompt's host."""
    lines = lines_of(parts)
    pieces = split(lines, list(registry().values()))

    numbers = [
        number
        for piece in pieces
        for number in range(piece.first_line, piece.first_line + len(piece.lines))
    ]
    assert numbers == list(range(1, len(lines) + 1))
    for piece in pieces:
        for number, line in enumerate(piece.lines, piece.first_line):
            assert lines[number - 1].endswith(line) or (line == "" and "snip" in lines[number - 1])
        if piece.command_line:
            prompt = find_prompt(lines[piece.command_line - 1])
            assert prompt is not None
            assert piece.host == prompt.host
            between = lines[piece.command_line : piece.first_line - 1]
            assert not any(find_prompt(line) for line in between)
