"""The list of builds: what it knows, and what it does not pretend to know."""

from __future__ import annotations

import re

import pytest

from analyzer.artefacts import builds


@pytest.mark.parametrize(
    ("build", "version", "name"),
    [
        (5224934, "6.0.0", "ESXi 6.0 Express Patch 7a"),
        (10719125, "6.5.0", "ESXi 6.5 EP 11"),
        (22380479, "8.0.2", "ESXi 8.0 Update 2"),
        (24755229, "9.0.0", "ESXi 9.0 GA"),
    ],
)
def test_a_listed_build_has_version_and_name(build: int, version: str, name: str) -> None:
    """Builds of published measurements and captures are found under their release."""
    release = builds.lookup("esxi", build)
    assert release is not None
    assert (release.version, release.name) == (version, name)


def test_an_unlisted_build_has_no_release() -> None:
    """A hot patch is in no list: the answer is None, not the nearest release."""
    assert builds.lookup("esxi", 5224935) is None
    assert builds.lookup("esxi", None) is None
    assert builds.lookup("nsxv", 5224934) is None


def test_a_number_alone_does_not_order_releases() -> None:
    """7.0 U2e has a higher build than 7.0 U3c: compare only inside one product version."""
    newer, older = builds.lookup("esxi", 19193900), builds.lookup("esxi", 19290878)
    assert newer is not None
    assert older is not None
    assert newer.build < older.build
    assert (newer.version, older.version) == ("7.0.3", "7.0.2")


def test_nsx_rows_say_what_of_them_is_verified() -> None:
    """6.3.3 is verified from an OVA name; rows from memory are marked so."""
    release = builds.lookup("nsxv", 6276725)
    assert release is not None
    assert (release.version, release.name) == ("6.3.3", "NSX for vSphere 6.3.3")
    assert "build verified" in release.status
    marked = builds.lookup("nsxv", 3300239)
    assert marked is not None
    assert "unverified" in marked.status


@pytest.mark.parametrize("product", ["esxi", "nsxv"])
def test_every_row_is_well_formed(product: str) -> None:
    """Builds are unique whole numbers, versions have three parts, dates are ISO or empty."""
    found = builds._releases(product)
    assert len(found) >= 33
    for build in found:
        release = builds.lookup(product, build)
        assert release is not None and release.build == build
        assert re.fullmatch(r"\d+\.\d+\.\d+", release.version), release
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", release.date), release
        assert release.name
