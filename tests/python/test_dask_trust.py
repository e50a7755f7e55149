"""Trust in a scheduler of Dask: encrypted connections with certificates, and only requested answers."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import dask
import distributed  # noqa: F401 - has the defaults of what is set below
import pytest

import floatgate
from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.study.runs.engines import engine_of
from test_dask import ONE_THREAD, Cluster

VARY = ("--vary", "ftl.spare_factor=0.2,0.3", "--vary", "ftl.collect.policy=greedy,fifo", "--no-report")
POLICIES = ["greedy", "fifo"]
TLS = "DASK_DISTRIBUTED__COMM__TLS__"


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An authority of our own and one certificate of it for all roles, as Dask's environment variables name them."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the command openssl to make certificates")
    folder = tmp_path_factory.mktemp("certificates")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    for name in ("ca", "other-ca"):
        options = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
        openssl(folder, "req", "-x509", *curve, *options)
        options = ("-keyout", f"{name}-one.key", "-out", "one.csr", "-subj", "/CN=floatgate-test")
        openssl(folder, "req", *curve[:-2], *options)
        signed = ("-CA", f"{name}.pem", "-CAkey", f"{name}.key", "-CAcreateserial", "-days", "2")
        openssl(folder, "x509", "-req", "-in", "one.csr", *signed, "-out", f"{name}-one.pem")
    return named(folder, "ca", "ca-one") | {"FOLDER": str(folder)}


def named(folder: Path, authority: str, name: str) -> dict[str, str]:
    made = {f"{TLS}CA_FILE": str(folder / f"{authority}.pem")}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        made |= {f"{TLS}{role}__CERT": str(folder / f"{name}.pem"), f"{TLS}{role}__KEY": str(folder / f"{name}.key")}
    return made


@pytest.fixture(scope="module")
def encrypted(certificates: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler that speaks TLS alone, with one worker."""
    made = Cluster(tmp_path_factory.mktemp("encrypted"), certificates)
    try:
        made.worker("one")
        yield made
    finally:
        made.close()


def trusting(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for key, value in variables.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "3s")


def test_a_sweep_over_tls_is_that_of_a_local_one_and_strangers_stay_out(
    cli: Cli,
    encrypted: Cluster,
    certificates: dict[str, str],
    experiment: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreign = named(Path(certificates["FOLDER"]), "other-ca", "other-ca-one")
    short = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "2s"}
    # A worker without encryption, and one with a certificate of somebody else.
    strangers = {
        "plain": encrypted.begin("plain", "worker", encrypted.address.replace("tls", "tcp"), *ONE_THREAD, **short),
        "foreign": encrypted.begin("foreign", "worker", encrypted.address, *ONE_THREAD, **foreign, **short),
    }
    # Clients likewise, while these try.
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    error = cli("sweep", experiment, *VARY, "--on", encrypted.on.replace("tls", "dask")).refused()
    assert "no scheduler answers within 2 s" in error
    trusting(monkeypatch, foreign)
    assert "no scheduler answers within 3 s" in cli("sweep", experiment, *VARY, "--on", encrypted.on).refused()
    tried = re.compile("Connection from .* closed|[Hh]andshake|SSL|alert|Timed out|Waiting to connect")
    for name, process in strangers.items():
        log = encrypted.folder / name / "log"
        end = time.monotonic() + 60
        while process.poll() is None and not tried.search(log.read_text()):
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        assert "Registered to" not in log.read_text()
    # The scheduler has the one worker that it had, while the others go on trying.
    trusting(monkeypatch, certificates)
    cli("sweep", experiment, *VARY, "--out", "d", "--on", encrypted.on).done()
    floatgate.sweep(experiment, {"ftl.spare_factor": [0.2, 0.3], "ftl.collect.policy": POLICIES}, out=tmp_path / "l")
    assert (tmp_path / "d/sweep.parquet").read_bytes() == (tmp_path / "l/sweep.parquet").read_bytes()
    workers = re.findall(r'"worker":"([^"]+)"', (tmp_path / "d/journal.jsonl").read_text("utf-8"))
    assert len(workers) == 4
    assert len(set(workers)) == 1
    assert workers[0].startswith("tls://127.0.0.1:")


HERE = __file__


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, f"ca-file is not set; expected a PEM file there, in Dask's configuration or in {TLS}CA_FILE"),
        ({"ca-file": "none.pem"}, "ca-file: none.pem is not a file; expected a PEM file there"),
        ({"ca-file": HERE}, f"client.cert is not set; expected a PEM file there, in Dask's configuration or in {TLS}"),
        ({"ca-file": HERE, "client.cert": HERE, "client.key": "k"}, "client.key: k is not a file"),
        ({"ca-file": HERE, "client.cert": HERE, "client.key": HERE}, " cannot be used ("),
    ],
)
def test_tls_without_certificates_is_refused(files: dict[str, str], message: str) -> None:
    names = ("ca-file", "client.cert", "client.key")
    with (
        dask.config.set({f"distributed.comm.tls.{name}": files.get(name) for name in names}),
        pytest.raises(InputError) as raised,
    ):
        engine_of("tls://127.0.0.1:9", None)
    assert raised.value.message.startswith("--on tls://127.0.0.1:9: ")
    assert message in raised.value.message


@pytest.mark.parametrize("on", ["tls://x", "tls://x:0", "tls://:9", "tls://x:9/y", "tls://x:²", "dask+tls://x:9"])
def test_what_is_no_address_is_refused(on: str) -> None:
    with pytest.raises(InputError, match=r"no address; expected dask://HOST:PORT|unknown; expected local"):
        engine_of(on, None)


FORGING = """
from dataclasses import replace
from floatgate.study.runs import on_worker

def forged(order, chunks, worker):
    answer = on_worker.true(order, chunks, worker)
    return replace(answer, figures={**answer.figures, "config_hash": "0" * 64})

if not hasattr(on_worker, "true"):  # Dask loads this twice
    on_worker.true, on_worker._done = on_worker._done, forged
"""


@pytest.mark.long
def test_an_answer_of_a_worker_that_was_not_requested_is_refused_with_its_name(
    cli: Cli, experiment: Path, tmp_path: Path
) -> None:
    (tmp_path / "forging.py").write_text(FORGING)
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster")
    try:
        cluster.worker("one", "--preload", str(tmp_path / "forging.py"))
        refused = cli("sweep", experiment, *VARY, "--out", "d", "--on", cluster.on, "--quiet").refused()
    finally:
        cluster.close()
    assert re.match(r"run 0: worker tcp://127\.0\.0\.1:\d+: the answer is refused: 'config_hash' is ", refused)
    assert refused.endswith("as requested")
