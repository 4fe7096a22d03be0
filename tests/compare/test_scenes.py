"""At least sixty scenes whose truth is known, judged by their written documents alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from tests.kit.compare_scenes import Scene, list_scenes
from tests.kit.scene_judge import judge_scene

# What a scene asks for that the product does not do, and why.
KNOWN: dict[str, str] = {}


def judge_written(scene: Scene, folder: Path) -> list[str]:
    """Write a scene, run the command on it, and return what is not as its truth says."""
    sides = [side.write(folder / f"s{number}") for number, side in enumerate(scene.sides)]
    out = folder / "out"
    word, name = ("compare", "compare.json") if len(sides) > 1 else ("triage", "case.json")
    result = CliRunner().invoke(main, [word, *map(str, sides), "-o", str(out), *scene.words])
    if result.exit_code not in (0, 5):
        return [f"exit {result.exit_code}: {result.output[-300:]}"]
    made = json.loads((out / name).read_text(encoding="utf-8"))
    forms = {"terminal": result.stdout}
    for file in ("compare.html", "compare.md"):
        if (out / file).is_file():
            forms[file] = (out / file).read_text(encoding="utf-8")
    return judge_scene(scene.truth, made, forms)


@pytest.mark.size
def test_each_scene_is_told_as_it_was(tmp_path: Path) -> None:
    """Who is who, what a side could see, boots and clocks, captures, meanings, news: every scene, or a named reason."""
    scenes = list_scenes()
    assert len(scenes) >= 60
    assert len({scene.name for scene in scenes}) == len(scenes)
    missed = {}
    for number, scene in enumerate(scenes):
        found = judge_written(scene, tmp_path / str(number))
        if found:
            missed[scene.name] = found
    unexpected = [
        f"{name}: {'; '.join(some)}" for name, some in missed.items() if name not in KNOWN
    ]
    assert not unexpected, f"{len(unexpected)} of {len(scenes)}:\n" + "\n".join(unexpected)
    assert not KNOWN.keys() - missed.keys(), "judged rightly now: take it out of KNOWN"
