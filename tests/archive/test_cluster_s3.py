"""A cluster whose machines share nothing but an object store: cases and archive on S3, a real server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("distributed")
pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

import fsspec

from analyzer.archive.clusters.cluster import Cluster
from analyzer.archive.object_store.opening import open_store
from tests.kit.batch_kit import small_cases
from tests.kit.cluster_kit import (
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
)
from tests.kit.s3_kit import s3_server
from tools.make_cases import write_cases

COUNT = 14


@pytest.mark.release
@pytest.mark.process
def test_cases_and_archive_on_s3_give_the_bytes_of_a_run_on_files_while_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers know nothing but the store; one is killed in the midst of a case; every document is as at home."""
    write_cases(tmp_path / "cases", 3, form="mixed")
    small_cases(tmp_path / "cases", COUNT - 3)
    home = local_documents(str(tmp_path / "cases"), tmp_path / "home")
    stage = stage_below(tmp_path, monkeypatch)
    with s3_server() as s3, Processes(tmp_path, s3.env) as cluster:
        store = fsspec.filesystem("s3", skip_instance_cache=True)
        store.put(f"{tmp_path / 'cases'}/", f"{s3.bucket}/cases/", recursive=True)
        cluster.start()
        victim = cluster.worker(env={"CLUSTER_TEST": "victim"})
        archive = f"{s3.url}/archive"
        config = config_of(archive)
        running = in_background(batch, f"{s3.url}/cases", config, Cluster(config, cluster.address))
        kill_in_the_midst(cluster, victim, stage, archive)
        summary = finished(*running)
        assert (summary.read, summary.failed, summary.refused) == (COUNT, 0, 0)
        assert documents(archive) == home
        assert sound(archive)
        again = batch(f"{s3.url}/cases", config, Cluster(config, cluster.address))
        assert (again.done, again.read, again.hashed) == (COUNT, 0, 0)
        objects = open_store(archive)
        assert not [
            one.name
            for one in objects.list()
            if s3.env["AWS_SECRET_ACCESS_KEY"].encode() in objects.get(one.name)
        ]
