"""Pseudonyms of addresses and ids, of the same form: networks, vendors, lengths and separators stay as they are.

IPv4: two addresses that share their first two, or three, numbers do so afterwards; the last number stays. Private
addresses stay in their private range, others go to ranges for tests and carriers (RFC 2544, RFC 6598), then to class E.
IPv6: the network becomes one of 2001:db8::/32 (RFC 3849). MAC addresses and storage ids keep the vendor (OUI).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, MutableMapping

_HEX = re.compile(r"[^0-9a-f]")
_KEPT_V4 = re.compile(r"(?:0|127|255)\.|224\.0\.0\.|(?:10|172\.16|192\.168|169\.254)(?:\.0){2,3}$")
_KEPT_MAC = re.compile(r"(?:00|ff){6}$|01005e|3333|0180c2", re.IGNORECASE)
NETS = MutableMapping[str, str]  # of a map: a prefix -> the prefix in its place


def kept_ipv4(text: str) -> bool:
    """Say whether an IPv4 address says nothing of anybody: a mask, this host, a well-known group or network."""
    return _KEPT_V4.match(text) is not None


def is_ipv4(text: str) -> bool:
    """Say whether a text is an IPv4 address in four numbers."""
    parts = text.split(".")
    return len(parts) == 4 and all(
        part.isdecimal() and len(part) < 4 and int(part) < 256 for part in parts
    )


def ipv4(text: str, nets: NETS, taken: set[str]) -> str:
    """Return the pseudonym of an address.

    nets   first two, or three, numbers -> those in their place; new ones are added
    taken  first three numbers that must not be used: real ones
    """
    one, two, three, four = text.split(".")
    wide, narrow = f"{one}.{two}", f"{one}.{two}.{three}"
    if narrow not in nets:
        used = {*nets.values(), *taken}
        if wide not in nets:
            nets[wide] = next(
                pair for pair in _candidate_pairs(one, two) if pair not in nets.values()
            )
        nets[narrow] = _find_free(nets[wide], used) or _find_free(
            next(pair for pair in _candidate_pairs("", "") if pair not in nets.values()), used
        )
    return f"{nets[narrow]}.{four}"


def _find_free(pair: str, used: set[str]) -> str:
    """Return the first free network of three numbers below two; "" when all are used."""
    return next((net for number in range(1, 255) if (net := f"{pair}.{number}") not in used), "")


def _candidate_pairs(one: str, two: str) -> Iterator[str]:
    """Yield two numbers to be in the place of two, those of the same private range first."""
    if one == "10":
        yield from (f"10.{number}" for number in range(200, 256))
    elif one == "172" and 16 <= int(two) < 32:
        yield from (f"172.{number}" for number in range(31, 15, -1))
    elif f"{one}.{two}" in ("192.168", "169.254"):
        yield f"{one}.{two}"
    yield from ("198.18", "198.19")
    yield from (f"100.{number}" for number in range(64, 128))
    yield from (f"{first}.{number}" for first in range(240, 255) for number in range(256))


def ipv6(text: str, nets: NETS, number: int, mac: Callable[[str], str], taken: set[str]) -> str:
    """Return the pseudonym of an IPv6 address; a part that was made of a MAC address is made of the pseudonym's.

    number  of this address, for the part that names the interface
    mac     gives the pseudonym of a MAC address, twelve digits
    """
    address = ipaddress.IPv6Address(text)
    if address.is_loopback or address.is_unspecified or address.is_multicast:
        return text
    digits = address.exploded.replace(":", "")
    net, own = digits[:16], digits[16:]
    if not address.is_link_local and net not in nets:
        used = {*nets.values(), *taken}
        nets[net] = next(
            new for count in range(1, 1 << 20) if (new := f"20010db8{count:08x}") not in used
        )
    if own[6:10] == "fffe":
        plain = f"{int(own[:2], 16) ^ 2:02x}{own[2:6]}{own[10:]}"
        made = mac(plain)
        tail = f"{int(made[:2], 16) ^ 2:02x}{made[2:6]}fffe{made[6:]}"
    else:
        tail = f"{number:016x}"
    return str(ipaddress.IPv6Address(int((net if address.is_link_local else nets[net]) + tail, 16)))


def ipv6_key(text: str) -> str:
    """Return an IPv6 address as the map knows it, however it is written; the text itself, in lower case, for none."""
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        return text.lower()


def ipv6_like(word: str, other: str) -> str:
    """Return another IPv6 address as a word is written: with all its zeros, with eight groups, or with `::`."""
    if "::" in word:
        return other
    whole = ipaddress.IPv6Address(other).exploded
    full = all(len(group) == 4 for group in word.split(":"))
    return whole if full else ":".join(f"{int(group, 16):x}" for group in whole.split(":"))


def kept_mac(digits: str) -> bool:
    """Say whether twelve digits name no adapter: zero, broadcast, groups."""
    return _KEPT_MAC.match(digits) is not None


def digits_of(text: str) -> str:
    """Return the hexadecimal digits of a text, in lower case."""
    return _HEX.sub("", text.lower())


def replace_digits(word: str, digits: str) -> str:
    """Return a word with its hexadecimal digits replaced by others, its signs where they stand."""
    left = iter(digits)
    made = "".join(next(left, sign) if sign in "0123456789abcdefABCDEF" else sign for sign in word)
    return made.upper() if word.isupper() else made


def vendor_digits(digits: str) -> int:
    """Return how many digits of a storage id name its form and its vendor (NAA 5 and 6, NAA 1 and 2, EUI-64)."""
    return {"6": 7, "5": 7, "2": 10, "1": 10, "c": 7}.get(digits[:1], 6)
