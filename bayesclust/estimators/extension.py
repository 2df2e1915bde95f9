"""Extends a posterior with more items and more answers, from where its chains ended."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.checks import frozen, some_of
from bayesclust.constraints.base import Constraints, Needs
from bayesclust.constraints.labels import LabelConstraints
from bayesclust.constraints.rules import Rules
from bayesclust.constraints.stored import noise_names
from bayesclust.estimators.base import check_schedule, has_densities
from bayesclust.estimators.cluster_models import ROUGH
from bayesclust.inference.chain import Moves
from bayesclust.inference.dcrc.classifier import ClassifierProblem, classifier_problem
from bayesclust.inference.runner import Schedule
from bayesclust.inference.samplers import chain_starts
from bayesclust.posterior.tree import Names, names_in
from bayesclust.typing import FloatArray

# sweeps visit more items, and what follows from the draws costs as much as a few sweeps
WARMUP, SAMPLES = 1 / 40, 1 / 16
"""Default shares of a fit's warm-up and draws: a twentieth of its sweeps, a tenth of its cost."""
FEWEST_SAMPLES = 50
"""Draws by default, if the fit has so many: of fewer nothing could be diagnosed."""


def check_chains(problem: Any, *, variational: bool) -> None:
    """Refuse to go on where there are no chains, or none of new items."""
    if variational:
        raise ValueError(
            "sampler='variational' has no chains that could go on: fit all items again."
        )
    if not isinstance(problem, ClassifierProblem) and not has_densities(problem):
        raise ValueError(
            "chains under the prior CandidateLinks do not go on with more items or answers: fit "
            "all again, with init=the labels_ of this fit (and others for new items)."
        )


def shorter(schedule: Schedule, num_warmup: int | None, num_samples: int | None) -> Schedule:
    """The schedule of an extension: as given, or in proportion to that of the fit."""
    if num_warmup is None:
        num_warmup = round(WARMUP * schedule.num_warmup)
    if num_samples is None:
        number = schedule.num_samples
        num_samples = max(round(SAMPLES * number), min(FEWEST_SAMPLES, number))
    return replace(check_schedule(num_warmup, num_samples), thinning=schedule.thinning)


def with_more(
    old: Sequence[Constraints], new: Sequence[Constraints], n_items: int
) -> list[Constraints]:
    """All constraints on all items: new ones of an old kind and name are added to the old."""
    found = []
    for one in old:
        wider = copy.copy(one)
        wider.n_items = n_items
        found.append(wider)
    for one in new:
        names = [own.name for own in found]
        if one.name in names:
            at = names.index(one.name)
            found[at] = _joined(found[at], one)
        else:
            found.append(one)
    return found


def _joined(old: Constraints, new: Constraints) -> Constraints:
    """The answers of both, whose sources are the same where their names or numbers are."""
    if old.kind != new.kind:
        raise ValueError(
            f"the constraints {new.name!r} are of the kind {new.kind!r}, and those of this name in "
            f"the fit of the kind {old.kind!r}: give them another name."
        )
    if isinstance(old, LabelConstraints) and isinstance(new, LabelConstraints):
        unknown = [label for label in new.classes if label not in old.classes]
        if unknown:
            raise ValueError(
                f"the constraints {new.name!r} have the label {unknown[0]!r}, and the classes of "
                f"the fit are {some_of(old.classes)}: fit again with classes= naming it too."
            )
        new = new.with_classes(old.classes)
    known, given = (_source_names(*both) for both in ((old, new), (new, old)))
    if old.noise != new.noise or (known is None) != (given is None):
        raise ValueError(
            f"the constraints {new.name!r} add to those of the fit, but have another noise model, "
            "or names of sources on one side alone: make them as those were made, or give them "
            "another name."
        )
    joined: Any = copy.copy(old)
    numbers = np.arange(new.n_sources)
    if known is not None and given is not None:
        names = list(dict.fromkeys([*known, *given]))
        joined.source_names = tuple(names)
        numbers = np.array([names.index(name) for name in given], np.int64)
    joined.n_sources = max(old.n_sources, int(numbers.max()) + 1)
    joined.items = frozen(np.concatenate([old.items, new.items]))
    joined.answers = frozen(np.concatenate([old.answers, new.answers]))
    joined.source = frozen(np.concatenate([old.source, numbers[new.source]]))
    joined.flipped = None
    if isinstance(old, Rules) and isinstance(new, Rules):
        joined._rows = (*old._rows, *new._rows)
    return joined


def _source_names(own: Constraints, other: Constraints) -> tuple[str, ...] | None:
    """The names of sources; their numbers in words where the other side has such for names."""
    if own.source_names is None and all(name.isdecimal() for name in other.source_names or ("",)):
        return tuple(map(str, range(own.n_sources)))
    return own.source_names


def refuse_labels_as_pairs(constraints: Any, needs: Needs) -> None:
    """Refuse labels that would be made into pairs, among themselves alone."""
    for one in constraints if isinstance(constraints, (list, tuple)) else (constraints,):
        if isinstance(one, LabelConstraints) and (needs == "table" or one.evidence() is not one):
            raise ValueError(
                f"the constraints {one.name!r} are labels that become pairs under a "
                f"{type(one.noise).__name__} and this sampler, and those of the fit and new ones "
                "would make none: fit again with all labels."
            )


def longer_names(names: Names, X: Any, n: int, m: int) -> Names:
    """Names of items and features with those of m further items, or their numbers."""
    more = names_in(X)[0]
    if names[0] is None and more is None:
        return names
    known = names[0] or list(map(str, range(n)))
    new = more or list(map(str, range(n, n + m)))
    taken = set(known)
    for name in [name for name in new if name in taken]:
        raise ValueError(f"an item of the fit is called {name!r}, too: give new ones new names.")
    return [*known, *new], names[1]


def extended(
    problem: Any,
    items: FloatArray,
    rows: FloatArray | None,
    constraints: Sequence[Constraints],
    rng: Generator,
    batches: Any = None,
) -> Any:
    """The problem of all items, `rows` being the new ones in the family's coordinates."""
    # The prior stays the one that the first items gave; a classifier's weights are fitted again.
    old, new = ([one.given for one in part] for part in (problem.constraints, constraints))
    given = [one.evidence() for one in with_more(old, new, len(items))]
    if isinstance(problem, ClassifierProblem):
        return classifier_problem(items, given, len(problem.W), ROUGH, rng, radial=problem.radial)
    family = problem.family
    if rows is not None:
        family = family.with_rows(np.concatenate([family.X, rows]))
    more = {} if batches is None else problem.with_more(batches)
    return replace(problem, family=family, constraints=tuple(given), **more)


def last_noise(draws: Any, constraints: Sequence[Constraints], chain: int) -> list[dict[str, Any]]:
    """The noise of each set of constraints at the last draw; as at a start where it is new."""
    found = []
    for one, names in zip(constraints, noise_names(constraints), strict=True):
        values = dict(one.noise.initial(one.n_sources))
        for parameter, variable in names.items():
            if variable in draws:
                known = draws[variable].values[chain, -1]
                values[parameter] = np.array(values[parameter])
                values[parameter][tuple(map(slice, known.shape))] = known
        found.append(values)
    return found


def chains(
    sampler: Any, problem: Any, last: Any, draws: Any, moves: Moves | None, rng: Generator
) -> list[Callable[[], Any]]:
    """Starts of chains on old and new items, each where an old chain ended (`last`, `draws`)."""
    # New items begin where the last draws predict them, each by itself; sweeps move them on.
    if isinstance(problem, ClassifierProblem):
        return chain_starts(sampler, problem, None, moves, rng.spawn(draws.sizes["chain"]))
    number = len(last.z)
    rows = problem.family.X[last.z.shape[1] :]
    shift = None
    if last.batches is not None and last.batches.shift is not None:
        # a new batch begins where it is nearest the reference
        shift = np.tile(problem.start_shifts, (number, 1, 1))
        known = last.batches.shift.shape[1] - 1
        shift[:, :known] = last.batches.shift[:, :-1]
        new = problem.batch[last.z.shape[1] :]
        rows = rows - (new >= known)[:, None] * shift[0][new]
    clusters = last.clusters(rows, rng)
    components = last.components
    if components is not None:
        components = last.likeliest_components(rows, clusters)
    noise = [last_noise(draws, problem.constraints, c) for c in range(number)]

    def go_on(make: Callable[[], Any], first: int) -> Any:
        chain = make()
        together = getattr(chain, "unknowns", None)
        for c, state in enumerate(together or [chain.state], first):
            if components is not None and last.within_values is not None:
                state.regroup(components[c], clusters[c], last.within_values[c])
            if shift is not None:
                state.set_shift(shift[c])
            state.take_up(dict(last.values[c]), last.hyper[c], noise[c])
        return chain

    starts = chain_starts(sampler, problem, clusters, moves, rng.spawn(number))
    return [partial(go_on, start, c) for c, start in enumerate(starts)]
