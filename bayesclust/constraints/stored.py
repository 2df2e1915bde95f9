"""Constraints as variables of an xarray data set, and back: what a saved posterior keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.constraints.base import ByPattern, Constraints
from bayesclust.constraints.labels import ClassLabels
from bayesclust.constraints.queries import SHARE, AskedTogether
from bayesclust.constraints.rules import ByFormula
from bayesclust.constraints.statements import Atom, Formula
from bayesclust.typing import CodeArray, IntArray

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class StoredConstraints(ByPattern):
    """Constraints as read from a data set, without their noise model."""

    name: str
    kind: str
    items: IntArray
    answers: CodeArray
    source: IntArray
    n_items: int
    n_sources: int
    vocabulary: tuple[str, ...]
    truth: CodeArray
    parameters: dict[str, str]  # what the posterior calls each parameter of the noise
    prior: dict[str, Any]  # mean of each parameter, of one source
    source_names: tuple[str, ...] | None = None
    sides: tuple[str, ...] = ()
    class_weights: tuple[float, ...] = ()  # of labels: prior probability of each class, and of none
    formulas: tuple[Formula, ...] = ()  # of rules: what each says


@dataclass(frozen=True, eq=False)
class StoredLabels(ClassLabels, StoredConstraints):
    """Labels as read from a data set."""


@dataclass(frozen=True, eq=False)
class StoredRules(ByFormula, StoredConstraints):
    """Rules as read from a data set."""


@dataclass(frozen=True, eq=False)
class StoredAnswers(AskedTogether, StoredConstraints):
    """Answers to queries that may be hard, as read from a data set."""


STORED = {"label": StoredLabels, "spread": StoredRules, "implication": StoredRules}
"""Kinds that are read otherwise than by a table of patterns."""


def noise_names(constraints: Sequence[Constraints | StoredConstraints]) -> list[dict[str, str]]:
    """Name each noise parameter of each of the constraints: p, or p_v of further ones named v."""
    names: list[dict[str, str]] = []
    taken: set[str] = set()
    for one in constraints:
        if isinstance(one, StoredConstraints):
            own = one.parameters
        else:
            own = {n: f"{n}_{one.name}" if n in taken else n for n in one.noise.parameters}
        taken.update(own.values())
        names.append(own)
    return names


def prior_means(one: Constraints | StoredConstraints) -> dict[str, Any]:
    """Prior mean of each noise parameter, over sources where they are known to differ."""
    if isinstance(one, StoredConstraints):
        return one.prior
    over = {name: 0 if "source" in dims else () for name, dims in one.noise.parameters.items()}
    initial = one.noise.initial(one.n_sources)
    return {name: np.mean(mean, over[name]).tolist() for name, mean in initial.items()}


def noise_dims(constraints: Sequence[Constraints]) -> dict[str, tuple[str, ...]]:
    """Dimensions, after chain and draw, of each noise parameter by its name in the posterior."""
    return {
        names[parameter]: tuple(f"{one.name}_source" if d == "source" else d for d in dims)
        for one, names in zip(constraints, noise_names(constraints), strict=True)
        for parameter, dims in one.noise.parameters.items()
    }


def to_dataset(constraints: Sequence[Constraints | StoredConstraints]) -> xr.Dataset:
    """Constraints as variables of a data set, whose attribute `constraints` lists their names."""
    # Those named v are v_items (v_answer_id, v_member), v_answer and v_source (v_answer_id); all
    # else are attributes of v_items.
    import xarray as xr

    variables: dict[str, Any] = {}
    names: list[str] = []
    for one, parameters in zip(constraints, noise_names(constraints), strict=True):
        v, given = one.name, one.given
        if v in names:
            raise ValueError(
                f'two constraints are named "{v}": give each a name of its own, name="...".'
            )
        names.append(v)
        rows = f"{v}_answer_id"
        about = {
            "kind": one.kind,
            "vocabulary": json.dumps(list(given.vocabulary)),
            "truth": json.dumps(one.truth.tolist()),
            "n_items": one.n_items,
            "n_sources": given.n_sources,
            "parameters": json.dumps(parameters),
            "prior": json.dumps(prior_means(one)),
            "source_names": json.dumps(given.source_names),
            "class_weights": json.dumps(getattr(one, "class_weights", ())),
            "sides": json.dumps(one.sides),
            "formulas": json.dumps(getattr(one, "formulas", ())),
        }
        variables[f"{v}_items"] = ((rows, f"{v}_member"), given.items, about)
        variables[f"{v}_answer"] = ((rows,), given.answers)
        variables[f"{v}_source"] = ((rows,), given.source)
    return xr.Dataset(variables, attrs={"constraints": json.dumps(names)})


def constraints_from_dataset(ds: xr.Dataset) -> list[StoredConstraints]:
    """The constraints that `to_dataset` wrote; other variables are passed over."""
    try:
        return [_stored(ds, name) for name in json.loads(ds.attrs.get("constraints", "[]"))]
    # whatever a damaged or foreign file lacks or has otherwise
    except (KeyError, ValueError, TypeError, AttributeError):
        raise ValueError(
            "the data set holds no constraints as a fit writes them, or not all of them: fit again."
        ) from None


def _stored(ds: xr.Dataset, name: str) -> StoredConstraints:
    about = ds[f"{name}_items"].attrs
    parameters = json.loads(about["parameters"])
    usual = StoredAnswers if SHARE in parameters else StoredConstraints
    stored = STORED.get(about["kind"], usual)(
        name=name,
        kind=about["kind"],
        items=np.asarray(ds[f"{name}_items"].values, dtype=np.int64),
        answers=np.asarray(ds[f"{name}_answer"].values, dtype=np.int8),
        source=np.asarray(ds[f"{name}_source"].values, dtype=np.int64),
        n_items=int(about["n_items"]),
        n_sources=int(about["n_sources"]),
        vocabulary=tuple(json.loads(about["vocabulary"])),
        truth=np.array(json.loads(about["truth"]), dtype=np.int8),
        parameters=parameters,
        prior=json.loads(about["prior"]),
        source_names=tuple(json.loads(about["source_names"]) or ()) or None,
        class_weights=tuple(json.loads(about.get("class_weights", "[]"))),
        sides=tuple(json.loads(about.get("sides", "[]"))),
        formulas=tuple(map(_formula, json.loads(about.get("formulas", "[]")))),
    )
    if not stored.in_range(stored.items.shape[-1]):
        raise ValueError
    return stored


def _formula(clauses: Any) -> Formula:
    return [[Atom(tuple(items), most, few) for items, most, few in clause] for clause in clauses]
