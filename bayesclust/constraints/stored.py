"""Constraints as variables of an xarray data set, and back: what a saved posterior keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import each_is, item_labels
from bayesclust.constraints.base import Constraints, equality_patterns
from bayesclust.typing import ArrayLike, CodeArray, IntArray

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class StoredConstraints:
    """The questions and answers of a view as read from a data set, without its noise model.

    Attributes
    ----------
    name, kind : str
    items : (m, t) array of int64
    answers : (m,) array of int8
    source : (m,) array of int64
    n_items, n_sources : int
    vocabulary : tuple of str
    truth : (n_patterns,) array of int8
    parameters : dict of str to str
        What the posterior calls each parameter of the noise.
    prior : dict of str to number or list
        Prior mean of each parameter, of one source; empty where it was not kept.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> links = PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)
    >>> (stored,) = constraints_from_dataset(to_dataset([links]))
    >>> stored.truths([0, 0, 0]) == stored.answers
    array([ True, False])
    """

    name: str
    kind: str
    items: IntArray
    answers: CodeArray
    source: IntArray
    n_items: int
    n_sources: int
    vocabulary: tuple[str, ...]
    truth: CodeArray
    parameters: dict[str, str]
    prior: dict[str, Any] = field(default_factory=dict)

    @property
    def is_links(self) -> bool:
        """Whether the answers are "different" and "same" about pairs."""
        return self.kind == "pairwise"

    @property
    def n_answers(self) -> int:
        """Number of words in the vocabulary."""
        return len(self.vocabulary)

    def __len__(self) -> int:
        return len(self.items)

    def patterns(self, z: ArrayLike) -> CodeArray:
        """Return the equality pattern of every answer's items, (..., m), for labels z (..., n)."""
        return equality_patterns(item_labels(z, self.n_items, "z")[..., self.items])

    def truths(self, z: ArrayLike) -> CodeArray:
        """Return the answer that a faultless source would give, as codes (..., m), for labels z (..., n)."""
        truths: CodeArray = self.truth[self.patterns(z)]
        return truths


def noise_names(constraints: Sequence[Constraints | StoredConstraints]) -> list[dict[str, str]]:
    """For each view, the posterior's name of each noise parameter.

    The first view of a kind has the bare names (p, q, noise, confusion); a further view v has p_v
    and so on.

    Parameters
    ----------
    constraints : sequence of Constraints
        Stored ones know theirs.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> views = [PairwiseConstraints([(0, 1)], [True], n_items=2, name=name) for name in ("links", "more")]
    >>> noise_names(views)
    [{'p': 'p', 'q': 'q'}, {'p': 'p_more', 'q': 'q_more'}]
    """
    names: list[dict[str, str]] = []
    taken: set[str] = set()
    for view in constraints:
        if isinstance(view, StoredConstraints):
            own = view.parameters
        else:
            own = {
                name: name if name not in taken else f"{name}_{view.name}"
                for name in view.noise.parameters
            }
        taken.update(own.values())
        names.append(own)
    return names


def noise_dims(constraints: Sequence[Constraints]) -> dict[str, tuple[str, ...]]:
    """Dimensions, after chain and draw, of each noise parameter by its name in the posterior.

    Parameters
    ----------
    constraints : sequence of Constraints

    Returns
    -------
    dict of str to tuple of str

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> noise_dims([PairwiseConstraints([(0, 1)], [True], n_items=2)])
    {'p': ('links_source',), 'q': ('links_source',)}
    """
    return {
        names[parameter]: tuple(
            f"{view.name}_source" if kind == "source" else kind for kind in kinds
        )
        for view, names in zip(constraints, noise_names(constraints), strict=True)
        for parameter, kinds in view.noise.parameters.items()
    }


def to_dataset(constraints: Iterable[Constraints | StoredConstraints]) -> xr.Dataset:
    """Return the questions and answers of views as variables of a data set.

    Parameters
    ----------
    constraints : iterable of Constraints
        With different names.

    Returns
    -------
    xarray.Dataset
        For a view named v: v_items (v_answer_id, v_member), v_answer and v_source (v_answer_id);
        kind, vocabulary and truth (JSON lists), n_items, n_sources, parameters (what the posterior
        calls those of the noise, JSON) and prior (their prior means, JSON) are attributes of
        v_items. The attribute `constraints` of the data set is the JSON list of names.

    Raises
    ------
    ValueError
        If two views have the same name.

    Examples
    --------
    >>> from bayesclust.constraints import PairwiseConstraints
    >>> ds = to_dataset([PairwiseConstraints([(0, 1), (1, 2)], [True, False], n_items=3)])
    >>> ds["links_answer"].values, ds.attrs["constraints"]
    (array([1, 0], dtype=int8), '["links"]')
    """
    import xarray as xr

    variables: dict[str, Any] = {}
    names: list[str] = []
    constraints = each_is(constraints, (Constraints, StoredConstraints), "constraints")
    for view, parameters in zip(constraints, noise_names(constraints), strict=True):
        if view.name in names:
            raise ValueError(
                f'two views are named "{view.name}": give each a name of its own, name="...".'
            )
        names.append(view.name)
        v, rows = view.name, f"{view.name}_answer_id"
        about = {
            "kind": view.kind,
            "vocabulary": json.dumps(list(view.vocabulary)),
            "truth": json.dumps(view.truth.tolist()),
            "n_items": view.n_items,
            "n_sources": view.n_sources,
            "parameters": json.dumps(parameters),
            "prior": json.dumps(_prior_means(view)),
        }
        variables[f"{v}_items"] = ((rows, f"{v}_member"), view.items, about)
        variables[f"{v}_answer"] = ((rows,), view.answers)
        variables[f"{v}_source"] = ((rows,), view.source)
    return xr.Dataset(variables, attrs={"constraints": json.dumps(names)})


def _prior_means(view: Constraints | StoredConstraints) -> dict[str, Any]:
    """Prior mean of each noise parameter, the mean over sources where they are known to differ, as plain numbers."""
    if isinstance(view, StoredConstraints):
        return view.prior
    return {
        name: np.mean(mean, axis=0).tolist()
        for name, mean in view.noise.initial(view.n_sources).items()
    }


def constraints_from_dataset(ds: xr.Dataset) -> list[StoredConstraints]:
    """Return the views that `to_dataset` wrote.

    Parameters
    ----------
    ds : xarray.Dataset
        Other variables are passed over; a data set that knows of no views has none.

    Returns
    -------
    list of StoredConstraints

    Raises
    ------
    TypeError, ValueError
        If it is no data set, or lacks part of what `to_dataset` wrote.

    Examples
    --------
    >>> from bayesclust.constraints import RelativeConstraints
    >>> triplets = RelativeConstraints([(0, 1, 2)], ["dnk"], n_items=3)
    >>> [view.name for view in constraints_from_dataset(to_dataset([triplets]))]
    ['triplets']
    """
    import xarray as xr

    if not isinstance(ds, xr.Dataset):
        raise TypeError(
            f"ds must be an xarray.Dataset; got {type(ds).__name__}: pass what to_dataset returned."
        )
    try:
        return _stored(ds)
    except (
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
    ):  # whatever a damaged or foreign file lacks or has otherwise
        raise ValueError(
            "ds holds no answers as to_dataset writes them, or not all of them: pass what it returned, or fit again."
        ) from None


def _stored(ds: xr.Dataset) -> list[StoredConstraints]:
    views = []
    for name in json.loads(ds.attrs.get("constraints", "[]")):
        about = ds[f"{name}_items"].attrs
        views.append(
            StoredConstraints(
                name=name,
                kind=about["kind"],
                items=np.asarray(ds[f"{name}_items"].values, dtype=np.int64),
                answers=np.asarray(ds[f"{name}_answer"].values, dtype=np.int8),
                source=np.asarray(ds[f"{name}_source"].values, dtype=np.int64),
                n_items=int(about["n_items"]),
                n_sources=int(about["n_sources"]),
                vocabulary=tuple(json.loads(about["vocabulary"])),
                truth=np.array(json.loads(about["truth"]), dtype=np.int8),
                parameters=json.loads(about["parameters"]),
                prior=json.loads(about.get("prior", "{}")),
            )
        )
    return views
