"""What people and programs do to names and addresses, from general knowledge and not from any list of the product.

A spelling that is not replaced has to stop the output. Not all can: a name turned round, or in a cipher, is told by nobody.
"""

from __future__ import annotations

import base64
import codecs
import ipaddress
import re
import urllib.parse
from collections import defaultdict
from collections.abc import Callable

from analyzer.redact.redaction import LeftNameError, Redaction

NAMES = (
    ("host", "esx-zwickel-07.zwickelbau.example"), ("vm", "Sap_Hoyerswerda-12"), ("vm", "Lohnbuch Pr\u00fcfung 03"),
    ("datastore", "plauen_gold_05"), ("user", "friedlinde.wacholder"),
)  # fmt: skip
QUADS, IPV6 = ("10.71.32.19", "172.19.4.8"), ("2001:db8:71:4::19:a", "fd00:71:19::c:7")
MACS, UUIDS = ("00:50:56:a9:3c:07",), ("4c4c4544-0051-3810-8058-b7c04f4e3732",)
Spell = Callable[[str], str]


def _join(sign: str) -> Spell:
    return lambda name: sign.join(re.split(r"[\W_]+", name))


def _numbers(form: str, sign: str = ".") -> Spell:
    return lambda quad: sign.join(format(int(part), form) for part in quad.split("."))


def _translate(old: str, new: str) -> Spell:
    return lambda name: name.translate(str.maketrans(old, new))


def _digits(text: str) -> str:
    return re.sub("[^0-9a-f]", "", text)


OF_NAMES: dict[str, Spell] = {
    "camel": lambda name: "".join(map(str.title, re.split(r"[\W_]+", name))),
    "double underscores": _join("__"), "two hyphens": _join("--"), "blank, hyphen, blank": _join(" - "), "hyphen U+2011": _join("\u2011"),
    "en dash": _join("\u2013"), "middle dot": _join("\u00b7"), "no-break space": _join("\u00a0"), "backslashes": _join("\\"), "colons": _join(":"),
    "hash signs": _join("#"), "plus signs": _join("+"), "at signs": _join("@"), "stars": _join("*"), "tabs": _join("\t"), "minus U+2212": _join("\u2212"),
    "parts from back to front": lambda name: ".".join(reversed(name.split("."))) if "." in name else "-".join(reversed(re.split(r"[\W_]+", name))),
    "doubled letters": lambda name: re.sub("([lnk])", r"\1\1", name), "no vowels": lambda name: re.sub("[aeiou]", "", name),
    "turned round": lambda name: name[::-1], "ROT13": lambda name: codecs.encode(name, "rot13"),
    "percent, every sign": lambda name: "".join(f"%{byte:02x}" for byte in name.encode()),
    "percent, twice": lambda name: urllib.parse.quote(urllib.parse.quote(_join("/")(name), safe=""), safe=""),
    "quoted-printable": lambda name: "".join(f"={byte:02X}" for byte in name.encode()),
    "decimal entities": lambda name: "".join(f"&#{ord(sign)};" for sign in name),
    "hexadecimal entities, padded": lambda name: "".join(f"&#x{ord(sign):06X};" for sign in name),
    "octal escapes": lambda name: "".join(f"\\{byte:03o}" for byte in name.encode()),
    "base64 of UTF-16": lambda name: base64.b64encode(name.encode("utf-16-le")).decode(),
    "base32": lambda name: base64.b32encode(name.encode()).decode(), "hexadecimal, blanks": lambda name: name.encode().hex(" "),
    "hexadecimal, capitals": lambda name: name.encode().hex().upper(), "letters of Greek": _translate("oav", "\u03bf\u03b1\u03bd"),
    "wide letters": lambda name: "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in name),
    "mathematical letters": lambda name: "".join(chr(0x1D41A + ord(sign) - 97) if "a" <= sign <= "z" else sign for sign in name),
    "zero width in each part": "\u200d".join, "soft hyphens": "\u00ad".join,
    "blanks between signs": " ".join, "cut behind 12": lambda name: name[:12], "cut behind 18": lambda name: name[:18],
    "first sign lost": lambda name: name[1:], "digits as letters": _translate("oeis", "0315"), "wide digits": _translate("0123456789", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19"),
}  # fmt: skip
OF_QUADS: dict[str, Spell] = {
    "octal": _numbers("#o"), "octal of C": lambda quad: ".".join(f"0{int(part):o}" for part in quad.split(".")), "hexadecimal": _numbers("#x"),
    "one number": lambda quad: str(int(ipaddress.IPv4Address(quad))), "one octal number": lambda quad: f"0{int(ipaddress.IPv4Address(quad)):o}",
    "three numbers": lambda quad: re.sub(r"(\d+)\.(\d+)$", lambda two: str(int(two[1]) * 256 + int(two[2])), quad),
    "mapped": lambda quad: f"::ffff:{quad}", "mapped, digits": lambda quad: ipaddress.IPv6Address(f"::ffff:{quad}").exploded,
    "6to4": lambda quad: f"2002:{int(ipaddress.IPv4Address(quad)) >> 16:x}:{int(ipaddress.IPv4Address(quad)) & 0xFFFF:x}::1",
    "braces": lambda quad: quad.replace(".", "{.}"), "commas": lambda quad: quad.replace(".", ","), "[dot]": lambda quad: quad.replace(".", "[dot]"),
    "blanks around dots": lambda quad: quad.replace(".", " . "), "hyphens in a name": lambda quad: f"ip-{quad.replace('.', '-')}-eu",
    "wide dots": lambda quad: quad.replace(".", "\uff0e"), "zeros": lambda quad: ".".join(f"00{part}" for part in quad.split(".")), "turned round": lambda quad: ".".join(reversed(quad.split("."))),
}  # fmt: skip
OF_IPV6: dict[str, Spell] = {
    "exploded": lambda text: ipaddress.IPv6Address(text).exploded, "capitals": str.upper, "a UNC name": lambda text: text.replace(":", "-") + ".ipv6-literal.net",
    "nibbles": lambda text: ipaddress.IPv6Address(text).reverse_pointer, "no colons": lambda text: ipaddress.IPv6Address(text).exploded.replace(":", ""), "in percent signs": lambda text: text.replace(":", "%3A"),
    "zone": lambda text: f"[{text}%25vmk0]:902",
}  # fmt: skip
OF_IDS: dict[str, Spell] = {
    "bare capitals": lambda text: _digits(text).upper(), "0x before pairs": lambda text: ",".join(f"0x{pair}" for pair in re.findall("..", _digits(text))), "braces": lambda text: "{" + text.upper() + "}",
    "groups of five": lambda text: "-".join(re.findall(".{1,5}", _digits(text))), "groups of two, dots": lambda text: ".".join(re.findall("..", _digits(text))), "decimal": lambda text: str(int(_digits(text), 16)),
    "pairs turned round": lambda text: "".join(reversed(re.findall("..", _digits(text)))), "escapes of C": lambda text: "".join(f"\\x{pair}" for pair in re.findall("..", _digits(text))), "base64": lambda text: base64.b64encode(bytes.fromhex(_digits(text))).decode(),
    "slashes": lambda text: "/".join(re.findall("..", _digits(text))),
}  # fmt: skip


def test_strange_spellings_stop_the_output() -> None:
    """Of those that are not replaced at least seven of ten; more than 150 are planted."""
    redaction = Redaction()
    for kind, name in NAMES:
        redaction.begin_taking().take_cell(kind, name)
    for kind, given in (("address", QUADS + IPV6), ("mac", MACS), ("uuid", UUIDS)):
        for name in given:
            redaction.begin_taking().take_cell(kind, name)
    in_ipv6 = {
        "EUI-64": lambda mac: f"fe80::2{mac[3:5]}:{mac[6:8]}ff:fe{mac[9:11]}:{mac[12:14]}{mac[15:]}"
    }
    ways = (
        ([name for _, name in NAMES], OF_NAMES),
        (QUADS, OF_QUADS),
        (IPV6, OF_IPV6),
        (MACS + UUIDS, OF_IDS),
        (MACS, in_ipv6),
    )
    planted = stopped = 0
    passed = defaultdict(list)
    for names, spellings in ways:
        for name in names:
            for how, spell in spellings.items():
                line = f"peer {(spelling := spell(name))} did not answer"
                if spelling == name or redaction.redact_text(line) != line:
                    continue
                planted += 1
                try:
                    redaction.check_results({"the note": f"{line}\n"})
                    passed[how].append(spelling)
                except LeftNameError:
                    stopped += 1
    print(planted, stopped, dict(passed))
    assert planted >= 150
    assert stopped >= planted * 0.7, dict(passed)
