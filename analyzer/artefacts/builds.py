"""Build numbers and their releases: a list of facts, looked up offline.

They are rows of the catalog (kb/facts/esxi_build.csv, nsx_build.csv), each with its source, which rules may join as
`kb.esxi_build` and `kb.nsx_build`. They are read here as well, because a release is named while a case is read, before
there is a rule.

Compare builds only inside one product version: 7.0 U2e has a higher build than 7.0 U3c.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from analyzer.runtime.catalog_home import find_catalog

_FILES = {"esxi": "esxi_build.csv", "nsxv": "nsx_build.csv"}


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


def find_release(product: str, build: int | None) -> Release | None:
    """Return the release of a build of `esxi` or `nsxv` (the Manager's build), None if not listed.

    A hot-patch build is in no list; show the number then.
    """
    row = None if build is None else _read_releases(product).get(build)
    if build is None or row is None:
        return None
    version = row.get("product_version") or row["version"]
    name = row.get("release") or f"NSX for vSphere {version}"
    return Release(product, build, version, name, row["date"], row.get("status", ""))


@cache
def _read_releases(product: str) -> dict[int, dict[str, str]]:
    text = (find_catalog() / "facts" / _FILES[product]).read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        if product == "nsxv" and (row["product"], row["artefact"]) != (
            "NSX for vSphere",
            "manager",
        ):
            continue
        found[int(row["build"])] = row
    return found
