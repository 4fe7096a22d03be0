"""Odd members inside sound bundles cost their own part and nothing else."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit import fuzz_kit, fuzz_readers, fuzz_ways, hostile

SECONDS, ROUNDS = float(os.environ.get("BACKLINE_FUZZ_SECONDS", "8")), 200
TURNS = 12  # of the readers: some 2,500 executions


@pytest.mark.size
def test_mutated_cases_go_the_whole_way() -> None:
    """Each mutated case is read, judged and shown, redacted, compared, stored or read twice, and nothing fails inside.

    No question is dropped unless what it asked for is there.

    At a desk the rounds are new in each run, for a bounded time; a check run repeats the same. A failure names its round.
    """
    first, done = 0 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 40), 0
    end = time.monotonic() + SECONDS
    with hostile.rules_read_once():
        while done < ROUNDS if os.environ.get("CI") else time.monotonic() < end:
            try:
                fuzz_ways.run_round(first + done)
            except Exception as error:  # noqa: BLE001 - whatever fails is what is looked for
                pytest.fail(
                    f"python -m tests.kit.fuzz_ways --only {first + done}: {type(error).__name__}: {error}"
                )
            done += 1
    assert done


@pytest.mark.size
def test_readers_and_parsers_of_mutated_inputs() -> None:
    """Templates, JSON, prompts, pastes, the esxtop CSV and archives: nothing fails, however their input was changed."""
    first = 0 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 40)
    done: Counter[str] = Counter()
    wrong = [
        said for turn in range(first, first + TURNS) for said in fuzz_readers.run_turn(turn, done)
    ]
    assert not wrong, "\n".join(["python -m tests.kit.fuzz_readers", *wrong[:3]])
    assert done.keys() == fuzz_readers.TARGETS.keys()


def test_a_question_that_is_dropped_is_noticed() -> None:
    """A case whose questions are gone fails the round; one that is whole, or answered by another condition, does not."""
    with hostile.rules_read_once():
        whole = fuzz_ways.read_sound("config-traps")
        assert not list(fuzz_ways.list_lost_questions(whole, "config-traps"))
        mute = replace(whole, document=msgspec.structs.replace(whole.document, cannot_tell=[]))
        assert len(list(fuzz_ways.list_lost_questions(mute, "config-traps"))) > 20
        answered = fuzz_ways.run_round(50101)  # a host of one socket was pasted beside it
    assert answered is not None
    assert "vm-spans-sockets" not in fuzz_ways.list_speaking(answered.document)


def test_the_same_round_gives_the_same_case() -> None:
    """A failure can be repeated by its number alone, and rounds differ."""
    assert fuzz_kit.mutated(7) == fuzz_kit.mutated(7)
    assert fuzz_kit.mutated(7) != fuzz_kit.mutated(8)


def test_a_port_without_a_client_beside_one_with_a_name_is_listed(tmp_path: Path) -> None:
    """`net-stats -l` shows ports without a client name: the table of ports holds them beside the others."""
    path = tmp_path / "esx.txt"
    path.write_text(
        "[root@esx01:~] net-stats -l\n"
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        "33554464            5       9 vSwitch0         00:50:56:a3:b0:7a  lin-rx.eth0\n"
        "33554465            5       9 vSwitch0         00:50:56:a3:b0:7b\n"
    )
    done = CliRunner().invoke(main, ["triage", str(path), "--json", "-", "--no-settings"])
    assert done.exit_code in (0, 5), done.output
    ports = json.loads(done.stdout)["topology"]
    assert sorted(port["port_id"] for port in ports) == ["33554464", "33554465"]
