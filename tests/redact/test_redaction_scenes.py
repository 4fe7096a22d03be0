"""Scenes with planted names and secrets, judged by what was written alone; all of them: `python -m tests.kit.redaction_scenes`."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.redact.namemap import NameMap
from tests.kit.redaction_scenes import list_scenes, run_scene

# Of each kind the fastest.
SHORT = (
    "telling lines, loose",
    "secrets, loose",
    "hostile names, transcript",
    "words of the product 30",
    "host called memory",
    "esxtop, words",
)


def test_scenes_are_as_many_as_promised() -> None:
    """At least 300 lines and 80 fields are planted, and each scene has a name of its own."""
    scenes = list_scenes()
    assert sum(scene.lines for scene in scenes) >= 300
    assert sum(scene.fields for scene in scenes) >= 80
    assert len({scene.name for scene in scenes}) == len(scenes)


@pytest.mark.size
def test_what_is_shared_tells_nothing_and_loses_nothing(tmp_path: Path) -> None:
    """No original and no secret is left; words of the product, findings and numbers are those of the plain report."""
    wrong = {}
    for number, scene in enumerate(one for one in list_scenes() if one.name in SHORT):
        if found := run_scene(scene, tmp_path / str(number), ("mail",)):
            wrong[scene.name] = found
    assert not wrong, wrong


def test_a_name_of_digits_leaves_pseudonyms_for_devices() -> None:
    """A port may be called 0200010000, and the pseudonym of every vml device holds that: there is one nevertheless."""
    names = NameMap()
    names.reserve_names(["0200010000"])
    device = "0200010000" + "6" * 32
    assert names.give_pseudonym("device", device) != device
