"""Constraints as data: which are right, their likelihood, and the reliability of sources."""

from __future__ import annotations

from collections import deque
from inspect import isabstract
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesclust.constraints.noise import NoiseModel
from bayesclust.posterior.labels import Labels, as_labels
from bayesclust.posterior.n_clusters import batches, error_of_means
from bayesclust.posterior.tree import chain_partitions, group, stored_constraints
from bayesclust.typing import ArrayLike, CodeArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesclust.constraints.stored import StoredConstraints

__all__ = [
    "confusions",
    "constraint_credibility",
    "constraint_log_likelihood",
    "log_likelihoods",
    "source_reliability",
]

INTERVAL = (0.05, 0.95)


def constraint_credibility(posterior: Any, *, labels: ArrayLike | None = None) -> pd.DataFrame:
    """Return, for every constraint, the posterior probability that it is right.

    A constraint is right where the partition agrees with it: a may-link whose items are together, a
    may-not-link whose items are apart, a triplet that its items' pattern implies. Averaged over
    draws, that is P(it is right | data, all constraints), with the noise of its source taken into
    account by the sampler.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.
    labels : (n,) array of int, optional
        A partition whose clusters the items are shown with; by default the `labels_` of the
        estimator, if it is one.

    Returns
    -------
    pandas.DataFrame
        One row a constraint, in the order given: view, the items i, j and, for triplets, k (missing
        for pairs), answer (in words), source, credibility, mcse (its Monte Carlo standard error, by
        batch means within chains) and likely (the answer with the highest posterior probability).
        Where the noise was kept, also credibility_loo (leave-one-out: the credibility by the data
        and all other constraints; much less than credibility where nothing but the constraint
        itself supports it) and elpd_loo (its log probability given all the rest, in nats; the sum
        is the expected log predictive density of leave-one-out cross-validation). Where a
        concentration was sampled, bayes_factor: posterior odds that it is right, over the odds of
        any items under the Chinese restaurant process (TVClust Eq. 2; half a draw is added on both
        sides, so that it stays finite). With labels, cluster_i, cluster_j and, for triplets,
        cluster_k.

    Notes
    -----
    Leaving a constraint out weighs the draws by 1 / p(answer | partition, noise) (Gelfand 1996).
    Where a few draws take all the weight, the two columns are uncertain; ``arviz.loo`` on
    `constraint_log_likelihood` shows it by its k-hat.

    Raises
    ------
    TypeError, ValueError
        If there are no draws or no constraints in what is passed, or labels are of other items.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> z = [[[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]]
    >>> tree = to_datatree({"z": z}, {"log_joint": [[0, 0, 0, 0]]}, constraints=[links])
    >>> bc.constraint_credibility(tree)[["i", "j", "answer", "credibility", "likely"]]
       i  j answer  credibility     likely
    0  0  1   same         1.00       same
    1  0  2   same         0.25  different
    """
    import pandas as pd

    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    tables = [_table(view, z, draws) for view in stored_constraints(posterior)]
    table = pd.concat(tables, ignore_index=True)
    if "k" in table:  # where pairs come first, concatenation puts it last
        table.insert(3, "k", table.pop("k"))
    shown = getattr(posterior, "labels_", None) if labels is None else labels
    if shown is not None:
        partition = as_labels(shown, "labels")
        if len(partition) != z.shape[2]:
            raise ValueError(
                f"labels has {len(partition)} items, but the posterior has {z.shape[2]}: "
                "pass one per item."
            )
        clusters = dict(enumerate(partition.tolist()))
        for item in (name for name in "ijk" if name in table):
            table[f"cluster_{item}"] = table[item].map(clusters).astype(table[item].dtype)
    return table


def _table(view: StoredConstraints, z: Labels, draws: xr.Dataset) -> pd.DataFrame:
    import pandas as pd

    kept = all(name in draws for name in view.parameters.values())
    tally = _tally(view, z, confusions(view, draws) if kept else None)
    words = np.array(view.vocabulary)
    names = "ijk"[: view.items.shape[1]]
    columns = {"view": view.name} | dict(zip(names, view.items.T, strict=True))
    frame = pd.DataFrame(columns, index=range(len(view)))
    if "k" in frame:
        frame["k"] = frame["k"].astype("Int64")
    frame["answer"] = words[view.answers]
    frame["source"] = view.source
    frame["credibility"] = tally.shares[np.arange(len(view)), view.answers]
    frame["mcse"] = tally.error
    frame["likely"] = words[tally.shares.argmax(axis=1)]
    if tally.left_out is not None:
        frame["credibility_loo"], frame["elpd_loo"] = tally.left_out
    if "concentration" in draws:
        prior = _prior_shares(view, draws["concentration"].values.ravel())[view.answers]
        number = z[..., 0].size
        right = frame["credibility"] * number
        frame["bayes_factor"] = (right + 0.5) / (number - right + 0.5) * (1 - prior) / prior
    return frame


def _prior_shares(view: StoredConstraints, alpha: FloatArray) -> FloatArray:
    """Prior probability (answers,) of each true answer, by the Chinese restaurant process."""
    if view.items.shape[1] == 2:
        patterns = np.stack([np.ones_like(alpha), alpha]) / (1 + alpha)
    else:
        patterns = np.stack([np.full_like(alpha, 2.0), alpha, alpha, alpha, alpha**2])
        patterns /= (1 + alpha) * (2 + alpha)
    return np.bincount(view.truth, patterns.mean(axis=1), view.n_answers)


class _Tally(NamedTuple):
    """What the draws say of m constraints."""

    shares: FloatArray  # (m, answers): posterior probability of each true answer
    error: FloatArray  # (m,): standard error of that of the answer given
    left_out: tuple[FloatArray, FloatArray] | None  # (m,) each: leave-one-out credibility, elpd


def _tally(view: StoredConstraints, z: Labels, confusion: FloatArray | None) -> _Tally:
    """Go once through the draws, with the confusion matrix of each of them if it was kept."""
    shares = np.zeros((len(view), view.n_answers))
    means = []
    weight, weight_right = np.full((2, len(view)), -np.inf)
    for c, first, last in batches(*z.shape[:2]):
        truths = view.truths(z[c, first:last])
        right = truths == view.answers
        for answer in range(view.n_answers):
            shares[:, answer] += (truths == answer).sum(axis=0)
        means.append(right.mean(axis=0))
        if confusion is not None:
            log_weight = -log_likelihoods(view, truths, confusion[c, first:last])
            weight = np.logaddexp(weight, np.logaddexp.reduce(log_weight))
            where_right = np.logaddexp.reduce(np.where(right, log_weight, -np.inf))
            weight_right = np.logaddexp(weight_right, where_right)
    number = z.shape[0] * z.shape[1]
    left_out = None
    if confusion is not None:
        left_out = (np.exp(weight_right - weight), np.log(number) - weight)
    return _Tally(shares / number, error_of_means(means), left_out)


def constraint_log_likelihood(posterior: Any) -> xr.DataTree:
    """Return the posterior with a group `log_likelihood` of its constraints, for ``arviz.loo``.

    Constraints are independent given the partition and the noise, so each is a datum of its own:
    ``arviz.loo(tree, var_name="links")`` estimates how well they would have been predicted from the
    data and all the others, and ``arviz.compare`` ranks fits by it.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.

    Returns
    -------
    xarray.DataTree
        A copy with the group log_likelihood: one variable (chain, draw, <name>_answer_id), in nats,
        for each kind of constraint, by its name. It takes 8 bytes per draw and constraint.

    Raises
    ------
    ValueError, TypeError
        If there are no draws, no constraints or no noise parameters in what is passed.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9], [0.8]]], "q": [[[0.7], [0.6]]]}
    >>> tree = to_datatree(draws, constraints=[links], dims={"p": ("source",), "q": ("source",)})
    >>> bc.constraint_log_likelihood(tree)["log_likelihood"]["links"].values.round(3)
    array([[[-0.105, -1.204],
            [-0.223, -0.223]]])
    """
    import xarray as xr

    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    variables = {}
    for view in stored_constraints(posterior):
        chains = zip(z, confusions(view, draws), strict=True)
        values = np.stack(
            [log_likelihoods(view, view.truths(labels), confusion) for labels, confusion in chains]
        )
        variables[view.name] = (("chain", "draw", f"{view.name}_answer_id"), values)
    tree: xr.DataTree = getattr(posterior, "posterior_", posterior).copy()
    coords = {name: draws[name] for name in ("chain", "draw") if name in draws.coords}
    tree["log_likelihood"] = xr.DataTree(xr.Dataset(variables, coords=coords))
    return tree


def source_reliability(posterior: Any) -> pd.DataFrame:
    """Return how reliable each source of constraints is.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.

    Returns
    -------
    pandas.DataFrame
        One row for each noise parameter of each source: view, source, parameter (p: "same" of a
        pair that is; q: "different" of a pair that is; noise: wrong about a triplet;
        confusion[truth, answer]), mean, sd, lower and upper (ends of the central 90% interval),
        answers (how many the source gave) and wrong (how many of them are wrong, on average over
        the posterior).

    Raises
    ------
    ValueError, TypeError
        If there are no draws, no constraints or no noise parameters in what is passed.

    Examples
    --------
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    >>> draws = {"z": [[[0, 0, 1], [0, 0, 0]]], "p": [[[0.9], [0.8]]], "q": [[[0.7], [0.6]]]}
    >>> tree = to_datatree(draws, constraints=[links], dims={"p": ("source",), "q": ("source",)})
    >>> bc.source_reliability(tree)[["view", "source", "parameter", "mean", "answers", "wrong"]]
        view  source parameter  mean  answers  wrong
    0  links       0         p  0.85        2    0.5
    1  links       0         q  0.65        2    0.5
    """
    import pandas as pd

    z = chain_partitions(posterior)
    draws = group(posterior, "posterior")
    rows: list[dict[str, Any]] = []
    for view in stored_constraints(posterior):
        noise = _noise(view, draws)
        given = np.bincount(view.source, minlength=view.n_sources)
        missed = np.mean([(view.truths(part) != view.answers).mean(axis=0) for part in z], axis=0)
        wrong = np.bincount(view.source, weights=missed, minlength=view.n_sources)
        for source, (parameter, values) in product(range(view.n_sources), noise.items()):
            for cell in np.ndindex(values.shape[3:]):
                drawn = values[(slice(None), slice(None), source, *cell)]
                where = f"[{', '.join(view.vocabulary[k] for k in cell)}]" if cell else ""
                lower, upper = np.quantile(drawn, INTERVAL)
                about = {"view": view.name, "source": source, "parameter": parameter + where}
                spread = {"mean": drawn.mean(), "sd": drawn.std(), "lower": lower, "upper": upper}
                rows.append(about | spread | {"answers": given[source], "wrong": wrong[source]})
    return pd.DataFrame(rows)


def confusions(view: StoredConstraints, draws: xr.Dataset) -> FloatArray:
    """Return the confusion matrices (chain, draw, source, truth, answer) of the group posterior."""
    return _noise_model(view).confusion(_noise(view, draws))


def log_likelihoods(
    view: StoredConstraints, truths: CodeArray, confusion: FloatArray
) -> FloatArray:
    """Return log p(answer | z, noise), (draws, m); -708 stands for a probability of zero.

    `truths` (draws, m) are the answers of a faultless source, and `confusion` is (draws, source,
    truth, answer).
    """
    draw = np.arange(len(truths))[:, None]
    likelihood: FloatArray = confusion[draw, view.source, truths, view.answers]
    return np.log(np.maximum(likelihood, np.finfo(np.float64).tiny))


def _noise_model(view: StoredConstraints) -> NoiseModel:
    """Without settings: confusion matrices follow from the parameters, whatever the priors were."""
    waiting = deque(NoiseModel.__subclasses__())
    wanted = (view.kind, set(view.parameters))
    while waiting:
        model = waiting.popleft()
        waiting.extend(model.__subclasses__())
        # what all of a kind share has no parameters of its own
        if not isabstract(model) and (model.kind, set(model.parameters)) == wanted:
            return object.__new__(model)
    raise ValueError(
        f"the answers {view.name!r} are of the kind {view.kind!r}, whose noise has the parameters "
        f"{', '.join(view.parameters)}, and no such noise model is loaded: "
        "import the file that defines it first."
    )


def _noise(view: StoredConstraints, draws: xr.Dataset) -> dict[str, FloatArray]:
    """Draws of the noise parameters by their own names, (chain, draw, source, ...)."""
    missing = [name for name in view.parameters.values() if name not in draws]
    if missing:
        raise ValueError(
            f"the group posterior has no {', '.join(missing)}: "
            "pass the posterior_ of a sampler's fit."
        )
    return {
        own: draws[name].transpose("chain", "draw", ...).values
        for own, name in view.parameters.items()
    }
