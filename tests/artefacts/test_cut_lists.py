"""A list of blocks that ends inside one is known to be cut, and what it may have held stays open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer.artefacts.parsing import registry
from analyzer.ingest.artefacts import ends_inside
from tests.kit import fuzz_kit, hostile, sample_kit

OPTIONS = "localcli_system-settings-advanced-list--d.txt"
RULE = "shell-warning-suppressed"


def list_outputs() -> Iterator[tuple[str, list[str]]]:
    """Yield the samples of all outputs of esxcli."""
    for sample in sample_kit.ALL:
        parser = registry()[sample.parser]
        if "esxcli" in "".join(parser.commands):
            yield str(sample), sample_kit.recognised(parser, sample).lines


OUTPUTS = dict(list_outputs())


def find_labels(lines: list[str]) -> list[list[str]]:
    """Return the labels of each paragraph that has any."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    labels = [re.findall(r"^ *([A-Z#][^:\n]*):(?:\s|$)", one, re.MULTILINE) for one in paragraphs]
    return [one for one in labels if one]


def list_alike() -> Iterator[str]:
    """Yield the names of the samples whose objects have the same labels, each once."""
    for name, lines in OUTPUTS.items():
        labels = find_labels(lines)
        if len(labels) > 1 and len(set(map(tuple, labels))) == 1 and len(set(labels[0])) == len(labels[0]) > 1:  # fmt: skip
            yield name


ALIKE = list(list_alike())


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_whole_output_is_cut(name: str) -> None:
    """A whole output is whole, whatever its objects lack; of one sample somebody pasted the beginning alone."""
    assert ends_inside(OUTPUTS[name]) == (name == "advanced_list/one_option8")


@pytest.mark.parametrize("name", ALIKE)
def test_a_list_is_cut_where_its_last_object_lacks_labels(name: str) -> None:
    """Without its last labels a list is cut, as long as one of them is left, and without the whole object it is not."""
    lines = OUTPUTS[name]
    size = len(find_labels(lines)[0])
    labelled = [at for at, line in enumerate(lines) if re.match(r" *[A-Z#][^:]*:(?:\s|$)", line)]
    for missing in range(1, size):
        assert ends_inside(lines[: labelled[-missing]]), missing
    assert not ends_inside(lines[: labelled[-size]])


def test_many_lists_show_a_cut() -> None:
    """The test above looks at what it says."""
    assert len(ALIKE) >= 40


def test_a_list_of_one_label_is_never_cut() -> None:
    """Where each object has one label nothing tells whether there was more."""
    assert not ends_inside(["Name: a", "", "Name: b", "", "Name: c"])
    assert not ends_inside([])
    assert not ends_inside(["no label at all"])
    assert ends_inside(["Name: a", "Size: 1", "", "Name: b"])


def test_an_option_behind_the_cut_stays_open(tmp_path: Path) -> None:
    """A rule about an option is not quiet where the list of options ends before it."""
    case = dict(fuzz_kit.sound("config-traps"))
    (path,) = [path for path in case if path.endswith(OPTIONS)]
    lines = case[path].splitlines(keepends=True)
    (at,) = [number for number, line in enumerate(lines) if b"/Net/CoalesceTxTimeout" in line]
    case[path] = b"".join(lines[: at + 3])
    document = hostile.ask(fuzz_kit.written(case, tmp_path)).document
    assert document is not None
    (group,) = [one for one in document.cannot_tell if RULE in one.rules]
    assert "ends early" in group.why
