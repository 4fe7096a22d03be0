"""Build numbers and their releases: a list of facts, looked up offline.

`builds-esxi.csv` (ESXi 5.0 to 8.0 until 2025-04, and 9.0.0): build numbers, versions and dates
as VMware KB 2143832 listed them (copies of 2018-11 and 2022-09 in public scripts), a public
readiness script's list to 2025-04, and Wireshark's packet-vmware-hb.c to 2024-05; 9.0.0 from a
host's own output. `builds-nsxv.csv` (NSX for vSphere 6.2.0 to 6.4.14): builds from OVA file names
and cloud providers' notes; `status` says what of a row is verified.

Compare builds only inside one product version: 7.0 U2e has a higher build than 7.0 U3c.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILES = {"esxi": "builds-esxi.csv", "nsxv": "builds-nsxv.csv"}


@dataclass(frozen=True, slots=True)
class Release:
    """A release of a product.

    version  three parts as the product prints it (ESXi 5.x and 6.x print `.0` for every update)
    name     readable name, `ESXi 6.0 EP 7a`
    date     ISO date of release, "" when not known
    status   what is verified of the row; "" = all of it
    """

    product: str
    build: int
    version: str
    name: str
    date: str
    status: str


def lookup(product: str, build: int | None) -> Release | None:
    """Return the release of a build of `esxi` or `nsxv` (the Manager's build), None if not listed.

    A hot-patch build is in no list; show the number then.
    """
    return None if build is None else _releases(product).get(build)


@cache
def _releases(product: str) -> dict[int, Release]:
    text = (Path(__file__).parent / _FILES[product]).read_text(encoding="utf-8")
    found: dict[int, Release] = {}
    for row in csv.DictReader(text.splitlines()):
        build = int(row["build"])
        version = row.get("product_version") or row["version"]
        name = row.get("release") or f"NSX for vSphere {version}"
        found[build] = Release(product, build, version, name, row["date"], row.get("status", ""))
    return found
