"""Write many small synthetic cases for tests and measurements of the archive.

    python tools/make_cases.py OUT --count N [--seed S] [--broken SHARE] [--form folder|tgz|mixed]

Each case is 5 to 60 KB: a vm-support bundle or two, a pasted session, sometimes an esxtop batch file.
Most are healthy; some fire each of the shipped rules; some lack a piece, so that rules cannot tell.
Everything is made up, and every case says so. Case number n of a seed is always the same bytes,
however many are made. `--broken` makes that share unreadable: cut, empty, noise, text, damaged.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.rules import default_paths, load
from tools import case_text, nsx_site, nsxt_site
from tools.case_hosts import SYNTHETIC, Host, new_host
from tools.case_pack import Files, tgz

FIRST_DAY = datetime(2023, 12, 1, 8, 0, tzinfo=UTC)
DAYS = 1080
FORMS = ("folder", "tgz", "mixed")


class Made(NamedTuple):
    """One case as written: its path, and what it was made to be (a scenario, or `broken-<how>`)."""

    path: Path
    kind: str


class Case:
    """A case in the making: its hosts, and files next to their bundles."""

    def __init__(self, dice: random.Random, number: int) -> None:
        self.dice = dice
        when = FIRST_DAY + timedelta(days=dice.randrange(DAYS), minutes=dice.randrange(600))
        count = dice.choice((1, 1, 1, 1, 1, 1, 2, 3))
        self.hosts = [new_host(dice, number * 3 + n, when) for n in range(count)]
        self.files: Files = {}
        self.esxtop = dice.random() < 0.2
        self.transcript = True
        self.bundles = True

    @property
    def host(self) -> Host:
        """The host that a scenario works on."""
        return self.hosts[0]


# --- scenarios: each fires the rule it is named after, unless its name begins with `lacks-` ---------


def _from_example(name: str, files: Sequence[Mapping[str, str]]) -> Callable[[Case], None]:
    """Return the scenario of a rule: the files of an example that matches, next to the hosts of the case.

    Outputs of commands are in one pasted session, each below the prompt of its host.
    """
    typed = []
    for file in files:
        if "command" in file:
            typed.append(
                f"[root@{file.get('node', 'esx-01')}:~] {file['command']}\n{file['text'].rstrip()}\n"
            )
    found = {file["path"]: file["text"] for file in files if "path" in file}
    if typed:
        found[f"{name}.txt"] = "".join(typed)

    def put(case: Case) -> None:
        case.files.update(found)

    return put


def find_examples() -> Iterator[tuple[str, Callable[[Case], None]]]:
    """Yield each rule of the shipped catalog that has an example in files, as they reach an engineer, which matches."""
    for rule in load(default_paths(), examples=True).rules:
        for example in rule.examples:
            alone = (
                not (example.tables or example.logs or example.gap)
                and example.expect["result"] == "match"
            )
            if (
                alone
                and example.files
                and all(file.keys() & {"path", "command"} for file in example.files)
            ):
                yield rule.id, _from_example(rule.id, example.files)
                break


def raise_ready_time(case: Case) -> None:
    case.esxtop = True
    case.host.vms[0].ready = case.dice.choice((7.0, 12.0, 25.0))


def add_minority(case: Case) -> None:
    case.files["controller-1.txt"] = nsx_site.session_of(1, majority=nsx_site.NO_MAJORITY)


def add_cut_controller(case: Case) -> None:
    bundle = nsx_site.make_state("exposed")["nsx-controller-1.tgz"]
    case.files["nsx-controller-1.tgz"] = bundle[: len(bundle) * 9 // 10]


def add_cut_manager(case: Case) -> None:
    name, body = nsxt_site.manager_bundle(
        1, nsxt_site.format_quiet_log(nsxt_site.name_manager(1), "nsx-manager")
    )
    case.files[name] = body[: len(body) * 9 // 10]
    case.files["nsxt-mgr-01.txt"] = nsxt_site.manager_cli(1)


def fill_arp_table(case: Case) -> None:
    case.host.vibs["esx-nsxv"] = "6.5.0-0.0.6244264"
    case.host.extra["commands/dump-vdr-info.sh.txt"] = make_arp_table(
        case.dice.choice((4600, 5200))
    )


@functools.cache
def make_arp_table(entries: int) -> str:
    return case_text.dlr_arp("default+edge-1", entries)


def _omit_session(case: Case) -> None:
    case.transcript = False


def _omit_bundle(case: Case) -> None:
    case.bundles = False


def leave_out(part: str) -> Callable[[Case], None]:
    def without(case: Case) -> None:
        case.host.without.add(part)

    return without


# Rules whose example in files would be thousands of lines: the tool makes them.
LARGE: dict[str, Callable[[Case], None]] = {
    "cpu-contention": raise_ready_time,
    "nsx-1970527": fill_arp_table,
    "nsx-majority-lost": add_minority,
    "nsx-member-not-collected": add_cut_controller,
    "nsxt-member-not-collected": add_cut_manager,
}
SCENARIOS: dict[str, Callable[[Case], None]] = dict(
    sorted({**dict(find_examples()), **LARGE}.items())
)
LACKING: dict[str, Callable[[Case], None]] = {
    "lacks-session": _omit_session,
    "lacks-bundle": _omit_bundle,
    **{
        f"lacks-{part}": leave_out(part)
        for part in ("version", "logs", "nics", "options", "switches", "vms")
    },
}
HEALTHY, LACKING_SHARE = 0.60, 0.10
BREAKAGES = ("cut", "empty", "noise", "text", "damaged", "nothing")


def make_case(number: int, seed: int = 1) -> tuple[str, Files]:
    """Return (scenario, files) of case `number`: the first ones go through all scenarios once, then chance decides."""
    dice = random.Random(f"cases/{seed}/{number}")
    names = list(SCENARIOS)
    chance = dice.random()
    if number < len(names):
        kind = names[number]
    elif chance < HEALTHY:
        kind = "healthy"
    else:
        kind = dice.choice(list(LACKING) if chance < HEALTHY + LACKING_SHARE else names)
    made = Case(dice, number)
    if kind != "healthy":
        (SCENARIOS | LACKING)[kind](made)
    files: Files = {"README.md": f"# A synthetic case\n\n{SYNTHETIC}"}
    for host in made.hosts:
        if made.bundles:
            top, members = host.make_bundle()
            files[f"{top}.tgz"] = tgz(members, stamp=int(host.when.timestamp()))
        if made.transcript:
            files[f"{host.short_name}.txt"] = host.make_transcript()
        if made.esxtop:
            files[f"esxtop-{host.short_name}.csv"] = host.make_esxtop(dice.choice((12, 24)))
    return kind, files | made.files


def break_case(files: Files, how: str, dice: random.Random) -> Files:
    """Return what a broken upload of the case could be; `nothing` is a folder without a file."""
    whole = max(
        (body for name, body in files.items() if name.endswith(".tgz") and isinstance(body, bytes)),
        key=len,
        default=b"\x1f\x8b\x08",
    )
    if how == "damaged":
        spoiled = bytearray(whole)
        for _ in range(12):
            spoiled[dice.randrange(len(spoiled))] ^= 1 << dice.randrange(8)
        return {"upload.tgz": bytes(spoiled)}
    bodies: dict[str, str | bytes] = {
        "cut": whole[: int(len(whole) * dice.uniform(0.02, 0.9))],
        "empty": b"",
        "noise": dice.randbytes(dice.randrange(10, 20_000)),
        "text": "This is no archive. " + SYNTHETIC,
    }
    if how == "nothing":
        return {}
    return {"upload.tgz": bodies[how]}


def write_cases(
    out: Path, count: int, seed: int = 1, *, broken_share: float = 0.0, form: str = "folder"
) -> list[Made]:
    """Write `count` cases below `out` (made when missing) and return them in order of their names."""
    return list(write_each(out, count, seed, broken_share=broken_share, form=form))


def write_each(
    out: Path, count: int, seed: int = 1, *, broken_share: float = 0.0, form: str = "folder"
) -> Iterator[Made]:
    """Write `count` cases below `out` and yield each; the same arguments give the same bytes."""
    out.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        dice = random.Random(f"form/{seed}/{number}")
        kind, files = make_case(number, seed)
        if dice.random() < broken_share:
            how = BREAKAGES[dice.randrange(len(BREAKAGES))]
            kind = f"broken-{how}"
            files = break_case(files, how, dice)
        packed = form == "tgz" or (form == "mixed" and dice.random() < 0.5)
        yield Made(write_case(out, f"case-{number:06d}", files, packed=packed), kind)


def write_case(out: Path, name: str, files: Files, *, packed: bool) -> Path:
    """Write one case as a folder, or as one archive (a broken upload is the archive itself)."""
    if packed and files:
        path = out / f"{name}.tgz"
        upload = files.get("upload.tgz")
        if upload is None:
            stamp = int(FIRST_DAY.timestamp())
            upload = tgz({f"{name}/{file}": body for file, body in files.items()}, stamp=stamp)
        path.write_bytes(upload.encode() if isinstance(upload, str) else upload)
        return path
    path = out / name
    path.mkdir(exist_ok=True)
    for file, body in files.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_bytes(body.encode() if isinstance(body, str) else body)
    return path


def parse_share(text: str) -> float:
    share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share; write 0.2 or 20%")
    return share


def main() -> None:
    parser = argparse.ArgumentParser(description="Write many small synthetic cases.")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--broken",
        type=parse_share,
        default=0.0,
        metavar="SHARE",
        help="share that cannot be read: 0.2 or 20%%",
    )
    parser.add_argument("--form", choices=FORMS, default="folder")
    options = parser.parse_args()
    if options.out.is_dir() and any(options.out.iterdir()):
        parser.error(f"{options.out} is not empty; name a new folder")
    kinds: dict[str, int] = {}
    for one in write_each(
        options.out, options.count, options.seed, broken_share=options.broken, form=options.form
    ):
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    print(f"{options.count} synthetic cases in {options.out}")
    for kind, count in sorted(kinds.items(), key=lambda one: (-one[1], one[0])):
        print(f"{count:8d}  {kind}")


if __name__ == "__main__":
    main()
