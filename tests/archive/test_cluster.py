"""Batches on a Dask cluster of real processes: the same bytes as at home, whatever dies or sleeps meanwhile."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from analyzer.archive.clusters import dasklink, worker_protocol
from analyzer.archive.clusters.cluster import Cluster, Tls
from analyzer.archive.store import Archive
from analyzer.rules import run_catalog
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import read_settings
from analyzer.runtime.errors import BacklineError
from tests.kit.batch_kit import small_cases, write
from tests.kit.cluster_kit import (
    ROOT,
    RULE,
    Processes,
    batch,
    config_of,
    documents,
    finished,
    in_background,
    kill_in_the_midst,
    local_documents,
    sound,
    stage_below,
    until,
)
from tools.make_cases import write_cases

SMALL = 6


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Synthetic cases of some hosts, many small ones, and one that is no case at all."""
    folder = tmp_path_factory.mktemp("cases")
    write_cases(folder / "hosts", 2, form="mixed")
    small_cases(folder / "sessions", SMALL)
    write(folder / "noise.tgz", random.Random(3).randbytes(4000))
    return folder


@pytest.fixture(scope="module")
def at_home(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The documents of a run on this machine."""
    found = local_documents(str(cases), tmp_path_factory.mktemp("home") / "archive")
    assert len(found) == 2 + SMALL + 1
    assert list(found.values()).count("refused") == 1
    return found


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder by whose files workers can be met in the midst of a case."""
    return stage_below(tmp_path, monkeypatch)


@pytest.mark.process
def test_a_worker_that_is_killed_in_the_midst_of_a_case_changes_no_byte(
    cases: Path, at_home: dict[str, str], tmp_path: Path, stage: Path
) -> None:
    """Of three workers one dies by SIGKILL while it reads; all cases are stored, each as the local run has it."""
    archive, told = str(tmp_path / "archive"), []
    with Processes(tmp_path) as cluster:
        cluster.start()
        victim = cluster.worker(env={"CLUSTER_TEST": "victim"})
        config = config_of(archive)
        runner = Cluster(config, cluster.address, tell=told.append)
        running = in_background(batch, str(cases), config, runner)
        kill_in_the_midst(cluster, victim, stage, archive)
        summary = finished(*running)
    assert documents(archive) == at_home
    assert sound(archive)
    assert (summary.read, summary.refused, summary.failed) == (len(at_home), 1, 0)
    assert any("is done on another one" in line for line in told)


@pytest.mark.release
@pytest.mark.process
def test_a_worker_that_is_stopped_holds_up_nobody_and_doubles_nothing(
    cases: Path, at_home: dict[str, str], tmp_path: Path, stage: Path
) -> None:
    """The run ends while one of two workers sleeps on its case; when it wakes up and stores it, nothing is double."""
    archive = str(tmp_path / "archive")
    with Processes(tmp_path) as cluster:
        cluster.start()
        victim = cluster.worker(env={"CLUSTER_TEST": "victim"})
        config = config_of(archive)
        running = in_background(
            batch, str(cases), config, Cluster(config, cluster.address, slow=1.0)
        )
        until((stage / "met").exists)
        cluster.worker()
        os.kill(victim.pid, signal.SIGSTOP)
        summary = finished(*running)
        assert summary.read == len(at_home)
        (stage / "go").touch()
        os.kill(victim.pid, signal.SIGCONT)
        assert (
            until(lambda: (stage / "done").exists() and (stage / "done").read_text())
            == worker_protocol.DONE
        )
    assert documents(archive) == at_home
    assert sound(archive)


@pytest.mark.process
def test_a_case_that_kills_two_workers_is_stored_as_failed(tmp_path: Path, stage: Path) -> None:
    """It is tried once more on another worker; after the second death it is given up, and the others are read."""
    assert stage.is_dir()
    small_cases(tmp_path / "cases", 5)
    write(tmp_path / "cases" / "poison" / "session.txt", "made up\n" * 1000)
    archive = str(tmp_path / "archive")
    with Processes(tmp_path) as cluster:
        cluster.start()
        for _ in range(3):
            cluster.worker()
        config = config_of(archive)
        summary = finished(
            *in_background(batch, str(tmp_path / "cases"), config, Cluster(config, cluster.address))
        )
        assert sum(process.poll() is not None for process in cluster.all) == 2
    assert (summary.read, summary.failed) == (6, 1)
    assert "died twice" in summary.troubles[0].why
    assert list(documents(archive).values()).count("failed") == 1
    assert sound(archive)


@pytest.mark.release
@pytest.mark.process
def test_a_scheduler_that_starts_again_is_given_what_was_not_stored(
    cases: Path, at_home: dict[str, str], tmp_path: Path, stage: Path
) -> None:
    """The scheduler dies in the midst of a run and comes back at the same address with new workers."""
    archive, told = str(tmp_path / "archive"), []
    with Processes(tmp_path) as cluster:
        cluster.start()
        cluster.worker(env={"CLUSTER_TEST": "victim"})
        config = config_of(archive)
        runner = Cluster(config, cluster.address, tell=told.append)
        running = in_background(batch, str(cases), config, runner)
        until((stage / "met").exists)
        assert cluster.scheduler is not None
        cluster.scheduler.kill()
        cluster.scheduler.wait()
        (stage / "go").touch()
        cluster.start()
        cluster.worker()
        cluster.worker()
        summary = finished(*running)
    assert documents(archive) == at_home
    assert sound(archive)
    assert (summary.read, summary.failed) == (len(at_home), 0)
    assert any("scheduler" in line and "is gone" in line for line in told)


@pytest.mark.release
@pytest.mark.process
def test_a_scheduler_that_stays_away_ends_the_run_and_what_is_stored_stays(
    tmp_path: Path, stage: Path
) -> None:
    """After the time to wait there is one plain error; the next run does only what is left."""
    small_cases(tmp_path / "cases", 4)
    archive = str(tmp_path / "archive")
    config = config_of(archive)
    with Processes(tmp_path) as cluster:
        cluster.start()
        cluster.worker(env={"CLUSTER_TEST": "victim"})
        runner = Cluster(config, cluster.address)
        running = in_background(batch, str(tmp_path / "cases"), config, runner)
        until((stage / "met").exists)
        runner.patience = 2.0  # not before: a worker of a busy machine is long in coming
        cluster.scheduler.kill()  # type: ignore[union-attr]
        with pytest.raises(BacklineError, match="the scheduler did not come back"):
            finished(*running)
    (stage / "go").touch()
    assert len(local_documents(str(tmp_path / "cases"), tmp_path / "archive")) == 4


@pytest.mark.release
@pytest.mark.process
def test_rules_and_settings_of_the_desk_go_along(tmp_path: Path) -> None:
    """Workers judge by the command's own rules and settings, which do not lie on their machine, to the byte."""
    kb = tmp_path / "my-rules"
    write(kb / "made-up.yaml", RULE.format(name="made-up", words="link"))
    write(kb / "broken.yaml", "rule: broken\ntitle: [\n")
    settings = write(
        tmp_path / "backline.toml", '[thresholds.made-up]\nmany = 1000001\nreason = "made up"\n'
    )
    small_cases(tmp_path / "cases", 3)
    local = Local(read_settings(settings), packs=False)
    home = local_documents(str(tmp_path / "cases"), tmp_path / "home", (str(kb),), local)
    archive = str(tmp_path / "archive")
    config = config_of(archive, local, (str(kb),))
    with Processes(tmp_path) as cluster:
        cluster.start()
        runner = Cluster(config, cluster.address)
        shutil.rmtree(kb)  # the workers never see it
        settings.unlink()
        cluster.worker()
        batch(str(tmp_path / "cases"), config, runner)
    assert documents(archive) == home
    assert (
        sum('"rule":"made-up"' in text for text in home.values()) == 3
    )  # a threshold changed it, one file is broken
    assert all('"error"' in text for text in home.values())


@pytest.mark.process
@pytest.mark.parametrize(
    ("how", "words"), [("older", "0.0.1 there"), ("absent", "cannot start Backline")]
)
def test_a_worker_with_another_backline_is_refused(how: str, words: str, tmp_path: Path) -> None:
    """A worker of another version, or without Backline, ends the run with its address and what to do; nothing is stored."""
    small_cases(tmp_path / "cases", 3)
    other = tmp_path / "other"
    if how == "older":
        shutil.copytree(
            ROOT / "analyzer", other / "analyzer", ignore=shutil.ignore_patterns("__pycache__")
        )
        write(other / "analyzer" / "__init__.py", '__version__ = "0.0.1"\n')
    else:
        write(other / "analyzer.py", "raise ImportError('made up')\n")
    archive = str(tmp_path / "archive")
    config = config_of(archive)
    with Processes(tmp_path) as cluster:
        cluster.start()
        cluster.worker(python_path=str(other))
        running = in_background(
            batch, str(tmp_path / "cases"), config, Cluster(config, cluster.address)
        )
        with pytest.raises(BacklineError) as refused:
            finished(*running)
    assert words in str(refused.value)
    assert "tcp://127.0.0.1:" in str(refused.value)
    assert "same wheel" in str(refused.value)
    assert documents(archive) == {}


@pytest.mark.release
@pytest.mark.process
def test_the_command_works_on_a_local_cluster_and_ctrl_c_leaves_that_of_others_alone(
    cases: Path, at_home: dict[str, str], tmp_path: Path
) -> None:
    """`--scheduler local` gives the bytes of a local run; Ctrl-C of a run on a cluster ends with 130, the cluster lives."""
    home = tmp_path / "one"
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "batch",
        str(cases),
        "--no-packs",
        "--no-settings",
        "--archive",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [*command, str(home), "--scheduler", "local", "--jobs", "2"],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 5, run.stderr
    assert "Traceback" not in run.stderr
    assert documents(str(home)) == at_home
    with Processes(tmp_path) as cluster:
        cluster.start()
        cluster.worker()
        asked = subprocess.Popen(
            [*command, str(tmp_path / "two"), "--scheduler", cluster.address],
            cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            until((tmp_path / "two" / "packs").exists)
            asked.send_signal(signal.SIGINT)
            _, stderr = asked.communicate(timeout=60)
        finally:
            asked.kill()
        assert asked.returncode == 130, stderr
        assert "Traceback" not in stderr
        assert all(process.poll() is None for process in cluster.all)
    assert set(documents(str(tmp_path / "two")).items()) <= set(at_home.items())


def certificates(folder: Path) -> Tls:
    """Make an authority and one certificate of it for this machine."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make certificates")

    def run(*words: str) -> None:
        subprocess.run([openssl, *words], cwd=folder, check=True, capture_output=True, timeout=60)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-keyout")
    run(*new, "ca.key", "-x509", "-days", "2", "-subj", "/CN=made up authority", "-out", "ca.pem")
    run(*new, "own.key", "-subj", "/CN=localhost", "-out", "own.csr")
    run("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-out", "own.pem")  # fmt: skip
    return Tls(str(folder / "ca.pem"), str(folder / "own.pem"), str(folder / "own.key"))


@pytest.mark.release
@pytest.mark.process
def test_with_certificates_the_cluster_speaks_tls_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with certificates works on a scheduler that asks for them; one without them gets no answer."""
    monkeypatch.setattr(dasklink, "ANSWER", 5.0)
    tls = certificates(tmp_path)
    small_cases(tmp_path / "cases", 2)
    archive = str(tmp_path / "archive")
    config = config_of(archive)
    with Processes(tmp_path) as cluster:
        cluster.tls = ("--tls-ca-file", tls.ca, "--tls-cert", tls.cert, "--tls-key", tls.key)
        cluster.start()
        assert cluster.address.startswith("tls://")
        cluster.worker()
        summary = batch(str(tmp_path / "cases"), config, Cluster(config, cluster.address, tls=tls))
        for address in (cluster.address, cluster.address.replace("tls:", "tcp:")):
            with pytest.raises(BacklineError, match="no scheduler answers"):
                Cluster(config, address)
    assert summary.read == 2
    assert sound(archive)


def test_nobody_answers_at_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a scheduler there is one plain sentence and nothing is done."""
    monkeypatch.setattr(dasklink, "ANSWER", 1.0)
    with pytest.raises(BacklineError, match="no scheduler answers") as refused:
        Cluster(config_of(str(tmp_path / "archive")), "tcp://127.0.0.1:1")
    assert "dask scheduler" in refused.value.do


@pytest.mark.parametrize(
    ("address", "tls", "words"),
    [
        ("example", Tls(), "not the address of a scheduler"),
        ("tcp://127.0.0.1:1", Tls("ca", "cert", "key"), "tls://"),
        ("tls://127.0.0.1:1", Tls("ca"), "together"),
        ("tls://127.0.0.1:1", Tls("no-such-ca", "cert", "key"), "no such file"),
    ],
)
def test_an_address_or_certificate_that_cannot_be_used_is_told(
    address: str, tls: Tls, words: str, tmp_path: Path
) -> None:
    """A mistake in the address or the certificates is told before anything is asked."""
    with pytest.raises(BacklineError, match=words):
        Cluster(config_of(str(tmp_path / "archive")), address, tls=tls)


def test_a_missing_extra_is_one_plain_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Dask the error names what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BacklineError, match=r"backline\[cluster\]"):
        Cluster(config_of(str(tmp_path / "archive")), "local")


def test_a_run_without_a_cluster_does_not_load_dask() -> None:
    """The modules of the cluster can be imported, and cost nothing, where Dask is not wanted."""
    code = "import sys, analyzer.archive.clusters.cluster; print(sorted({'distributed', 'dask', 'fsspec'} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.strip() == "[]"


def kit_catalog(config: Any) -> run_catalog.Catalog:
    """Return the catalog that a worker makes of what it is sent."""
    kit = pickle.loads(pickle.dumps(worker_protocol.kit_of(config)))
    worker_protocol._contexts.clear()
    return worker_protocol._make_context(config, kit).catalog


def test_a_worker_makes_the_same_catalog_of_whatever_lies_in_a_folder_of_rules(
    tmp_path: Path,
) -> None:
    """Good, broken, unreadable, linked and missing rule files give the same rules, the same hash and the same complaints."""
    kb = tmp_path / "kb"
    write(kb / "made-up.yaml", RULE.format(name="made-up", words="link"))
    write(kb / "misnamed.yaml", RULE.format(name="other-name", words="link"))
    write(kb / "kb-2151719.yaml", RULE.format(name="kb-2151719", words="link"))
    write(kb / "bytes.yaml", b"\xff\xfe\x00")
    write(kb / "with-mark.yml", "﻿" + RULE.format(name="with-mark", words="up"))
    (kb / "folder.yaml").mkdir()
    write(tmp_path / "outside.yaml", "rule: outside\n")
    (kb / "outside.yaml").symlink_to(tmp_path / "outside.yaml")
    single = write(tmp_path / "single.yaml", RULE.format(name="single", words="up"))
    Archive.open(str(tmp_path / "archive"), create=True)
    config = config_of(
        str(tmp_path / "archive"), None, (str(kb), str(single), str(tmp_path / "nowhere"))
    )
    here = run_catalog.load_run_catalog(
        Local(packs=False),
        [Path(folder) for folder in config.options.kb],
        limits=config.options.limits,
    )
    there = kit_catalog(config)
    assert there.hash == here.hash
    assert [rule.id for rule in there.rules] == [rule.id for rule in here.rules]
    assert {"made-up", "with-mark", "single"} <= {rule.id for rule in there.rules}
    assert [str(error) for error in there.broken] == [str(error) for error in here.broken]
    assert len(here.broken) == 5


def test_a_kit_that_reads_differently_is_refused(tmp_path: Path) -> None:
    """A worker whose rules do not give the command's catalog does nothing."""
    write(tmp_path / "kb" / "made-up.yaml", RULE.format(name="made-up", words="link"))
    Archive.open(str(tmp_path / "archive"), create=True)
    config = config_of(str(tmp_path / "archive"), None, (str(tmp_path / "kb"),))
    write(tmp_path / "kb" / "made-up.yaml", RULE.format(name="made-up", words="changed"))
    with pytest.raises(BacklineError, match="other rules"):
        kit_catalog(config)


def test_what_is_the_same_tool_depends_on_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parcel of another Backline is answered with what this one is, and not opened."""
    assert worker_protocol.tool_print() == worker_protocol.tool_print()
    assert worker_protocol.here("0.0.1 3.11 abc", b"no pickle at all") == (
        worker_protocol.TOOL,
        worker_protocol.tool_print(),
    )
    kind, told = worker_protocol.here(worker_protocol.tool_print(), b"no pickle at all")
    assert kind == worker_protocol.BROKEN
    assert "internal error" in told
