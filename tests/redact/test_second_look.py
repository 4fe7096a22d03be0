"""Spellings that the replacer does not know: the check has eyes of its own, and stops the output."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.case.packed_text import pack_text
from analyzer.commands.redacting import place_map
from analyzer.redact.redaction import LeftNameError, Redaction
from analyzer.redact.second_look import SecondLook
from analyzer.runtime.errors import BacklineError, UsageError

NAMES = (
    ("host", "esx-zwickel-07.zwickelbau.example"), ("host", "mgr04.quendel.example"), ("vm", "Lohnbuch Pr\u00fcfung 03"),
    ("vm", "sap-hoyerswerda-12"), ("datastore", "plauen_gold_05"), ("portgroup", "Quendel-Kasse-118"),
    ("user", "friedlinde.wacholder"), ("switch", "dvs-zwickel-09"),
)  # fmt: skip
ADDRESSES = (
    ("address", "10.71.32.19"), ("address", "172.19.4.8"), ("mac", "00:50:56:a9:3c:07"), ("device", "naa.60003ba0000a1b2c3d4e5f6071829304"),
    ("uuid", "4c4c4544-0051-3810-8058-b7c04f4e3732"),
)  # fmt: skip


def _pairs(text: str) -> str:
    return "".join(sign for sign in text if sign in "0123456789abcdef")


def _group(size: int, sign: str) -> Callable[[str], str]:
    def spell(name: str) -> str:
        digits = _pairs(name.removeprefix("naa."))
        return sign.join(digits[at : at + size] for at in range(0, len(digits), size))

    return spell


def _swap(*signs: str) -> Callable[[str], str]:
    old, new = signs

    def spell(name: str) -> str:
        return "".join(new if sign in old else sign for sign in name)

    return spell


OF_NAMES: dict[str, Callable[[str], str]] = {
    "hyphen U+2010": _swap("-. _", "\u2010"),
    "dots": _swap("-_ ", "."),
    "blanks": _swap("-_.", " "),
    "slashes": _swap("-_ .", "/"),
    "tildes": _swap("-_ .", "~"),
    "zeros before numbers": lambda name: "".join(f"00{sign}" if sign.isdecimal() and (at == 0 or not name[at - 1].isdecimal()) else sign for at, sign in enumerate(name)),
    "no zeros before numbers": lambda name: name.replace("-0", "-").replace("_0", "_").replace(" 0", " ").replace("r0", "r"),
    "marks": lambda name: unicodedata.normalize("NFD", name).replace("e", "e\u0301"),
    "letters of Cyrillic": lambda name: name.translate(str.maketrans("aeo", "\u0430\u0435\u043e")),
    "in brackets": _swap("-._ ", "]["),
    "cut at 15": lambda name: name[:15].rstrip(" -_."),
    "first label, cut at 9": lambda name: name[:9].rstrip(" -_."),
}  # fmt: skip
OF_ADDRESSES: dict[str, Callable[[str], str]] = {
    "[.]": lambda text: text.replace(".", "[.]"),
    "(.)": lambda text: text.replace(".", "(.)"),
    "zero-filled": lambda text: ".".join(part.zfill(3) for part in text.split(".")),
    "dot": lambda text: text.replace(".", " dot "),
    "one dot leader": lambda text: text.replace(".", "\u2024"),
}
OF_IDS: dict[str, Callable[[str], str]] = {
    "groups of four, blanks": _group(4, " "),
    "groups of four, colons": _group(4, ":"),
    "pairs, underscores": _group(2, "_"),
    "groups of three": _group(3, "-"),
    "groups of eight, dots": _group(8, "."),
    "pairs, U+2010": _group(2, "\u2010"),
}


def _plant() -> list[tuple[str, str, str]]:
    """Return (name, how, spelling) of what is planted."""
    found = [(name, how, spell(name)) for _, name in NAMES for how, spell in OF_NAMES.items()]
    quads = [name for kind, name in ADDRESSES if kind == "address"]
    found += [(name, how, spell(name)) for name in quads for how, spell in OF_ADDRESSES.items()]
    ids = [name for kind, name in ADDRESSES if kind != "address"]
    found += [(name, how, spell(name)) for name in ids for how, spell in OF_IDS.items()]
    return [one for one in found if one[2] != one[0]]


@pytest.fixture(scope="module")
def redaction() -> Redaction:
    """What knows the names, as the tables of a case tell them."""
    made = Redaction()
    for kind, name in (*NAMES, *ADDRESSES):
        made.begin_taking().take_cell(kind, name)
    return made


def test_spellings_that_no_list_has_stop_the_output(redaction: Redaction) -> None:
    """Of more than a hundred spellings those that are not replaced stop the run, but for a few."""
    planted = _plant()
    unknown, passed = 0, []
    for name, how, spelling in planted:
        made = redaction.redact_text(f"peer {spelling} did not answer")
        is_replaced = spelling not in made
        if is_replaced and not (how.startswith(("first", "cut")) and "\u2026" in made):
            continue
        unknown += 1
        try:
            redaction.check_results({"the note": f"{made}\n"})
        except LeftNameError as error:
            assert name.casefold() not in str(error).casefold()
        else:
            passed.append((name, how, spelling))
    print(len(planted), unknown, len(passed), passed)
    assert len(planted) >= 100
    assert unknown >= 60
    assert len(passed) <= unknown // 10, passed


SOUND = (
    "2021-03-01T04:19:08.775Z cpu25:33994)ScsiDeviceIO: 3015: Cmd(0x43ab80) 0x1a, CmdSN 0x7 from world 0 to dev",
    "the host lost its heartbeat; 10, 71, 32, 19 of 172 19 4 8 lines; build 5969303, 6.7.0.3",
    "exchange of keys, plauen, gold, kasse 118, esx 07, mgr, dvs 09, sap, host02anon",
    "naa.60003ba0000a1b2c3d4e5f60718293ff 4c4c4544-0051-3810-8058-b7c04f4e3733 00:50:56:a9:3c:08",
)


def test_words_and_numbers_that_are_no_names_pass(redaction: Redaction) -> None:
    """What only resembles a name, or is a part of one that stands alone, is none."""
    redaction.check_results({"the note": "\n".join(SOUND)})


def test_the_line_is_told_and_pseudonyms_are_none(redaction: Redaction) -> None:
    """A survivor is named with its line; a pseudonym that reads like a real name is no survivor."""
    look = SecondLook([("host", "kestrel-9"), ("vm", "host-qx07")], ["host-qx07"])
    text = "one\ntwo host-qx07\n" + html.escape("three <KESTREL 009>")
    assert [(one.line, one.kind) for one in look.find_survivors(text)] == [(3, "host")]
    assert not list(look.find_survivors("a KESTREL, 9 times"))


@pytest.mark.parametrize(
    "line",
    ["peer ESX zwickel 007 is down", "sap\u2010hoyerswerda\u201012.vmx", "mac 0050 56a9 3c07"],
)
def test_lines_of_a_log_are_looked_at_word_by_word(redaction: Redaction, line: str) -> None:
    """A survivor of one word or of several is found in lines whose other words all came before."""
    look = redaction.name_residue.second_look
    lines = [
        f"2021-03-01T04:19:08.{number:03}Z the peer of line {number} is up, mac 0050"
        for number in range(50)
    ]
    met = {*" ".join(lines).split()}
    assert list(look.find_in_lines(lines, met)) == []
    met.update(line.split())
    assert [one.line for one in look.find_in_lines([*lines, line], met)] == [51]


def test_a_map_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """It tells every name that the report hides; the message says how to mend it."""
    made = Redaction(tmp_path / "map.json")
    made.begin_taking().take_cell("host", "esx-zwickel-07")
    made.keep_map()
    Redaction(tmp_path / "map.json")
    (tmp_path / "map.json").chmod(0o644)
    with pytest.raises(BacklineError, match="chmod 600"):
        Redaction(tmp_path / "map.json")


@pytest.mark.parametrize("name", ["map.json", "deeper/map.json", "../results/map.json"])
def test_a_map_inside_the_results_is_refused(tmp_path: Path, name: str) -> None:
    """Who hands the folder out would hand out the names; a map beside it is taken."""
    folder = tmp_path / "results"
    with pytest.raises(UsageError, match="would lie in the results"):
        place_map(Redaction(folder / name), folder)
    place_map(Redaction(tmp_path / "map.json"), folder)


@pytest.mark.parametrize("block", ["case", "texts"])
def test_what_a_page_carries_packed_is_looked_at(tmp_path: Path, block: str) -> None:
    """A name inside of gzip and base64 is a name that is left."""
    made = Redaction(tmp_path / "map.json")
    made.begin_taking().take_cell("host", "esx-zwickel-07")
    for words, is_left in (("host01anon is up", False), ("esx-zwickel-07 is up", True)):
        packed = pack_text(words)
        page = f'<p>host01anon</p><script type="application/gzip" id="{block}">{packed}</script>'
        with pytest.raises(LeftNameError) if is_left else nullcontext():
            made.check_results({"report.html": page})


def test_a_pseudonym_behind_a_word_of_a_file_is_no_name() -> None:
    """A host called `esx-host` is not in `esx-host02anon-2017-10-14.tgz`, which is the bundle of another."""
    redaction = Redaction()
    redaction.identities.take_cell("host", "esx-host")
    redaction.identities.take_cell("host", "zwickel07")
    other = redaction.redact_text("zwickel07")
    assert other.startswith("host")
    redaction.check_results({"case.json": f"esx-{other}-2017-10-14.tgz"})
    with pytest.raises(LeftNameError):
        redaction.check_results({"case.json": "esx-host-2017-10-14.tgz"})


_LOOK = SecondLook([*NAMES, ("ipv4", "10.71.32.19"), ("mac", "005056a93c07")], [])


@given(st.text(alphabet="0123456789abcdefx.:-%\\=&#;, \n", max_size=80))
@example("6.08.12345 10.089.1.2 0x.0x0a 0o8 1.2.99999 0179.0.0.1 08.08.08.08 00000000000")
def test_no_text_of_numbers_ends_the_second_look(text: str) -> None:
    """Versions, dates and broken numbers are looked at as well; none of them raises."""
    last = text.count("\n") + 1
    assert all(1 <= one.line <= last for one in _LOOK.find_survivors(text))
