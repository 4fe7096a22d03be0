"""Lines of logs without names: read once, each word replaced and proved once, with what whole texts give as the measure."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import textwrap
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.redact import signedlines
from analyzer.redact.encodings import decode_words, encoded_words, words_in
from analyzer.redact.identities import Identities
from analyzer.redact.log_lines import LineNames, LineProof, LineReplacer
from analyzer.redact.namemap import NameMap
from analyzer.redact.replacing import Replacer
from analyzer.redact.residue import Residue
from analyzer.redact.textforms import found_at
from analyzer.views import log_text as show
from tests.kit.redaction_check import spellings
from tests.redact.test_redact_places import LINES

CASE = Path(__file__).resolve().parents[2] / "samples" / "cases" / "slow-storage"
# A host whose names are parts of one another, spelled in more ways than one.
NAMES = [
    ("host", "esx01"), ("host", "esx01-db"), ("host", "esx011"), ("host", "web.site-b.example"), ("vm", "Acme ERP prod"),
    ("vm", "Acme ERP"), ("vm", "lin-db,02 (prod)"), ("vm", "error"), ("user", "CORP\\j.doe"), ("email", "jane.roe@corp.example"),
    ("datastore", "gold \"one\""), ("ipv4", "10.20.30.4"), ("ipv4", "10.20.30.44"), ("ipv6", "fd00:12::7"), ("ipv6", "fd00:12::77"),
    ("mac", "00505612ab01"), ("device", "600508b1001c00000000000000a10777"), ("ticket", "12345678"),
    ("uuid", "59e1f0aa1b2c3d4e0007002590aa7001"), ("label", "m\u00fcnchen-west"),
]  # fmt: skip
SOUGHT = [
    "esx01", "web.site-b", "corp.example", "Acme ERP", "lin-db,02 (prod)", "j.doe", "jane.roe", 'gold "one"', "10.20.30.4",
    "fd00:12::7", "00:50:56:12:ab:01", "0050.5612.ab01", "600508b1001c00000000000000a10777", "12345678",
    "59e1f0aa-1b2c-3d4e-0007-002590aa7001", "m\u00fcnchen-west",
]  # fmt: skip
SPOKEN = [
    "esx01", "esx01-db", "esx011.corp.example", "WEB.site-b.example", "Acme ERP prod", "acme erp", "lin-db,02 (prod)",
    "CORP\\j.doe", "jane.roe@corp.example", 'gold "one"', "10.20.30.4", "10.20.30.44", "10-20-30-4", "fd00:12::7", "FD00:12::77",
    "fd00:12:0:0:0:0:0:7", "fd00:0012:0000:0000:0000:0000:0000:0007", "00:50:56:12:AB:01", "00-50-56-12-ab-01", "0050.5612.ab01",
    "005056:12:ab:01 00505612ab01", "naa.600508b1001c00000000000000a10777", "59e1f0aa-1b2c3d4e-0007-002590aa7001",
    "59 e1 f0 aa 1b 2c 3d 4e-00 07 00 25 90 aa 70 01", "SR 12345678", "m\u00fcnchen-west",
]  # fmt: skip
CODES: list[Callable[[str], str]] = [
    str, str, str.upper, urllib.parse.quote, html.escape, lambda name: json.dumps(name)[1:-1],
    lambda name: "".join(f"&#{ord(sign)};" for sign in name), lambda name: "".join(f"%{ord(sign):02x}" for sign in name if ord(sign) < 128),
    lambda name: base64.b64encode(name.encode()).decode(), lambda name: name.encode().hex(),
]  # fmt: skip
PLAIN = [
    "completed",
    "0x4b2f",
    "(1234)",
    "error",
    "vmnic3",
    "state:",
    "->",
    "2021",
    "a=b",
    "[opID=5e3f-77]",
    "89%",
]


@st.composite
def log_lines(draw: st.DrawFn) -> list[str]:
    """Lines of plain words in which names stand, some of them encoded; `|` on both sides tells the words from names."""
    name = st.builds(lambda code, name: code(name), st.sampled_from(CODES), st.sampled_from(SPOKEN))
    word = st.one_of(st.sampled_from(PLAIN), name.map(lambda one: f"| {one} |"))
    line = st.lists(word, min_size=1, max_size=8).map(" ".join)
    return draw(
        st.lists(line.map(lambda text: f"2021-03-01T00:00:00.002Z {text}"), min_size=1, max_size=6)
    )


def known() -> Identities:
    """The names of the host."""
    names = Identities()
    for kind, name in NAMES:
        if kind in ("ipv4", "ipv6", "mac", "device", "uuid", "ticket"):
            names.names[kind, name] = None
        else:
            names.take_cell(kind, name)
    return names


@pytest.fixture(scope="module")
def replacer() -> Replacer:
    """What replaces the names of the host."""
    found = known().list_found()
    given_names = NameMap()
    given_names.reserve_names(name for _, name in found)
    return Replacer(given_names, found)


@pytest.mark.size
@settings(max_examples=60, deadline=None)
@example(lines=["2021-03-01T00:00:00.002Z | 31302e32302e33302e34 | | 31302e32302e33302e3434 |"])
@given(lines=log_lines())
def test_no_original_is_left_in_a_line(replacer: Replacer, lines: list[str]) -> None:
    """However a name is written in a line, it is gone; the words beside it, and the lines, are what they were."""
    made = LineReplacer(replacer).replace_texts(lines)
    assert made == replacer.replace_texts(lines)
    for line, new in made.items():
        low = new.lower()
        for name in SOUGHT:
            pattern = r"(?<![\d.]){}(?!\d|\.\d)" if name[0] == "1" else "{}"
            left = [
                one for one in spellings(name) if re.search(pattern.format(re.escape(one)), low)
            ]
            assert not left, (line, new)
        kept = [part for part in re.split(r"\|[^|]*\|", html.unescape(line)) if part.strip()]
        assert all(
            part.strip() in html.unescape(urllib.parse.unquote(new)) or "%" in part for part in kept
        ), (
            line,
            new,
        )
        assert line.count("|") == new.count("|") and new.startswith("2021-03-01T00:00:00.002Z ")
    proof = LineProof(Residue(replacer, known().list_found()), set())
    assert not list(proof.find_survivors("the output", list(made.values())))


SAID = [
    "Hostd: user={0} logged in from {1}", "Accepted password for {0} from {1} port 22", 'VM "{0}" on host {2} failed',
    "connect to {1} failed, driver 6.7.0.3", "Serial Number: {3}", "SR {3}: see INC00{3}", "server {2} mount point /vol/{0}",
    "device naa.600508b1001c0000{3}0000a1 path", "/vmfs/volumes/{0}/{2}/{2}.vmx: opened 0x{3}", "link {2}.corp.example is up {3}",
]  # fmt: skip
VALUE = st.sampled_from(
    [
        "esx01",
        "db12",
        "1234",
        "12",
        "ab34",
        "3ab4",
        "acme-7",
        "m3",
        "12345678",
        "123456",
        "5b0c1c39",
        "web",
    ]
)
ADDRESS = st.sampled_from(["10.1.1.7", "6.7.0.3", "10.1.1.70", "192.168.300.1", "127.0.0.1"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(SAID), VALUE, ADDRESS, VALUE, VALUE), min_size=1, max_size=40
    )
)
def test_the_names_of_lines_of_one_form_are_all_taken(said: list[tuple[str, ...]]) -> None:
    """Of lines that differ in numbers alone no name is passed over: they give the names that each line for itself gives."""
    lines = [form.format(*values) for form, *values in said]
    each, once, together = Identities(), Identities(), Identities()
    each.take_lines(lines)
    names = LineNames(once)
    for line in lines:
        names.take_texts([line])
        names.close()
    assert once.list_found() == each.list_found()
    names = LineNames(together)
    names.take_texts(lines)
    names.close()
    assert together.list_found() == each.list_found()


def run(*words: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(main, [*map(str, words)])


LEAKS = (
    "ESX71",
    "es\u00adx71",
    "e&#115;x71",
    "%65sx71",
    b"lin-erp02".hex(),
    "bGluLWVycDAy",
    "lun-prod-07",
    "nothing",
)


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("form", ["text", "jsonl", "csv"])
def test_a_name_that_is_left_in_a_line_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: str, form: str
) -> None:
    """Output in which a name is left is not printed: exit code 6, and the message says at which line, not which name."""
    whole = show.write_lines

    def leaking(lines: Iterator[Any], form: str) -> Iterator[str]:
        yield from whole(lines, form)
        yield f"2021-03-01T00:00:00.002Z and {leak}, said [vmkernel.log:77]"

    monkeypatch.setattr(show, "write_lines", leaking)
    done = run("log", CASE, "--format", form, "--redact", "--redact-map", tmp_path / "map")
    assert done.exit_code == (0 if leak == "nothing" else 6), done.output
    assert bool(done.stdout) == (leak == "nothing")
    assert leak == "nothing" or (
        "the output, line" in done.output and leak.lower() not in done.output.lower()
    )


def test_the_material_is_read_once_for_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--redact` the logs are read as often as without, beside the reading for the names of tables."""
    from analyzer.views.log_reading import MergedLog

    read: list[int] = []
    whole = MergedLog._read_entries
    monkeypatch.setattr(
        MergedLog,
        "_read_entries",
        lambda self, *args, **words: read.append(1) or whole(self, *args, **words),
    )
    assert run("log", CASE, "--redact", "--redact-map", tmp_path / "map").exit_code == 0
    assert read == [1]


def test_encoded_lines_of_a_mail_are_hidden_with_what_goes_on_in_the_next(tmp_path: Path) -> None:
    """Base64 in lines of 76 signs, hexadecimal in lines of 60: a host name across their ends is in none that is printed."""
    text = f"The host is called {'x' * 28}zqesx77.acmeforge.example, and {'so on ' * 20}".encode()
    lines = [
        *textwrap.wrap(base64.b64encode(text).decode(), 76)[:-1],
        *textwrap.wrap(text.hex(), 60)[:-1],
    ]
    assert not any(b"zqesx77.acmeforge" in base64.b64decode(line) for line in lines[:2]), (
        "the end of a line cuts it in two"
    )
    head = "cpu25:33994)ALERT: hostd detected to be non-responsive: "
    log = "".join(f"2021-03-01T04:{at:02}:08.775Z {head}{line}\n" for at, line in enumerate(lines))
    (tmp_path / "vmkernel.log").write_text(log, encoding="utf-8")
    (tmp_path / "typed.txt").write_text(
        "[root@zqesx77:~] hostname\nzqesx77.acmeforge.example\n", encoding="utf-8"
    )
    done = CliRunner().invoke(
        main, ["log", str(tmp_path), "--redact", "--redact-map", str(tmp_path / "map.json")]
    )
    assert done.stdout.count("non-responsive") == len(lines)
    assert [line for line in lines if line in done.stdout] == []


def test_a_sign_finds_in_its_lines_what_it_finds_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pattern is tried on the lines that hold a word it needs: the same names at the same places as on every line."""
    text = "\n".join(
        [f"2021-03-01T04:00:08.775Z {line[0]}" for line in LINES]
        + [f"nothing here {n}" for n in range(300)]
    )
    some = list(found_at(text, set(), lambda _kind: True))
    monkeypatch.setattr(signedlines, "FEW", len(text))
    assert some == list(found_at(text, set(), lambda _kind: True)) and len(some) > len(LINES) / 2


@pytest.mark.parametrize(
    ("kind", "name", "written"),
    [("vm", "cafe01", ""), ("vm", "0xcafe0", ""), ("vm", "12345us", ""), ("vm", "e6141e", ""), ("vm", "7d-9194", ""),
     ("vm", "4f1", ""), ("mac", "00505612ab01", "005056-12ab01"), ("uuid", "59e1f0aa1b2c3d4e", "59e1f0aa-1b2c3d4e")],
)  # fmt: skip
def test_a_name_that_looks_like_a_number_is_replaced_in_one(
    kind: str, name: str, written: str
) -> None:
    """Short numbers and ids of operations are not looked at, unless a name looks like one."""
    known = NameMap()
    known.reserve_names([name])
    line = (
        "at 0xcafe01 after 12345us in 0xcafe0 opID=e6141e-919488 opID=a7d-9194-1 opID=12-4f1 opID=005056-12ab01 "
        "opID=59e1f0aa-1b2c3d4e"
    )
    made = LineReplacer(Replacer(known, [(kind, name)])).replace_texts([line])[line]
    assert (written or name) in line and (written or name) not in made
    assert (
        LineReplacer(Replacer(known, [("vm", "web-server-01")])).replace_texts([line])[line] == line
    )


def base(text: bytes) -> str:
    """Return text in base64."""
    return base64.b64encode(text).decode()


ENCODINGS: list[Callable[[bytes], str]] = [
    base, lambda name: base(name).rstrip("="), lambda name: base(name.decode().encode("utf-16-le")),
    lambda name: base(name.decode().encode("utf-16-be")), lambda name: base(base(name).encode()), lambda name: base(name).encode().hex(),
    lambda name: base(name.hex().encode()), lambda name: base(b"x" * 4000 + name + b"y" * 100), lambda name: (b"x" * 3000 + name).hex(),
    lambda name: f"0x{name.hex()}", lambda name: f"1{name.hex()}", lambda name: name.hex(" "), lambda name: name.hex(":").upper(),
    lambda name: name.hex("-"), lambda name: ", ".join(f"0x{sign:02x}" for sign in name),
    lambda name: "\\n".join(textwrap.wrap(base(b"a machine is called " + name + b", and more"), 28)),
    lambda name: "\\r\\n".join(textwrap.wrap(base(b"a machine is called " + name + b", and more"), 32)),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(ENCODINGS)))
def test_an_encoded_name_is_found_in_every_form(replacer: Replacer, at: int) -> None:
    """Twice encoded, as UTF-16, in pairs of digits apart, deep in a long word, broken by `\\n`: nothing of it is left."""
    for name in (b"esx01", b"m\xc3\xbcnchen-west", b"web.site-b.example"):
        if name[1] < 128:
            code = ENCODINGS[at](name)
            line = f"2021-03-01T00:00:00.002Z data {code} of the task"
            made = replacer.replace_text(line)
            assert (
                code not in made
                and made.startswith("2021-03-01T00:00:00.002Z data ")
                and made.endswith(" of the task")
            )
            assert LineReplacer(replacer).replace_texts([line])[line] == made


@pytest.mark.parametrize("width", [16, 20, 28, 40, 48, 56])
def test_a_name_that_a_line_end_cuts_is_found_at_any_width(replacer: Replacer, width: int) -> None:
    """Base64 and hexadecimal in short lines: those whose ends and beginnings make a name are hidden, the others stay."""
    said = b"a machine is called web.site-b.example, and then there is more to say of other things"
    for text in (base(said), said.hex()):
        parts = textwrap.wrap(text, width)
        lines = [f"2021-03-01T00:00:00.{at:03}Z data: {part}" for at, part in enumerate(parts)]
        for made in (replacer.replace_texts(lines), LineReplacer(replacer).replace_texts(lines)):
            kept = "".join(
                line for line, part in zip(made.values(), parts, strict=True) if part in line
            )
            assert parts[-1] in kept and len(made) == len(lines)
            joined = "".join(
                part if part in line else "|"
                for line, part in zip(made.values(), parts, strict=True)
            )
            for piece in joined.split("|"):
                read = [bytes.fromhex(piece[: len(piece) // 2 * 2])] if text == said.hex() else []
                read += [
                    base64.b64decode(piece[at : at + (len(piece) - at) // 4 * 4] + "====")
                    for at in range(4)
                ]
                assert not any(
                    b"web.site-b.example" in one or b"web.site-b" in one for one in read
                ), (width, joined)
        residue = Residue(replacer, known().list_found())
        assert [str(one) for one in residue.find_survivors("it", "\n".join(lines))], (
            "the proof sees what is left"
        )
        assert not list(
            residue.find_survivors("it", "\n".join(replacer.replace_texts(lines).values()))
        )


def _planted(made: random.Random, name: str) -> str:
    """Return a word, or pairs of digits, that holds a name in some code, with other signs around it."""
    raw = (
        made.choice(["", "vm ", "ab:"]).encode() + name.encode() + made.choice([b"", b"!", b" is"])
    )
    noise = bytes(made.randrange(256) for _ in range(made.randrange(9)))
    wide = raw.decode().encode(made.choice(["utf-16-le", "utf-16-be", "utf-16"]))
    codes = [
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(noise + raw + noise).decode().rstrip("="),
        base64.b64encode(base64.b64encode(raw)).decode(),
        base64.b64encode(raw.hex().encode()).decode(),
        base64.b64encode(wide).decode()[made.randrange(2) :],
        raw.hex(),
        wide.hex(),
        " ".join(f"{sign:02x}" for sign in raw),
    ]
    return (
        made.choice(["", "A", "Ab3", "x="])
        + made.choice(codes)
        + made.choice(["", "Q", "=", "zz9"])
    )


def test_what_is_decoded_at_once_shows_what_each_word_shows() -> None:
    """Every name that a word decoded for itself holds is in what thousands of words, decoded by one call, mean."""
    made = random.Random(7)
    names = ["zqesx-b19", "Prod-DB", "10.20.30.40", "zq tier3 nfs", "00:25:b5:a1:c9:e7"]
    words = [_planted(made, made.choice(names)) for _ in range(1500)]
    each = {
        word: {name for _, _, part in encoded_words(word) for name in names if name in part}
        for word in words
    }
    assert sum(map(bool, each.values())) > 1000
    assert [
        word
        for word, held in each.items()
        if any(name not in decode_words(words_in(word)) for name in held)
    ] == []
    together = decode_words(words_in("\n".join(words)))
    assert {name for held in each.values() for name in held} <= {
        name for name in names if name in together
    }
