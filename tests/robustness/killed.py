"""Processes killed at random moments: a program, since a test's own process must not fork.

``python -m tests.robustness.killed KIND KILLS SEED`` prints, as JSON, how many kills met the work,
and what was wrong then.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import bayesclust as bc
from bayesclust._io import write_netcdf
from bayesclust.cli.summary import read_posterior
from bayesclust.inference import checkpoint
from bayesclust.posterior.tree import to_datatree

ROUNDS = 4
"""Kills of one run before it is left to end."""
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 12)
X = RNG.normal(size=(24, 2)) + 3.0 * Y[:, None]
LINKS = bc.PairwiseConstraints.sample(Y, size=15, error_rate=0.1, seed=0)
LONG = {"num_chains": 2, "num_warmup": 10, "num_samples": 20, "random_state": 0}
LONG |= {"progress": False, "n_jobs": 1}
FITS = {
    "collapsed": lambda: bc.TVClust(family="gaussian_spherical", **LONG),
    "mixture": lambda: bc.TVClust(cluster_model="mixture", family="gaussian_spherical", **LONG),
    "dcrc": lambda: bc.DCRC(2, inference="gibbs", **LONG),
}


def killed_after(work, seconds):
    """Run `work` in a child, kill it after so many seconds; tell whether it was still at work."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def in_child(question):
    """Call a function in a child of its own, since zarr's thread must not be where one forks."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            answer = question()
        except BaseException as error:
            answer = {"error": repr(error)}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = json.load(stream)
    os.wait()
    if isinstance(answer, dict):
        raise RuntimeError(answer["error"])
    return answer


class Chains:
    """Fits resumed from a checkpoint: no counted draw is lost, the end is that of a whole run."""

    def __init__(self, kind):
        self.kind = kind
        checkpoint.SECONDS, checkpoint.SHARE = 0.02, np.inf  # save often
        self.expected = self.fit(None)
        with tempfile.TemporaryDirectory() as folder:
            self.seconds = in_child(lambda: self.timed(Path(folder) / "run.zarr"))

    def fit(self, path):
        tree = FITS[self.kind]().fit(X, constraints=LINKS, checkpoint=path).posterior_
        return {
            f"{group}/{name}": values.values
            for group in checkpoint.GROUPS
            for name, values in tree[group].items()
        }

    def timed(self, path):
        begun = time.monotonic()
        self.fit(path)
        return time.monotonic() - begun

    def kept(self, path):
        """How many draws each chain has on disk."""
        found = []
        number = LONG["num_chains"]
        for chain in range(number):
            # as much of a checkpoint as reading takes
            store = SimpleNamespace(path=path, number_of_chains=number)
            record = checkpoint.Record(store, chain, number, LONG["num_samples"])
            state, draws = record.load()
            lengths = {len(values) for group in draws.values() for values in group.values()}
            assert lengths <= {record.saved}
            found.append(0 if state is None else state["draws"])
        return found

    def differences(self, path):
        found = self.fit(path)
        return [
            name
            for name, values in self.expected.items()
            if not np.array_equal(found[name], values, equal_nan=True)
        ]

    def round(self, folder, rng):
        path, hits, wrong, before = folder / "run.zarr", 0, [], [0] * LONG["num_chains"]
        for _ in range(ROUNDS):
            hits += killed_after(lambda: self.fit(path), rng.uniform(0, self.seconds / 2))
            now = in_child(lambda: self.kept(path))
            if any(new < old for new, old in zip(now, before, strict=True)):
                wrong.append(f"draws on disk went from {before} to {now}")
            before = now
        different = in_child(lambda: self.differences(path))
        return hits, [*wrong, *(f"{name} is not that of an undisturbed run" for name in different)]


class Files:
    """Files that are replaced again and again: what is read is one of those written."""

    seconds = 0.5

    def round(self, folder, rng):
        path, hits, wrong = folder / "posterior.nc", 0, []
        trees = [
            to_datatree({"z": np.tile(np.arange(500) % number, (1, 4, 1))}) for number in (2, 3)
        ]

        def write(tree):
            write_netcdf(tree, path)

        def work():
            for at in range(10**6):
                write(trees[at % 2])

        write(trees[0])
        for _ in range(ROUNDS):
            hits += killed_after(work, rng.uniform(0, self.seconds))
            found = read_posterior(path)["posterior"].to_dataset()
            if not any(found.equals(tree["posterior"].to_dataset()) for tree in trees):
                wrong.append("a posterior came back as another")
        return hits, wrong


def main(kind, kills, seed):
    """Kill so often, in rounds with a folder each."""
    case, rng = Files() if kind == "files" else Chains(kind), np.random.default_rng(int(seed))
    hits, wrong, done = 0, [], 0
    while done < int(kills):
        with tempfile.TemporaryDirectory() as folder:
            more, faults = case.round(Path(folder), rng)
        hits, wrong, done = hits + more, wrong + faults, done + ROUNDS
    print(json.dumps({"kills": done, "hits": hits, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
