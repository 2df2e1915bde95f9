"""Every fit: the clock, the files it enters, and warnings that point at the calling line."""

import sys
import threading
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import bayesclust as bc
from bayesclust.estimators.base import search
from bayesclust.inference.runner import Schedule

SHORT = bc.VariationalSettings(max_iter=1, tol=1e-300)
CUT_SHORT = [
    bc.RDPMeans(penalty=0.5, max_iter=1),
    bc.DPMeans(penalty=0.5, max_iter=1),
    bc.DCRC(3, n_init=1, max_iter=1, random_state=0),
    bc.MPCKMeans(3, max_iter=1, random_state=0),
    bc.TVClust(SHORT, num_samples=5, random_state=0),
]


@pytest.mark.parametrize("estimator", CUT_SHORT, ids=lambda estimator: type(estimator).__name__)
def test_warnings_point_at_the_line_that_called_fit(estimator):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(bc.datasets.make_mixture(150, 2, 4, separation=3.0, seed=1).X)
    (warning,) = (one for one in caught if issubclass(one.category, ConvergenceWarning))
    assert warning.filename == __file__
    assert 0 < estimator.fit_seconds_ < 600


def files_entered(call):
    """The files of the package whose Python functions run during a call, in any thread."""
    root = str(Path(bc.__file__).parent)
    found = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            found.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def test_a_plain_fit_enters_few_files():
    data = bc.datasets.make_mixture(30, 2, 3, separation=8.0, seed=1)
    links = bc.PairwiseConstraints.sample(data.y, size=20, seed=1)
    short = {"num_chains": 2, "num_warmup": 5, "num_samples": 5, "progress": False}
    est = bc.TVClust(cluster_model="single", random_state=0, **short)
    est.fit(data.X, constraints=links)  # loads and compiles
    assert len(files_entered(lambda: est.fit(data.X, constraints=links))) <= 25


class Walk:
    """A chain around a level, from which it never gets away."""

    def __init__(self, level, seed):
        self.level, self.seed, self.swept = level, seed, 0
        self.rng = np.random.default_rng(seed)

    def sweep(self, **options):
        self.swept += 1

    def draw(self):
        return {"level": self.level}, {"log_joint": self.level + self.rng.normal()}

    def snapshot(self):
        return {"state": {"generator": self.seed, "level": self.level}}

    def restore(self, snapshot):
        self.seed, self.level = snapshot["state"]["generator"], snapshot["state"]["level"]


def test_chains_in_hopeless_modes_go_on_from_the_best():
    walks = [Walk(level, seed) for seed, level in enumerate((-300.0, 0.0, -2.0, -50.0))]
    starts = [partial(lambda own: own, walk) for walk in walks]
    schedule = Schedule(num_warmup=200, num_samples=30)
    again, left = search(starts, schedule, None, progress=False, n_jobs=1)
    assert left == Schedule(num_warmup=100, num_samples=30)
    assert [make() for make in again] == walks
    assert [(walk.level, walk.seed, walk.swept) for walk in walks] == [
        (0.0, 0, 100),
        (0.0, 1, 100),
        (-2.0, 2, 100),
        (0.0, 3, 100),
    ]
    begun = SimpleNamespace(has_begun=lambda number: number == 4)
    assert search(starts, schedule, begun) == (starts, left)
    short = Schedule(num_warmup=90, num_samples=30)
    assert search(starts, short, None) == (starts, short)
