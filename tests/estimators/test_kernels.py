"""RDP-means and its spectral relaxation in a kernel's space, against expressions in K alone."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, rbf_kernel

import bayesclust as bc
from bayesclust import checks
from bayesclust.families import kernel_distance
from tests.exactness.exact import partitions
from tests.refusals import refused

N = 7
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 2)) + 3.0 * (np.arange(N) % 2)[:, None]
NEW = RNG.normal(size=(5, 2)) + 1.5
LINKS = bc.PairwiseConstraints([(0, 1), (2, 4), (3, 5)], [True, True, False], n_items=N)
WIDE = {"gamma": 0.2}


def product(x, y):
    return float(x @ y) + 1.0


KERNELS = {
    "rbf": (lambda A, B: rbf_kernel(A, B, gamma=0.2), WIDE),
    "polynomial": (lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.2), WIDE | {"degree": 2}),
    "cosine": (cosine_similarity, None),
    product: (lambda A, B: A @ B.T + 1.0, None),
}


def j_by_kernel(K, z, penalty, xi, links=LINKS):
    """J of a partition from K: tr K - sum_k 1'K1 / n_k, links each once, and clusters."""
    Z = np.eye(z.max() + 1)[z]
    inside = np.diag(Z.T @ K @ Z) / Z.sum(axis=0)
    together = z[links.items[:, 0]] == z[links.items[:, 1]]
    answers = np.asarray(links.answers)
    value = np.trace(K) - inside.sum() + penalty * Z.shape[1]
    return value - xi * (together & (answers == 1)).sum() + xi * (together & (answers == 0)).sum()


def relaxed(K, z, penalty, xi):
    """Eq. 21 as mended: the trace of Y'(K + L / 2 - lambda I)Y, from tr K."""
    L = np.zeros((N, N))
    for (i, j), answer in zip(LINKS.items, LINKS.answers, strict=True):
        L[i, j] = L[j, i] = xi if answer else -xi
    Z = np.eye(z.max() + 1)[z]
    Y = Z / np.sqrt(Z.sum(axis=0))
    return np.trace(K) - np.trace(Y.T @ (K + L / 2 - penalty * np.eye(N)) @ Y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["items", "dense", "sparse"])
def test_objectives_are_those_of_the_kernel_matrix(kernel, form):
    of, settings = KERNELS[kernel]
    K = of(X, X)
    given = {"items": X, "dense": K, "sparse": csr_array(K)}[form]
    own = {"kernel": kernel, "kernel_params": settings}
    own = own if form == "items" else {"kernel": "precomputed"}
    penalty = 0.3 * np.trace(K) / N
    xi = 0.2 * penalty
    est = bc.RDPMeans(penalty, xi=xi, n_init=30, random_state=0, **own).fit(
        given, constraints=LINKS
    )
    soft = bc.SpectralRDPMeans(penalty, xi=xi, **own).fit(given, constraints=LINKS)
    every = np.array([j_by_kernel(K, z, penalty, xi) for z in partitions(N)])
    for number in (0, 77, 400, 876):
        z = partitions(N)[number]
        assert est.objective(z) == pytest.approx(every[number])
        assert soft.objective(z) == pytest.approx(every[number])
    assert est.objective_ == pytest.approx(every.min())
    assert soft.relaxed_objective_ == pytest.approx(relaxed(K, soft.labels_, penalty, xi))
    assert soft.bound_ <= min(relaxed(K, z, penalty, xi) for z in partitions(N)) + 1e-9
    # new items go to the nearest mean: k(x, x) - 2 mean k(x, .) + mean K
    near = of(NEW, X)
    Z = np.eye(est.n_clusters_)[est.labels_]
    shares = Z / Z.sum(axis=0)
    distances = -2 * near @ shares + np.diag(shares.T @ K @ shares)
    found = est.predict(NEW if form == "items" else near)
    np.testing.assert_array_equal(found, distances.argmin(axis=1))


def test_a_factor_of_a_kernel_is_data_without_one():
    K = X @ X.T
    one = bc.RDPMeans(penalty=8.0, kernel="precomputed").fit(K)
    other = bc.RDPMeans(penalty=8.0).fit(X)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.objective_ == pytest.approx(other.objective_)
    assert one._problem.points.shape == (N, 2)


def test_a_shift_of_the_diagonal_adds_a_constant():
    K = RNG.normal(size=(N, N))
    K += K.T
    with pytest.raises(ValueError, match="to its diagonal and to penalty") as caught:
        bc.RDPMeans(penalty=1.0, kernel="precomputed").fit(K)
    shift = float(str(caught.value).split("add ")[1].split()[0])
    est = bc.RDPMeans(penalty=1.0 + shift, kernel="precomputed", n_init=20, random_state=0)
    est.fit(K + shift * np.eye(N))
    none = bc.PairwiseConstraints([(0, 1)], [True], n_items=N)
    every = [j_by_kernel(K, z, 1.0, 0.0, none) for z in partitions(N)]
    assert est.objective_ == pytest.approx(min(every) + N * shift)


def test_many_items_are_seen_through_landmarks_and_eigenvectors(monkeypatch):
    monkeypatch.setattr(kernel_distance, "EXACT", 30)
    monkeypatch.setattr(kernel_distance, "LANDMARKS", 12)
    many = np.random.default_rng(0).normal(size=(40, 2))
    K = rbf_kernel(many, gamma=0.2)
    bound = kernel_distance.kernel_distance("rbf", WIDE).bind(many)
    points = bound.points(many)
    near, own = (rbf_kernel(A, bound.landmarks, gamma=0.2) for A in (many, bound.landmarks))
    np.testing.assert_allclose(points @ points.T, near @ np.linalg.pinv(own) @ near.T, atol=1e-6)
    values, vectors = np.linalg.eigh(K)
    leading = (vectors[:, -12:] * values[-12:]) @ vectors[:, -12:].T
    for given in (K, csr_array(K)):
        points = kernel_distance.kernel_distance("precomputed", None).bind(given).points(given)
        np.testing.assert_allclose(points @ points.T, leading, atol=1e-8)
    assert bc.RDPMeans(0.5, kernel="precomputed").fit(csr_array(K)).n_clusters_ > 1
    with pytest.raises(
        ValueError, match="not positive semidefinite: its smallest eigenvalue is -1"
    ):
        bc.RDPMeans(kernel="precomputed").fit(csr_array(K - 1.5 * np.eye(40)))
    monkeypatch.setattr(checks, "available_memory", lambda: 100)
    with pytest.raises(MemoryError, match=r"^a kernel of 40 items needs"):
        bc.RDPMeans(kernel="rbf").fit(many)


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_the_width_of_a_kernel_is_in_units_of_the_data(unit):
    y = np.arange(60) % 3
    blobs = unit * (np.random.default_rng(0).normal(size=(60, 2)) + 6.0 * np.eye(3)[y, 1:])
    est = bc.RDPMeans(kernel="rbf").fit(blobs)
    assert bc.metrics.adjusted_rand(est.labels_, y) == 1.0
    apart = np.square(blobs[:, None] - blobs).sum(axis=2).mean()
    own = bc.RDPMeans(kernel="rbf", kernel_params={"gamma": 1 / apart}).fit(blobs)
    assert own.objective_ == pytest.approx(est.objective_)


def test_items_that_are_alike_are_one_cluster():
    for kernel, given in (("precomputed", np.zeros((4, 4))), ("rbf", np.ones((4, 2)))):
        assert bc.RDPMeans(kernel=kernel).fit(given).n_clusters_ == 1


def test_the_path_leads_to_the_limit_of_a_kernel():
    limit = bc.RDPMeans(penalty=0.5, kernel="rbf", kernel_params=WIDE, n_init=20, random_state=0)
    short = {"num_chains": 2, "num_warmup": 40, "num_samples": 20, "progress": False}
    path = bc.limit_path(X, limit=limit, gammas=[1.0, 30.0, 1e4], random_state=0, **short)
    assert float(path["vi"].sel(statistic="mean").isel(gamma=-1)) < 1e-9
    assert path["vi_within"][0] > 0.1
    assert path.attrs["divergence"] == "kernel"


SKEW = [[1.0, 0.2], [0.4, 1.0]]
ROWS = """
bc.RDPMeans(kernel='precomputed').fit(SKEW)
    ValueError: X[0, 1] is 0.2 and X[1, 0] is 0.4, but similarities must be symmetric: pass for
    instance (X + X.T) / 2.
bc.SpectralRDPMeans(kernel='precomputed').fit([[0.0, 1.0], [1.0, 0.0]])
    ValueError: X is not positive semidefinite: its smallest eigenvalue is -1. Choose another
    kernel, or precompute the matrix and add 1.01 to its diagonal and to penalty, which adds a
    constant to the objective.
bc.DPMeans(kernel='precomputed').fit(X)
    ValueError: kernel="precomputed" takes similarities of all pairs of items, and X has shape
    (7, 2): pass a square matrix, or name a kernel for items.
bc.RDPMeans(kernel='precomputed').fit(np.eye(3)).predict(X)
    ValueError: X has 2 columns, but the fit was to 3: pass similarities to each item of these.
bc.RDPMeans(kernel='rbf').fit(X).predict(np.eye(3))
    ValueError: X has 3 columns, but the fit was to 2: pass the same.
bc.RDPMeans(kernel='cosine').fit([[1.0], [0.0]])
    ValueError: X has nothing but zeros in row 1, and kernel="cosine" compares directions: remove
    these items, or choose another kernel.
bc.RDPMeans(kernel='rbf', kernel_params={'width': 1.0}).fit(X)
    ValueError: kernel_params has 'width', and the settings of kernel='rbf' are gamma: leave it out.
bc.RDPMeans(kernel='rbf', kernel_params={'gamma': -1.0}).fit(X)
    ValueError: kernel_params['gamma'] must lie in (0, inf); got -1.0.
bc.RDPMeans(kernel='rbf', kernel_params=[1.0]).fit(X)
    TypeError: kernel_params must be a dict of settings of the kernel or None; got [1.0].
bc.RDPMeans(kernel_params={}).fit(X)
    ValueError: kernel_params are settings of a kernel, and kernel is None: name one.
bc.RDPMeans(kernel='rbf', divergence='kl').fit(X)
    ValueError: divergence='kl' is a distance of its own, and kernel is compared by squared
    distances in its space: leave one of them out.
bc.RDPMeans(kernel=lambda x, y: np.nan).fit(X)
    ValueError: kernel has values that are not finite for these items: correct the function.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())
