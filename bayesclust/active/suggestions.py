"""Queries suggested by a posterior that has been sampled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.active.beliefs import VIEWS, Beliefs, check_queries, with_skips
from bayesclust.active.protocol import PAIR, Query, ordered
from bayesclust.checks import check_choice, check_int, check_random_state
from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.losses import Loss
from bayesclust.posterior.tree import group, is_array, stacked_partitions, stored_views
from bayesclust.typing import FloatArray, IntArray, Seed

if TYPE_CHECKING:
    import pandas as pd

    from bayesclust.constraints.dataset import StoredConstraints

__all__ = ["suggest_queries"]


def suggest_queries(
    posterior: Any,
    kind: str = PAIR,
    size: int = 10,
    *,
    target: str | int | Loss = "vi",
    queries: Iterable[tuple[int, ...]] | None = None,
    num_draws: int = 200,
    num_candidates: int = 2000,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Return the queries whose answers would tell most, with what each is expected to tell.

    Parameters
    ----------
    posterior : DataTree, fitted estimator or (draws, n) array of int
        Posterior draws of the partition. Where the noise of answers of the kind was drawn with
        them, it is heeded, that of the first source; else answers are taken to go wrong as by the
        default of the kind.
    kind : {"pair", "triplet"}, default "pair"
    size : int, default 10
        How many to ask together, at most.
    target : "partition", "n_clusters", int, or loss, default "vi"
        What one wants to know, as for `PosteriorQueries`.
    queries : iterable of tuple of int, optional
        Items of queries to weigh; none is left out then. By default those that
        `bayesclust.active.proposals` finds, without those that were answered.
    num_draws : int, default 200
        Draws that are used, at even distances: time goes with their square.
    num_candidates : int, default 2000
        Queries that are compared, at most.
    seed : int, Generator or None, default 0

    Returns
    -------
    DataFrame
        One row a query: kind, the items i, j and for triplets k, gain (of its answer by itself,
        in nats or the units of the loss), the probability of each answer and, unless queries are
        given, adds (what it adds to the rows above, by which rows are chosen).

    Raises
    ------
    TypeError, ValueError
        If there are no draws in what is passed, a query is none, or a setting is out of range.

    Examples
    --------
    >>> import bayesclust as bc
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 1, 2]]
    >>> bc.active.suggest_queries(draws, size=2)[["i", "j", "gain", "adds"]].round(3)
       i  j   gain   adds
    0  1  2  0.106  0.106
    1  1  3  0.106  0.074
    >>> bc.active.suggest_queries(draws, "triplet", queries=[(0, 1, 2)])[["gain", "yes", "no", "dnk"]].round(3)
        gain    yes    no    dnk
    0  0.282  0.688  0.05  0.262
    """
    check_choice(kind, "kind", VIEWS)
    check_int(size, "size")
    check_int(num_candidates, "num_candidates")
    z, rng = stacked_partitions(posterior), check_random_state(seed)
    rows: IntArray = (
        np.linspace(0, len(z) - 1, min(len(z), check_int(num_draws, "num_draws")))
        .round()
        .astype(np.int64)
    )
    views = [] if is_array(posterior) or not _has_answers(posterior) else stored_views(posterior)
    views = [view for view in views if view.kind == VIEWS[kind].kind]
    confusion = _confusion(kind, views, posterior, rows)
    beliefs = Beliefs(z[rows], np.full(len(rows), 1 / len(rows)), {kind: confusion})
    if queries is not None:
        return beliefs.table(check_queries(_asked(kind, queries), z.shape[1]), target)
    asked = {ordered(kind, row) for view in views for row in view.items.tolist()}
    candidates = beliefs.propose([kind], {kind: asked}, num_candidates, rng)
    chosen, adds = beliefs.best(candidates, target, size, rng)
    return beliefs.table(chosen, target).assign(adds=adds)


def _asked(kind: str, queries: Any) -> list[Query]:
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise TypeError(f"queries must be a list of tuples of items; got {type(queries).__name__}.")
    rows = list(queries)
    if not rows:
        raise ValueError("queries is empty: name at least one, or leave it out.")
    for at, items in enumerate(rows):
        if isinstance(items, str) or not isinstance(items, Iterable):
            raise TypeError(f"queries[{at}] must be a tuple of items; got {type(items).__name__}.")
    return [Query(kind, tuple(items)) for items in rows]


def _has_answers(posterior: Any) -> bool:
    tree = getattr(posterior, "posterior_", posterior)
    return "constant_data" in getattr(tree, "children", ())


def _confusion(
    kind: str, constraints: list[StoredConstraints], posterior: Any, rows: IntArray
) -> FloatArray:
    """p(answer | truth) of the first source in each draw, or at the prior mean."""
    draws = group(posterior, "posterior") if constraints else None
    if draws is not None and all(name in draws for name in constraints[0].parameters.values()):
        by_chain = confusions(constraints[0], draws)[:, :, 0]
        table = by_chain.reshape(-1, *by_chain.shape[2:])[rows]
    else:
        noise = VIEWS[kind].default_noise()
        table = np.repeat(noise.confusion(noise.initial(1)), len(rows), axis=0)
    return with_skips(table, 0, sum(map(len, constraints))) if kind == PAIR else table
