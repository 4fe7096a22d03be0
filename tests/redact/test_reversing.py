"""What was replaced goes back as it stood: each spelling of each name, in texts of any kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli import main
from analyzer.redact.namemap import FORMAT, NameMap, load_map
from analyzer.redact.replacing import Replacer
from analyzer.redact.reversing import reverse_text

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "cases"
NAMES = (
    ("host", "esx01"), ("domain", "lab.acme.com"), ("fqdn", "esx01.lab.acme.com"), ("host", "esx02"), ("host", "host"),
    ("fqdn", "host.lab.acme.com"), ("vm", "Lin-App07"), ("vm", "lin-db,02 (prod)"), ("vm", "Müller Büro"), ("vm", "Straße 7"),
    ("vm", "error"), ("vm", "a&b <c>"), ("user", "jdoe"), ("datastore", "LUN Prod 07"), ("input", "471120399"),
    ("serial", "CZ3412AB7"), ("iqn", "iqn.1998-01.com.acme:zq01"), ("mac", "005056a68001"), ("mac", "0025b3a11001"),
    ("uuid", "564d1234567890ab564d1234567890ab"), ("uuid", "59e1f0aa1b2c3d4e0007002590aa7001"), ("ipv4", "10.1.2.3"),
    ("ipv4", "192.0.2.31"), ("ipv6", "2001:db8:17::1"), ("ipv6", "fe80::250:56ff:fea6:8001"),
    ("device", "600508b1001c0000000000000000a107"), ("vm", "ΣΊΣΥΦΟΣ"), ("vm", "host01anon"), ("vm", "db1"),
)  # fmt: skip
SPELLINGS = (
    *(name for kind, name in NAMES if kind not in ("mac", "uuid", "device")), "00:50:56:a6:80:01", "00-50-56-A6-80-01",
    "0050.56a6.8001", "564d1234-5678-90ab-564d-1234567890ab", "56 4d 12 34 56 78 90 ab-56 4d 12 34 56 78 90 ab",
    "59e1f0aa-1b2c3d4e-0007-002590aa7001", "naa.600508b1001c0000000000000000a107", "10-1-2-3", "3.2.1.10.in-addr.arpa",
    "esx01-lab-acme-com", "lin_app07", "linapp07", "lin-appN", "lin-db%2C02%20%28prod%29", "mueller-buero", "a&amp;b &lt;c&gt;",
    "LUN+Prod+07", "lun-prod-07", "VM error", "vm 'error'", "2001:DB8:17:0:0:0:0:1", "2001:0db8:0017:0000:0000:0000:0000:0001",
    "xesx01y", "esx017", "Esx0", "error",
    "010.1.2.3", "2001:dB8:17::1", "2001:0db8:17::1", "::ffff:0a01:0203", "0x0a010203", "167838211", "bGluLWFwcDA3", "ZGIx",
)  # fmt: skip


def _mix(word: str, pattern: int) -> str:
    """Return a word with some of its letters in capitals."""
    return "".join(sign.upper() if pattern >> nth & 1 else sign for nth, sign in enumerate(word))


_WORD = st.one_of(
    st.sampled_from(SPELLINGS),
    st.sampled_from(SPELLINGS).map(str.upper),
    st.sampled_from(SPELLINGS).map(str.lower),
    st.builds(_mix, st.sampled_from(SPELLINGS), st.integers(0, 1 << 20)),
    st.text(alphabet="aZ09 -_.:/\"'<>&|\n", max_size=8),
)
_TEXT = st.lists(
    st.tuples(_WORD, st.sampled_from((" ", " ", ", ", "/", "\n", "|", "=", '"'))), max_size=12
)


@settings(max_examples=120, deadline=None)
@given(_TEXT)
def test_reversing_gives_back_what_stood_there(parts: list[tuple[str, str]]) -> None:
    """Names in any spelling, between any signs: replaced and put back the text is the same, also by the map as it is kept."""
    text = "".join(word + sign for word, sign in parts)
    known = NameMap()
    known.reserve_names(name for _, name in NAMES)
    made = Replacer(known, NAMES).replace_text(text)
    assert reverse_text(known, made) == text, made


def test_a_document_of_json_stays_one() -> None:
    """A name with a quote or a backslash is written in JSON as JSON writes it, in other texts as it is."""
    names = [("vm", 'the "big" \\ one')]
    known = NameMap()
    value = {"vm": names[0][1], "line": f"VM {names[0][1]} is up"}
    made = Replacer(known, names).replace_document(value)
    assert "big" not in json.dumps(made)
    assert json.loads(reverse_text(known, json.dumps(made))) == value
    assert reverse_text(known, made["line"]) == value["line"]


def test_a_map_of_before_is_used_and_reversed(tmp_path: Path) -> None:
    """Pseudonyms that an earlier version gave stay, in all their forms, beside new ones of the new form."""
    path = tmp_path / "map"
    names = {
        "host": {"esx01": "host-01"}, "domain": {"lab.acme.com": "domain-01.example"}, "vm": {"Lin-App07": "vm-01"},
        "serial": {"CZ3412AB7": "SERIAL-01"}, "mac": {"005056a68001": "005056000001"},
    }  # fmt: skip
    path.write_text(json.dumps({"format": FORMAT, "revision": 3, "names": names}), encoding="utf-8")
    path.chmod(0o600)
    answer = "vm-01 and vm_01 on HOST-01, host-01.domain-01.example, SERIAL-01, 00:50:56:00:00:01, vm-N, host-011"
    meant = "Lin-App07 and lin_app07 on esx01, esx01.lab.acme.com, CZ3412AB7, 00:50:56:a6:80:01, Lin-AppN, host-011"
    known = load_map(path)
    assert reverse_text(known, answer) == meant
    text = "esx01 esx02 00:50:56:a6:80:01"
    kinds = [("host", "esx01"), ("host", "esx02"), ("mac", "005056a68001")]
    made = Replacer(known, kinds).replace_text(text)
    assert made == "host-01 host02anon 00:50:56:00:00:01"
    known.save_map()
    assert reverse_text(load_map(path), made) == text


@pytest.mark.size
@pytest.mark.parametrize("form", ["text", "md", "mail"])
def test_every_form_of_every_sample_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """What is printed of a sample, with its names put back, is what is printed without --redact, but for its head."""
    monkeypatch.setenv("COLUMNS", "1000")  # a line broken within a pseudonym has none any more
    for case in sorted(path for path in SAMPLES.iterdir() if path.is_dir()):
        run = CliRunner().invoke(
            main, ["triage", str(case), "-o", str(tmp_path / case.name), "--quiet"]
        )
        assert run.exit_code in (0, 5), run.output
        shown = ["show", str(tmp_path / case.name), "--format", form, "-vv"]
        plain = CliRunner().invoke(main, shown)
        made = CliRunner().invoke(main, [*shown, "--redact", "--redact-map", str(tmp_path / "map")])
        assert plain.exit_code == made.exit_code == 0, made.output
        again = reverse_text(load_map(tmp_path / "map"), made.stdout)
        odd = [line for line in again.split("\n") if line not in plain.stdout.split("\n")]
        assert [line for line in odd if "revision" not in line] == [], case.name
