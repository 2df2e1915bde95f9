"""A user's own file: mypy reads it strictly, and it runs with warnings as errors, against the package as installed."""

import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import xarray

import bayesclust as bc

mpl.use("Agg")


def fitted(seed: int) -> bc.TVClust:
    """Two clouds of six items, and three answers."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(6, 2)), rng.normal(8.0, size=(6, 2))])
    links = bc.PairwiseConstraints([(0, 1), (2, 7), (8, 9)], [True, False, True], n_items=12)
    return bc.TVClust(num_warmup=100, num_samples=100, random_state=seed, progress=False).fit(X, constraints=links)


def main() -> None:
    """Fit, ask the posterior, draw it, and read again what was written."""
    model = fitted(0)
    agreement: float = bc.metrics.adjusted_rand(model.labels_, np.repeat([0, 1], 6))
    assert agreement == 1.0, model.labels_
    posterior: xarray.DataTree = model.posterior_
    assert len(bc.constraint_credibility(posterior)) == 3
    bc.plots.similarity(posterior)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "posterior.nc"
        posterior.to_netcdf(path, engine="h5netcdf")
        with xarray.open_datatree(path, engine="h5netcdf") as again:
            assert np.array_equal(bc.similarity_matrix(again), bc.similarity_matrix(posterior))
    print(f"bayesclust {bc.__version__} works")


if __name__ == "__main__":
    main()
