"""The demo from start to files, in small."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.report import as_text, findings
from experiments import demo


@pytest.fixture(scope="module")
def run():
    return demo.fit(num_chains=2, num_warmup=100, num_samples=100, progress=False)


def test_the_report_counts_what_is_there(run):
    text = "\n".join(demo.report(run))
    flipped = run.links.flipped
    m = round(0.03 * 178 * 177 / 2)
    assert f"{m} of {178 * 177 // 2} pairs answered, {flipped.sum()} of them wrongly" in text
    agreement = bc.metrics.pairwise_f(run.sampler.labels_, run.data.y)
    assert f"sampler: {run.sampler.n_clusters_} clusters, pairwise F {agreement:.3f}" in text
    assert text.startswith(as_text(findings(run.sampler.posterior_, max_listed=demo.SHOWN)))
    credibility = bc.constraint_credibility(run.sampler.posterior_)["credibility"]
    flips = flipped[credibility.nsmallest(demo.SHOWN).index].sum()
    assert f"Of the {demo.SHOWN} least credible answers {flips} were flipped." in text


def test_figures_and_posterior_are_written(run, tmp_path):
    import xarray as xr

    written = demo.draw(run, tmp_path / "new folder")
    names = ["similarity.png", "credibility.png", "traces.png", "posterior.nc"]
    assert [path.name for path in written] == names
    for path in written[:3]:
        assert path.read_bytes().startswith(b"\x89PNG")
    with xr.open_datatree(written[-1], engine="h5netcdf") as tree:
        own = run.sampler.posterior_["posterior"]["z"]
        np.testing.assert_array_equal(tree["posterior"]["z"], own)
