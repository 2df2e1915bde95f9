"""Parameters of clusters against the families' conjugate posteriors, from SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesclust as bc
from bayesclust.estimators.cluster_models import principal_components
from bayesclust.families import FAMILIES, BoundFamily, DiagonalGaussian, FullGaussian, Product
from bayesclust.families.discrete import Recoded
from bayesclust.families.gaussian_tied import BoundTiedGaussian
from bayesclust.families.mixed import HurdleGaussian
from bayesclust.inference.dcrc.classifier import ClassifierPrediction, ClassifierProblem
from bayesclust.inference.prediction import Prediction
from bayesclust.partition_priors import DirichletProcess, MixtureOfFiniteMixtures, PitmanYor
from bayesclust.posterior.tree import to_datatree
from tests.exactness.cases import data_for, fixed
from tests.refusals import refused

Z = np.repeat([0, 1, 2], [9, 5, 2])
ITEMS = np.split(np.arange(16), [9, 14])
MANY = {"num_draws": 10_000, "seed": 1}
TOLERANCE = 4 * np.sqrt(0.05 * 0.95 / MANY["num_draws"])
SHORT = {"num_chains": 2, "num_warmup": 20, "num_samples": 20, "random_state": 0, "progress": False}


class Fit:
    """A fit as its draws, without a sampler."""

    def __init__(self, X, family, hyper=None, values=None, **more):
        self.family = family
        self.hyper = np.array([family.initial_hyper()]) if hyper is None else hyper
        number = len(self.hyper)
        self.values = values or [{"concentration": 1.0}] * number
        self.more = more
        self.labels_ = Z
        z = np.tile(Z, (1, number, 1))
        self.posterior_ = to_datatree({"z": z}, X=X)

    def spread_draws(self, number):
        assert number >= 1
        z = np.tile(Z, (len(self.hyper), 1))
        return Prediction(self.family, z, self.values, self.hyper, **self.more)


def moments_of(family, X):
    """Each column's number, sum and sum of squares of the cells, weighted by the power."""
    power = family.power
    n = power * np.isfinite(X).sum(axis=0)
    return n, power * np.nansum(X, axis=0), power * np.nansum(X**2, axis=0)


def wishart(family, hyper, groups, k, turn=None):
    """Means and variances of full covariances (Murphy 2007, Eq. 258 and 263), turned."""
    kappa0, nu, psi = family.parameters(hyper)
    turn = np.diag(family.unit) if turn is None else turn
    for X in groups if isinstance(family, BoundTiedGaussian) else [groups[k]]:
        n, total = family.power * len(X), family.power * X.sum(axis=0)
        nu = nu + n
        psi = psi + family.power * X.T @ X - np.outer(total, total) / (kappa0 + n)
    kappa = kappa0 + family.power * len(groups[k])
    scale = np.einsum("jd,de,je->j", turn, psi, turn)
    mean = turn @ (family.power * groups[k].sum(axis=0) / kappa)
    free = nu - len(psi) + 1
    located = stats.t(free, mean, np.sqrt(scale / (kappa * free)))
    return located, stats.invgamma(free / 2, scale=scale / 2)


def columns(family, hyper, groups, k):
    """Normal-inverse-gamma, of a variance for each column or for all."""
    kappa0, shape, rate = family.parameters(hyper)
    n, total, squares = moments_of(family, groups[k])
    kappa = kappa0 + n
    scatter = squares - total**2 / kappa
    if family.one_variance:
        n, scatter = n.sum(), scatter.sum()
    shape, rate = shape + n / 2, rate + scatter / 2
    centre, scale = family.unit * total / kappa, family.unit * np.sqrt(rate / (kappa * shape))
    return stats.t(2 * shape, centre, scale), stats.invgamma(shape, scale=family.unit**2 * rate)


def poisson(family, hyper, groups, k):
    n, total, _ = moments_of(family, groups[k])
    rate = stats.gamma(hyper[0] + total, scale=1 / (hyper[0] / family.mean + n))
    return rate, rate


def probabilities(family, hyper, groups, k):
    """Marginals of Dirichlet distributions."""
    counts = family.power * family.rows(groups[k])[0].sum(axis=0)
    weights = family.parameters(hyper) + counts
    whole = np.repeat(np.add.reduceat(weights, family.first[:-1]), family.sizes)
    return stats.beta(weights, whole - weights), None


def ones(family, hyper, groups, k):
    found, _ = probabilities(family, hyper, groups, k)
    return stats.beta(found.args[0][1::2], found.args[1][1::2]), None


EXACT = {
    "gaussian": wishart,
    "gaussian_tied": wishart,
    "gaussian_diagonal": columns,
    "gaussian_spherical": columns,
    "poisson": poisson,
    "multinomial": probabilities,
    "bernoulli": ones,
    "categorical": probabilities,
}


def check_quantiles(table, k, located, spread=None, shift=0.0, rest=0.0):
    """The ends of the intervals of cluster k have 5% and 95% of the exact posterior below them."""
    own = table.loc[k]
    for end, wanted in (("low", 0.05), ("high", 0.95)):
        below = located.cdf(own[f"mean_{end}"].to_numpy() - shift)
        np.testing.assert_allclose(below, wanted, atol=TOLERANCE)
        if spread is not None:
            variance = own[f"sd_{end}"].to_numpy() ** 2 - rest
            np.testing.assert_allclose(spread.cdf(variance), wanted, atol=TOLERANCE)
    error = 5 * located.std() / np.sqrt(MANY["num_draws"])
    assert (np.abs(own["mean"] - shift - located.mean()) < error).all()


@pytest.mark.parametrize("power", [1.0, 0.5])
@pytest.mark.parametrize("name", EXACT)
def test_parameters_follow_the_conjugate_posterior(name, power, rng):
    """With missing cells too, where the family takes them."""
    configuration = fixed(FAMILIES[name])
    X = data_for(configuration, len(Z), 3, rng)
    if configuration.takes_missing:
        X[[0, 3, 9], [1, 2, 0]] = np.nan
    family = configuration.bind(X).coarsened(power)
    hyper = family.initial_hyper()
    table = bc.cluster_profiles(Fit(X, family), **MANY)
    groups = [family.X[own] for own in ITEMS]
    for k in range(3):
        located, spread = EXACT[name](family, hyper, groups, k)
        check_quantiles(table, k, located, spread, getattr(family, "centre", 0.0))


def test_every_family_with_moments_is_compared(rng):
    """One that gives `moments` needs a line in EXACT, or a test of its own."""
    bound = {
        name: configuration.bind(data_for(configuration, 9, 3, rng))
        for name, configuration in ((name, fixed(own)) for name, own in FAMILIES.items())
    }
    has = {name for name, own in bound.items() if type(own).moments is not BoundFamily.moments}
    assert set(EXACT) | {"von_mises_fisher"} == has


def test_directions_have_the_moments_of_scipys_distribution(rng):
    configuration = fixed(FAMILIES["von_mises_fisher"])
    X = rng.normal(size=(len(Z), 3)) + 1.0
    family = configuration.bind(X)
    kappa = float(family.initial_hyper()[0])
    once = bc.cluster_profiles(Fit(X, family), num_draws=1).loc[0]
    direction = once["mean"].to_numpy() / np.linalg.norm(once["mean"])
    drawn = stats.vonmises_fisher(direction, kappa).rvs(200_000, random_state=rng)
    np.testing.assert_allclose(once["mean"], drawn.mean(axis=0), atol=0.005)
    np.testing.assert_allclose(once["sd"], drawn.std(axis=0), atol=0.005)
    table = bc.cluster_profiles(Fit(X, family), **MANY)
    for k in range(3):
        total = kappa * family.X[ITEMS[k]].sum(axis=0)
        length = np.linalg.norm(total)
        posterior = stats.vonmises_fisher(total / length, length)
        means = posterior.rvs(40_000, random_state=rng) * np.linalg.norm(once["mean"])
        for end, wanted in (("low", 0.05), ("high", 0.95)):
            below = (means < table.loc[k, f"mean_{end}"].to_numpy()).mean(axis=0)
            np.testing.assert_allclose(below, wanted, atol=1.5 * TOLERANCE)


def test_hyper_parameters_of_the_draws_are_mixed(rng):
    X = rng.normal(size=(len(Z), 2))
    family = DiagonalGaussian().bind(X)
    hyper = np.array([[0.3, 15.0, 0.05], [0.8, 30.0, 5.0]])
    values = [{"concentration": 1.0}] * 2
    table = bc.cluster_profiles(Fit(X, family, hyper, values), **MANY).loc[1]
    both = [columns(family, own, [family.X[own] for own in ITEMS], 1)[0] for own in hyper]
    for end, wanted in (("low", 0.05), ("high", 0.95)):
        values = table[f"mean_{end}"].to_numpy() - family.centre
        below = np.mean([one.cdf(values) for one in both], axis=0)
        np.testing.assert_allclose(below, wanted, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("prior", "values", "more"),
    [
        (DirichletProcess(), {"concentration": 3.0}, 0.0),
        (PitmanYor(), {"concentration": 3.0, "discount": 0.4}, -0.4),
        (MixtureOfFiniteMixtures(), {"gamma": 0.7}, 0.7),
    ],
)
def test_shares_of_clusters_are_dirichlet(prior, values, more, rng):
    X = rng.normal(size=(len(Z), 1))
    fit = Fit(X, FullGaussian().bind(X), values=[values], partition_prior=prior)
    table = bc.cluster_profiles(fit, **MANY).xs("0", level="feature")
    weights = np.bincount(Z) + more
    share = stats.beta(weights, weights.sum() - weights)
    assert table["size"].tolist() == [9, 5, 2]
    assert table["weight"].sum() == pytest.approx(1)
    for end, wanted in (("low", 0.05), ("high", 0.95)):
        np.testing.assert_allclose(share.cdf(table[f"weight_{end}"]), wanted, atol=TOLERANCE)


def test_mixtures_have_the_moments_of_their_components(rng):
    """Two draws of components, of which one reaches across the clusters and is cut there."""
    X = rng.normal(size=(len(Z), 2)) + 4.0 * (np.arange(len(Z)) % 2)[:, None]
    family = DiagonalGaussian(scale=0.5).bind(X)
    components = np.stack([np.arange(len(Z)) % 2, np.arange(len(Z)) // 4])
    hyper = np.tile(family.initial_hyper(), (2, 1))
    within = PitmanYor()
    within_values = [{"concentration": 2.0, "discount": 0.3}] * 2
    fit = Fit(X, family, hyper, components=components, within=within, within_values=within_values)
    table = bc.cluster_profiles(fit, **MANY)
    kappa0, shape0, rate0 = family.parameters(hyper[0])
    for k in range(3):
        means, variances = [], []
        for own in components:
            groups = [
                family.X[ITEMS[k][own[ITEMS[k]] == part]] for part in np.unique(own[ITEMS[k]])
            ]
            share = rng.dirichlet([len(group) - 0.3 for group in groups], size=20_000)
            mean, variance = [], []
            for group in groups:
                kappa = kappa0 + len(group)
                centre = group.sum(axis=0) / kappa
                rate = rate0 + 0.5 * ((group**2).sum(axis=0) - kappa * centre**2)
                v = rate / rng.gamma(shape0 + len(group) / 2, size=(20_000, 2))
                mean.append(centre + rng.normal(size=v.shape) * np.sqrt(v / kappa))
                variance.append(v)
            weight = share.T[:, :, None]
            whole = (weight * mean).sum(axis=0)
            means.append(whole)
            variances.append((weight * (variance + np.square(mean))).sum(axis=0) - whole**2)
        means = family.centre + family.unit * np.concatenate(means)
        sds = family.unit * np.sqrt(np.concatenate(variances))
        for name, draws in (("mean", means), ("sd", sds)):
            for end, wanted in (("low", 0.05), ("high", 0.95)):
                below = (draws < table.loc[k, f"{name}_{end}"].to_numpy()).mean(axis=0)
                np.testing.assert_allclose(below, wanted, atol=1.5 * TOLERANCE)


def test_principal_components_are_mapped_back_to_the_columns(rng):
    X = rng.normal(size=(len(Z), 5)) * [1, 10, 2, 1, 1] + Z[:, None]
    reduction, items = principal_components(X, 3, True)
    family = FullGaussian(scale=0.5).bind(items)
    fit = Fit(pd.DataFrame(X, columns=list("abcde")), family)
    fit.reduction_ = reduction
    table = bc.cluster_profiles(fit, **MANY)
    scaler, pca = (step for _, step in reduction.steps)
    turn = scaler.scale_[:, None] * pca.components_.T
    shift = scaler.mean_ + scaler.scale_ * pca.mean_ + turn @ family.centre
    residual = X - (scaler.mean_ + items @ turn.T)
    groups = [family.X[own] for own in ITEMS]
    for k in range(3):
        exact = wishart(family, family.initial_hyper(), groups, k, turn * family.unit)
        check_quantiles(table, k, *exact, shift, residual.var(axis=0))
    assert table.loc[0].index.tolist() == list("abcde")


def test_probabilities_and_differences_follow_from_one_draw(rng):
    X = rng.integers(0, 3, size=(len(Z), 2)).astype(float)
    found = bc.cluster_profiles(Fit(X, bc.families.Categorical().bind(X)), num_draws=1)
    np.testing.assert_allclose(found["sd"] ** 2, found["mean"] * (1 - found["mean"]))
    mean, sd = (found[name].to_numpy().reshape(3, -1) for name in ("mean", "sd"))
    sizes = np.bincount(Z)
    within = np.sqrt(sizes @ sd**2 / len(Z))
    rest = [
        np.average(np.delete(mean, k, 0), axis=0, weights=np.delete(sizes, k)) for k in range(3)
    ]
    np.testing.assert_allclose(found["difference"], ((mean - rest) / within).ravel())


def test_features_have_the_names_of_columns_and_values(rng):
    """Constant columns are left out, atoms and codes follow their columns."""
    n = len(Z)
    data = pd.DataFrame(
        {
            "code": rng.integers(0, 2, n) * 2.0,
            "zeros": np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
            "same": np.ones(n),
            "length": rng.normal(size=n),
            "word": rng.integers(0, 2, n),
        }
    )
    data.loc[:1, "code"] = [0.0, 2.0]
    parts = [(FullGaussian(), [2, 3]), (HurdleGaussian(0.0), [1]), (Recoded(), [0, 4])]
    fit = Fit(data, Product(parts).bind(data.to_numpy()))
    fit._words = {4: ["ja", "nein"]}
    table = bc.cluster_profiles(fit, np.array([7, 7, 3, 5])[np.arange(n) % 4], num_draws=4)
    names = ["code=0", "code=2", "zeros", "zeros=0", "length", "word=ja", "word=nein"]
    assert table.index.unique("feature").tolist() == names
    assert table.index.unique("cluster").tolist() == [3, 5, 7]
    assert table["size"].xs("length", level="feature").tolist() == [4, 4, 8]
    both = table["mean"].loc[3, ["word=ja", "word=nein"]]
    assert both.sum() == pytest.approx(1)


def test_one_cluster_has_no_difference(rng):
    X = rng.normal(size=(len(Z), 2))
    table = bc.cluster_profiles(Fit(X, FullGaussian().bind(X)), np.zeros(len(Z), int))
    assert table["difference"].isna().all()
    assert (table["weight"] == 1).all()
    assert len(bc.plots.profiles(Fit(X, FullGaussian().bind(X)), np.zeros(len(Z), int))) == 2


@pytest.mark.parametrize("model", ["single", "mixture"])
def test_a_fit_is_described(model, rng):
    z = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + [5.0, 0.0] * z[:, None] + 100
    data = pd.DataFrame(X, columns=["size", "noise"])
    fit = bc.TVClust(cluster_model=model, **SHORT).fit(data)
    table = bc.cluster_profiles(fit, z)
    np.testing.assert_allclose(table["mean"].xs("size", level="feature"), [100, 105], atol=1)
    assert table.loc[1, "difference"].round(-1).tolist() == [0, 0]
    assert table.loc[1, "difference"].idxmax() == "size"
    pd.testing.assert_frame_equal(bc.cluster_profiles(fit, z), table)
    axes = bc.plots.profiles(fit, z)
    assert [ax.get_title(loc="left") for ax in axes] == ["size", "noise"]
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == [
        "0 (20 items)",
        "1 (20 items)",
    ]


def test_words_of_a_mean_field_fit_are_named(rng):
    kind = np.repeat(["cat", "dog"], 20)
    data = pd.DataFrame({"kind": kind, "age": rng.normal(size=40) + 9.0 * (kind == "dog")})
    fit = bc.TVClust("variational", family="mixed", num_samples=20, random_state=0).fit(data)
    table = bc.cluster_profiles(fit, (kind == "dog").astype(int))
    assert table.index.unique("feature").tolist() == ["kind=cat", "kind=dog", "age"]
    assert table.loc[(1, "kind=dog"), "mean"] > 0.8 > 0.2 > table.loc[(0, "kind=dog"), "mean"]
    axes = bc.plots.profiles(fit, (kind == "dog").astype(int))
    lines = {ax.get_title(loc="left"): len(ax.lines) for ax in axes}
    assert lines == {"kind=cat": 4, "kind=dog": 4, "age": 6}  # shares have no spread
    said = "dot and thick line: mean and its {}% interval;\nthin line: one standard deviation"
    assert axes[0].figure.get_suptitle() == f"{said.format(90)} of the items"
    (ax,) = bc.plots.profiles(fit, (kind == "dog").astype(int), max_listed=1, prob=0.5)
    first = "1 of 3 features, those that differ most\n"
    assert ax.figure.get_suptitle().startswith(first + said.partition(";")[0].format(50))


X = np.random.default_rng(0).normal(size=(len(Z), 2))
FIT = Fit(X, FullGaussian().bind(X))
CLASSES = Fit(X, FullGaussian().bind(X))
CLASSES.spread_draws = lambda number: ClassifierPrediction(
    ClassifierProblem(X, (), np.zeros((2, 3)), None, np.zeros((2, 3, 3))),
    np.zeros((2, len(Z)), int),
)
ROWS = """
bc.cluster_profiles(FIT.posterior_)
    TypeError: the estimator must be a fitted TVClust, whose clusters have densities; got DataTree:
    pass one, or describe the items of each label.
bc.cluster_profiles(CLASSES)
    ValueError: the clusters of a classifier have no parameters in the units of the data: fit with
    cluster_model="single" or "mixture", or describe the items of each label.
bc.cluster_profiles(FIT, [0, 1])
    ValueError: labels must have shape (16,); got (2,): pass one label per item.
bc.plots.profiles(FIT, axes=[])
    ValueError: axes are 0, but the features shown take 2: pass 2 axes, or None.
"""
test_refusals = refused(ROWS, globals())
