"""The table of `compare`, and how much each two methods agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_choice
from bayesclust.comparison.methods import Method, read_methods
from bayesclust.metrics import (
    adjusted_rand,
    check_partition,
    nmi,
    pairwise_f,
    variation_of_information,
)
from bayesclust.posterior.credible_ball import SAME, CredibleBall, credible_ball
from bayesclust.posterior.losses import Loss, as_loss, expected_losses
from bayesclust.typing import ArrayLike

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["agreement", "compare"]

MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "vi": variation_of_information,
    "ari": adjusted_rand,
    "nmi": nmi,
    "f": pairwise_f,
}
TITLES = {
    "vi": "variation of information (bits)",
    "ari": "adjusted Rand index",
    "nmi": "normalised mutual information",
    "f": "pairwise F",
}


def compare(
    methods: Any,
    y: ArrayLike | None = None,
    *,
    reference: str | None = None,
    limit: str | None = None,
    level: float = 0.95,
    loss: str | Loss = "vi",
) -> pd.DataFrame:
    """Put several fits side by side: what each found, where it lies in a posterior, and what one model says of each.

    Parameters
    ----------
    methods : dict of str to fit
        By names of your choice: fitted estimators of this package, trees of draws
        (`xarray.DataTree`), fitted scikit-learn estimators with ``labels_`` (of whose noise label
        -1 one cluster is made), arrays of draws (draws, n) or (chain, draw, n) from another
        package, or plain labels (n,), which may be words.
    y : array-like of shape (n,), optional
        True labels.
    reference : str, optional
        Name of the fit whose posterior judges the others; by default the first that has draws.
    limit : str, optional
        Name of the fit whose objective J judges all; by default the first that has one
        (`RDPMeans.objective`).
    level : float in (0, 1), default 0.95
        Of the credible ball.
    loss : "vi", "binder" or Loss, default "vi"
        The distance of the ball, and the loss that is expected; equal prices (a = 1) only.

    Returns
    -------
    pandas.DataFrame
        One row per method, in the order given, the columns that nothing can be said about left out:

        - n_clusters;
        - seconds: wall-clock time of the fit, where the estimator or the tree tells;
        - distance: from the reference's own partition, in units of the loss (bits for VI);
        - ball_level: level of the smallest credible ball around that partition which holds this
          one, that is the share of the posterior that is no farther away; values near 1 are far
          out;
        - inside: whether the ball of `level` holds it;
        - expected_loss: posterior mean of the loss, which the reference's own partition is there to
          make small;
        - log_joint: log p(labels, data, answers) under the reference's model (`TVClust.log_joint`:
          cluster parameters, concentration and noise integrated out, base measure at its posterior
          mean), or that of the first fit that has such a model where the reference is none, in
          nats. Differences are log posterior odds;
        - objective: J under the limit's data, answers, penalty and confidence, each partition with
          its own best centres;
        - f, ari, nmi: pairwise F, adjusted Rand index and normalised mutual information with `y`.

        ``attrs`` holds the names of the fits that judged ("reference", "log_joint_of",
        "objective_of"), "loss", "level" and the "radius" of the ball.

    Raises
    ------
    TypeError, ValueError
        If there is nothing to compare, something is no fit or of other items, or a name is unknown.

    See Also
    --------
    agreement : how much each two of them agree.

    Notes
    -----
    The reference matters: draws from a mean field understate how far a posterior reaches, so that
    good partitions come out too far. Name a sampler where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(4, 1, (20, 2))], np.repeat([0, 1], 20)
    >>> sampler = bc.TVClust(num_chains=2, num_warmup=100, num_samples=200, random_state=0).fit(X)
    >>> fits = {"sampler": sampler, "limit": bc.RDPMeans(n_clusters=2).fit(X), "truth": y, "one cluster": 0 * y}
    >>> table = bc.compare(fits, y)
    >>> table[["n_clusters", "inside", "ari"]].round(2)
                 n_clusters  inside  ari
    sampler               2    True  1.0
    limit                 2    True  1.0
    truth                 2    True  1.0
    one cluster           1   False  0.0
    """
    import pandas as pd

    metric = as_loss(loss)
    fits = read_methods(methods, metric)
    classes = None if y is None else check_partition(y, "y")
    columns: dict[str, Any] = {"n_clusters": [int(fit.labels.max()) + 1 for fit in fits.values()]}
    columns["seconds"] = [fit.seconds for fit in fits.values()]
    attrs: dict[str, Any] = {"loss": repr(metric), "level": level}
    judge = _named(fits, reference, "reference", _has_draws, "draws")
    if judge is not None:
        ball = credible_ball(fits[judge].draws, fits[judge].labels, level=level, loss=metric)
        columns |= _position(fits, ball, fits[judge])
        attrs |= {"reference": judge, "radius": ball.radius}
    model = (
        judge
        if judge is not None and _has_joint(fits[judge])
        else _named(fits, None, "", _has_joint, "")
    )
    price = _named(fits, limit, "limit", _has_objective, "an objective")
    if model is not None:
        columns["log_joint"] = [fits[model].source.log_joint(fit.labels) for fit in fits.values()]
        attrs["log_joint_of"] = model
    if price is not None:
        columns["objective"] = [fits[price].source.objective(fit.labels) for fit in fits.values()]
        attrs["objective_of"] = price
    if classes is not None:
        for name in ("f", "ari", "nmi"):
            columns[name] = [MEASURES[name](fit.labels, classes) for fit in fits.values()]
    table = pd.DataFrame(columns, index=list(fits))
    table.attrs.update(attrs)
    return table.dropna(axis="columns", how="all")


def agreement(methods: Any, measure: str = "vi", *, loss: str | Loss = "vi") -> pd.DataFrame:
    """Return how much each two methods agree.

    Parameters
    ----------
    methods : dict of str to fit
        As in `compare`.
    measure : {"vi", "ari", "nmi", "f"}, default "vi"
        Variation of information in bits (0 for equal partitions), adjusted Rand index, normalised
        mutual information or pairwise F (all 1 for equal partitions). All are symmetric.
    loss : str or Loss, default "vi"
        Of the point estimates of draws that come without one.

    Returns
    -------
    pandas.DataFrame
        One row and one column per method; ``attrs["measure"]`` says which measure it is, and the
        name of the columns says it in words.

    Raises
    ------
    TypeError, ValueError
        As `compare`, or if the measure is unknown.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.agreement({"a": [0, 0, 1, 1], "b": [0, 0, 0, 0], "c": ["x", "x", "y", "y"]})
    variation of information (bits)    a    b    c
    a  0.0  1.0  0.0
    b  1.0  0.0  1.0
    c  0.0  1.0  0.0
    """
    import pandas as pd

    check_choice(measure, "measure", MEASURES)
    fits = read_methods(methods, as_loss(loss))
    partitions = [fit.labels for fit in fits.values()]
    values = np.array(
        [[MEASURES[measure](one, other) for other in partitions] for one in partitions]
    )
    table = pd.DataFrame(values, index=list(fits), columns=pd.Index(fits, name=TITLES[measure]))
    table.attrs["measure"] = measure
    return table


def _has_draws(fit: Method) -> bool:
    return fit.draws is not None


def _has_joint(fit: Method) -> bool:
    return callable(getattr(fit.source, "log_joint", None))


def _has_objective(fit: Method) -> bool:
    return callable(getattr(fit.source, "objective", None))


def _named(
    fits: dict[str, Method], name: Any, argument: str, suits: Callable[[Method], bool], what: str
) -> str | None:
    """The fit of that name, or the first one that suits; None where there is none."""
    if name is None:
        return next((one for one, fit in fits.items() if suits(fit)), None)
    if not isinstance(name, str) or name not in fits:
        raise ValueError(
            f"{argument}={name!r} is none of the methods {', '.join(map(repr, fits))}: name one of these."
        )
    if not suits(fits[name]):
        raise ValueError(
            f"{argument}={name!r} has no {what.removeprefix('an ')}: name a fit that has {what}."
        )
    return name


def _position(fits: dict[str, Method], ball: CredibleBall, judge: Method) -> dict[str, Any]:
    """Where partitions lie in the posterior."""
    partitions = np.stack([fit.labels for fit in fits.values()])
    distance = np.array([ball.distance(labels) for labels in partitions])
    return {
        "distance": distance,
        "ball_level": [float((ball.distances <= away + SAME).mean()) for away in distance],
        "inside": distance <= ball.radius + SAME,
        "expected_loss": expected_losses(ball.loss, partitions, judge.draws),  # type: ignore[arg-type]
    }
