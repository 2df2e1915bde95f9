"""What the posterior says of answers as data: how likely each of them was, and how reliable each source is."""

from __future__ import annotations

from collections import deque
from inspect import isabstract
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.constraints.noise import NoiseModel
from bayesclust.posterior.tree import chain_partitions, group, stored_views
from bayesclust.typing import CodeArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesclust.constraints.dataset import StoredConstraints

__all__ = ["confusions", "constraint_log_likelihood", "log_likelihoods", "source_reliability"]

INTERVAL = (0.05, 0.95)


def confusions(view: StoredConstraints, draws: xr.Dataset) -> FloatArray:
    """Return the confusion matrix of each draw and source.

    Parameters
    ----------
    view : StoredConstraints
    draws : Dataset
        The group posterior.

    Returns
    -------
    (chain, draw, source, truth, answer) array of float

    Raises
    ------
    ValueError
        If the draws hold no noise parameters of this view, or no noise model that is loaded has
        these.
    """
    return _noise_model(view).confusion(_noise(view, draws))


def _noise_model(view: StoredConstraints) -> NoiseModel:
    """Without settings, since confusion matrices follow from the parameters alone, whatever the priors were."""
    waiting = deque(NoiseModel.__subclasses__())
    while waiting:
        model = waiting.popleft()
        waiting.extend(model.__subclasses__())
        # what all of a kind share has no parameters of its own
        if not isabstract(model) and (model.kind, set(model.parameters)) == (
            view.kind,
            set(view.parameters),
        ):
            return object.__new__(model)
    raise ValueError(
        f"the answers {view.name!r} are of the kind {view.kind!r}, whose noise has the parameters "
        f"{', '.join(view.parameters)}, and no such noise model is loaded: import the file that defines it first."
    )


def log_likelihoods(
    view: StoredConstraints, truths: CodeArray, confusion: FloatArray
) -> FloatArray:
    """Return the log probability of each answer under some draws.

    Parameters
    ----------
    view : StoredConstraints
    truths : (draws, m) array of int
        What a faultless source would answer.
    confusion : (draws, source, truth, answer) array of float

    Returns
    -------
    (draws, m) array of float
        log p(answer | z, noise); -708 stands for a probability of zero.
    """
    draw = np.arange(len(truths))[:, None]
    likelihood: FloatArray = confusion[draw, view.source, truths, view.answers]
    return np.log(np.maximum(likelihood, np.finfo(np.float64).tiny))


def _noise(view: StoredConstraints, draws: xr.Dataset) -> dict[str, FloatArray]:
    """Draws of the noise parameters by their own names, (chain, draw, source, ...)."""
    missing = [name for name in view.parameters.values() if name not in draws]
    if missing:
        raise ValueError(
            f"the group posterior has no {', '.join(missing)}: pass the posterior_ of a sampler's fit."
        )
    return {
        own: draws[name].transpose("chain", "draw", ...).values
        for own, name in view.parameters.items()
    }


def constraint_log_likelihood(posterior: Any) -> xr.DataTree:
    """Return the posterior with a group `log_likelihood` of its answers, for ArviZ's leave-one-out cross-validation.

    Answers are independent given the partition and the noise, so each is a datum of its own:
    ``arviz.loo(tree, var_name="links")`` estimates how well answers would have been predicted from
    the data and all the other answers, and ``arviz.compare`` ranks fits by it.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints.

    Returns
    -------
    xarray.DataTree
        A copy with the group log_likelihood: for each view one variable of its name, (chain, draw,
        v_answer_id), in nats. It takes 8 bytes per draw and answer.

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

    z, draws = chain_partitions(posterior), group(posterior, "posterior")
    variables = {}
    for view in stored_views(posterior):
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
    """Return how reliable each source of answers is.

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

    z, draws = chain_partitions(posterior), group(posterior, "posterior")
    rows: list[dict[str, Any]] = []
    for view in stored_views(posterior):
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
