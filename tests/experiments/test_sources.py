"""The data: stand-ins of the sizes of what they stand for, files, and visual words."""

import numpy as np
import pytest

import bayesclust as bc
from experiments import dcrc, sources


def test_stand_ins_have_the_sizes_of_what_they_stand_for():
    birds = sources.load("birdsong")
    assert birds.X.shape == (4998, 38)
    assert tuple(np.bincount(birds.y)) == sources.SPECIES
    syllables = sources.load("syllables")
    p = np.bincount(syllables.y) / 2601
    assert (syllables.X.shape, len(p)) == ((2601, 38), 14)
    pairs, triplets = dcrc.TABLE_IV_PAIRS, dcrc.TABLE_IV
    together, yes = (p**2).sum(), (p**2).sum() - (p**3).sum()
    assert together == pytest.approx(pairs[0].sum() / pairs.sum(), abs=0.01)
    assert yes == pytest.approx(triplets[0].sum() / triplets.sum(), abs=0.01)


def test_a_tenth_of_the_large_sets_is_of_the_papers_size():
    for name, n in (("digits389", 318), ("letters_ijl", 227)):
        if name in bc.datasets.names(installed=True):
            assert len(sources.load_tenth(name).y) == n


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,kind\n1,word,x\n", r"mine\.csv has something else than numbers before"),
        ("a,b,kind\n1,,x\n", r"mine\.csv has no features or missing values"),
    ],
)
def test_a_file_is_read_with_its_classes_last(text, sentence, tmp_path):
    path = tmp_path / "good.csv"
    path.write_text("a,b,kind\n1,2.5,x\n3,4,y\n5,6,x\n", encoding="utf-8")
    data = sources.load(str(path))
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert (data.y.tolist(), data.target_names) == ([0, 1, 0], ("x", "y"))
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        sources.load(str(path))
