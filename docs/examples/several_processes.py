"""One model over several processes, on one host or on many: start this file once for each.

    python several_processes.py ADDRESS PROCESSES NUMBER FOLDER [SAMPLER]

ADDRESS is a host and a free port of process 0, as 127.0.0.1:4711; NUMBER counts from 0; FOLDER is
one that all of them see. With "blocked" each process holds a part of the items; with "collapsed" or
"gibbs" each runs a part of the chains.
"""

import sys
from pathlib import Path

import jax

import bayesclust as bc


def main(address: str, processes: str, number: str, folder: str, sampler: str = "blocked") -> None:
    """Fit, going on from the checkpoint if there is one; process 0 writes the posterior."""
    # before anything is computed; a process that is gone is missed after half a minute, if not
    # before
    jax.distributed.initialize(address, int(processes), int(number), heartbeat_timeout_seconds=30)
    # the same in all processes, the seed too: each takes its part by itself
    data = bc.datasets.make_mixture(120, 2, 3, separation=6, seed=0)
    links = bc.PairwiseConstraints.sample(data.y, size=60, error_rate=0.1, seed=0)
    est = bc.TVClust(
        sampler, num_chains=4, num_warmup=50, num_samples=150, random_state=0, progress=False
    )
    est.fit(data.X, constraints=links, checkpoint=Path(folder) / "run.zarr")
    if jax.process_index() == 0:
        est.posterior_.to_netcdf(Path(folder) / "posterior.nc", engine="h5netcdf")


if __name__ == "__main__":
    main(*sys.argv[1:])
