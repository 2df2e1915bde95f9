"""Work that needs more memory than there is says so in a sentence before it begins."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust import checks
from bayesclust.checks import available_memory, check_memory, n_threads
from tests.robustness import world

SENTENCE = r"^[^.]* needs [\d,.]+ GiB of memory, but only 0\.000 GiB are left: [^.]*\.$"
DRAWS = np.tile(world.TRUTH, (3, 1))

# what allocates most, by a call that is small here
GREEDY = {
    "chains": lambda: bc.TVClust(**world.SHORT).fit(world.X),
    "blocked chains": lambda: bc.TVClust("blocked", **world.SHORT).fit(world.X),
    "mean field": lambda: bc.TVClust("variational", progress=False).fit(world.X),
    "chains of DCRC": lambda: bc.DCRC(2, inference="gibbs", **world.SHORT).fit(
        world.X, constraints=world.LINKS
    ),
    "a kernel": lambda: bc.DCRC(2, kernel="rbf").fit(world.X, constraints=world.LINKS),
    "a path": lambda: bc.limit_path(
        world.X, limit=bc.DPMeans(penalty=200.0), gammas=[1.0], **world.SHORT
    ),
    "eigenvectors": lambda: bc.SpectralRDPMeans(penalty=200.0).fit(world.X),
    "similarities": lambda: bc.similarity_matrix(DRAWS),
    "a picture of similarities": lambda: bc.plots.similarity(DRAWS, order="dendrogram"),
    "the point estimate": lambda: bc.point_estimate(DRAWS),
}


@pytest.mark.parametrize("what", GREEDY)
def test_work_beyond_memory_is_refused_beforehand(monkeypatch, what):
    monkeypatch.setattr(checks, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=SENTENCE):
        GREEDY[what]()


def test_sentences_are_in_gibibytes(monkeypatch):
    monkeypatch.setattr(checks, "available_memory", lambda: 3 << 28)
    check_memory(3 << 28, "this", "take less")
    sentence = r"^this needs 12\.0 GiB of memory, but only 0\.8 GiB are left: take less\.$"
    with pytest.raises(MemoryError, match=sentence):
        check_memory(12 << 30, "this", "take less")


def files(monkeypatch, tmp_path, meminfo, groups=None):
    (tmp_path / "meminfo").write_text(meminfo)
    (tmp_path / "cgroup").write_text("0::/a/b\n")
    for folder, (most, used, inactive) in (groups or {}).items():
        (tmp_path / "fs" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / folder / "memory.max").write_text(f"{most}\n")
        (tmp_path / "fs" / folder / "memory.current").write_text(f"{used}\n")
        (tmp_path / "fs" / folder / "memory.stat").write_text(f"anon 5\ninactive_file {inactive}\n")
    monkeypatch.setattr(checks, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(checks, "OWN_GROUP", tmp_path / "cgroup")
    monkeypatch.setattr(checks, "GROUPS", tmp_path / "fs")


MACHINE = "MemTotal: 900 kB\nMemFree: 50 kB\nMemAvailable: 300 kB\nSwapFree: 100 kB\n"


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({}, 400 * 1024),
        ({"a/b": (9000, 4000, 1000)}, 6000),
        ({"a": (9000, 8500, 0), "a/b": ("max", 4000, 0)}, 500),
        ({"a": (9000, 9500, 0)}, 0),
        ({"a": (1 << 62, 10, 0)}, 400 * 1024),
    ],
)
def test_the_narrowest_limit_counts(monkeypatch, tmp_path, groups, expected):
    files(monkeypatch, tmp_path, MACHINE, groups)
    assert available_memory() == expected


def test_threads_follow_affinity_and_quota(monkeypatch, tmp_path):
    files(monkeypatch, tmp_path, MACHINE, {"a": (1, 1, 0), "a/b": (1, 1, 0)})
    monkeypatch.setattr(checks.os, "sched_getaffinity", lambda process: set(range(6)))
    assert n_threads(None) == 6
    for folder, quota, expected in [("a", "max", 6), ("a", 300_000, 3), ("a/b", 50_000, 1)]:
        (tmp_path / "fs" / folder / "cpu.max").write_text(f"{quota} 100000\n")
        assert n_threads(None) == expected
    assert n_threads(5) == 5


@pytest.mark.parametrize(
    "meminfo", ["", "MemAvailable: many kB\nSwapFree: 1 kB\n", "MemFree: 3 kB\n"]
)
def test_unreadable_limits_are_unknown(monkeypatch, tmp_path, meminfo):
    files(monkeypatch, tmp_path, meminfo)
    assert available_memory() is None
