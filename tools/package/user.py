"""A user's own file, checked by mypy --strict and run with warnings as errors.

The argument names the sampler: "collapsed" compiles the most, "blocked" less.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import xarray
from numpy.typing import NDArray

import bayesclust as bc

mpl.use("Agg")
# the fits are short
warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)


def fitted(
    X: NDArray[np.float64], links: bc.PairwiseConstraints, sampler: str, checkpoint: Path
) -> bc.TVClust:
    """The posterior, kept on disk as it comes."""
    model = bc.TVClust(
        sampler, num_warmup=100, num_samples=100, num_chains=2, random_state=0, progress=False
    )
    return model.fit(X, constraints=links, checkpoint=checkpoint)


def main(sampler: str = "collapsed") -> None:
    """Fit, ask the posterior, draw it, and read again what was written."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(6, 2)), rng.normal(8.0, size=(6, 2))])
    links = bc.PairwiseConstraints([(0, 1), (2, 7), (8, 9)], [True, False, True], n_items=12)
    limit: NDArray[np.int64] = (
        bc.RDPMeans(n_clusters=2, random_state=0).fit(X, constraints=links).labels_
    )
    with tempfile.TemporaryDirectory() as folder:
        model = fitted(X, links, sampler, Path(folder) / "run.zarr")
        posterior: xarray.DataTree = model.posterior_
        path = Path(folder) / "posterior.nc"
        posterior.to_netcdf(path, engine="h5netcdf")
        with xarray.open_datatree(path, engine="h5netcdf") as again:
            assert np.array_equal(bc.similarity_matrix(again), bc.similarity_matrix(posterior))
        page = bc.write_report(posterior, Path(folder) / "report.html", title="Twelve items")
        assert "<title>Twelve items</title>" in page.read_text(encoding="utf-8")
    agreement: float = bc.metrics.adjusted_rand(model.labels_, limit)
    assert agreement == bc.metrics.adjusted_rand(limit, np.repeat([0, 1], 6)) == 1.0, (
        model.labels_,
        limit,
    )
    assert len(bc.constraint_credibility(posterior)) == 3
    bc.plots.similarity(posterior)
    print(f"bayesclust {bc.__version__} works")


if __name__ == "__main__":
    main(*sys.argv[1:])
