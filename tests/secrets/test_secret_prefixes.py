"""Tokens by the prefixes of public scanners, and passwords in the words of ten languages; all values are made up here."""

from __future__ import annotations

import pytest

from analyzer.secrets.values import HIDDEN, hide

BODY = "Syn7h3t1cV4lu3N0tR34l" * 3  # synthetic
PREFIXES = (
    "github_pat_",
    "ghp_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AIza",
    "npm_",
    "pypi-",
    "sk-",
    "hvs.",
)
WORDS = ("Passwort: X", "Kennwort=X", "mot de passe : X", "contrase\u00f1a: X", "senha=X", "wachtwoord: X", "has\u0142o: X", "heslo: X",
         "l\u00f6senord: X", "\u043f\u0430\u0440\u043e\u043b\u044c: X", "\u5bc6\u7801: X", "echo svc:X | chpasswd", "plink -ssh a@b -pw X", "cmdkey /add:b /pass:X",
         "smbclient //b/c -U svc%X", "AccountName=a;AccountKey=X;End=b")  # fmt: skip
SOUND = (
    "task-1 risk-free disk-usage of 50%",
    "pypi-server npm_config hvs.service",
    "Kennwort abgelaufen",
    "cpu at 80% - user 12%",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_token_is_told_by_its_prefix(prefix: str) -> None:
    """The whole token goes, wherever it stands in a line."""
    made = hide(f"2021-03-01T04:19:08Z hostd[1]: got {prefix}{BODY[:45]} from peer")
    assert BODY[:10] not in made and HIDDEN in made


@pytest.mark.parametrize("line", WORDS)
def test_a_password_is_told_in_other_languages_and_commands(line: str) -> None:
    """Words and options before a password say what it is."""
    made = hide(line.replace("X", "Wolke7grau"))
    assert "Wolke7grau" not in made and HIDDEN in made


@pytest.mark.parametrize("line", SOUND)
def test_words_that_resemble_tokens_stay(line: str) -> None:
    """No line without a secret changes."""
    assert hide(line) == line
