"""Sessions on disk: they go on as if never stopped, nothing is run on reading, and a failed write leaves the old file."""

import io
import json

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.active import Query

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.repeat([0, 1, 2], 10)


def session():
    settings = bc.MinimalModification(
        0.1, np.float64(0.5), min_satisfied=0.9, new_clusters=2, time_limit=None
    )
    made = bc.InteractiveSession(
        X, Y, y=np.array(list("aabbc") * 6), modification=settings, random_state=3
    )
    made.add(
        [
            bc.LabelConstraints([(0, 4)], 30),
            bc.SpanConstraints([([1, 2], [0, 3])], 30),
            bc.constraints.SpreadConstraints([([3, 13, 23], 2)], 30),
            bc.ImplicationConstraints([([(0, 1, True)], [(4, 5, False)])], 30),
            bc.RelativeConstraints([(0, 1, 2), (3, 4, 5)], ["no", "dnk"], 30),
        ]
    )
    for number, query in enumerate(made.ask(12)):
        made.answer(query, ("same", "different", "dnk")[number % 3])
        if number % 4 == 3:
            made.modify()
    made.answer(Query("pair", (0, 29)), "same")
    return made


def test_a_session_goes_on_as_if_never_stopped(tmp_path):
    one, path = session(), tmp_path / "s.npz"
    one.save(path)
    other = bc.InteractiveSession.load(path, X)
    assert [child.name for child in tmp_path.iterdir()] == ["s.npz"]
    for _ in range(2):
        assert other.history.equals(one.history)
        assert (other.n_pending, repr(other.constraints)) == (one.n_pending, repr(one.constraints))
        assert other.modification.get_params() == one.modification.get_params()
        queries = one.ask(4)
        assert other.ask(4) == queries
        for made in (one, other):
            for query in queries:
                made.answer(query, "different")
            made.modify()
    for _ in range(20):
        one.undo()
        other.undo()
        assert other.labels.tolist() == one.labels.tolist()
        assert repr(other) == repr(one)


def test_nothing_is_pickled(tmp_path):
    session().save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz", allow_pickle=False) as archive:
        kinds = {name: archive[name].dtype.kind for name in archive.files}
    assert kinds == {"about": "u", "labels": "i", "y": "i"}


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    made, path = session(), tmp_path / "s.npz"
    made.save(path)
    before = path.read_bytes()

    def half(stream, **arrays):
        stream.write(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", half)
    with pytest.raises(OSError, match="no space left"):
        made.save(path)
    assert path.read_bytes() == before


def test_a_query_strategy_without_a_name_must_be_passed_again(tmp_path):
    def none_left(state, size, rng):
        return []

    path = tmp_path / "s.npz"
    bc.InteractiveSession(X, Y, query_strategy=none_left).save(path)
    with pytest.raises(
        ValueError,
        match=r"^the query strategy of this session had no name and could not be saved: pass it as",
    ):
        bc.InteractiveSession.load(path, X)
    assert bc.InteractiveSession.load(path, X, query_strategy=none_left).ask() == []


def archive_of(about):
    stream = io.BytesIO()
    np.savez_compressed(
        stream, about=np.frombuffer(json.dumps(about).encode(), np.uint8), labels=Y[None]
    )
    return stream.getvalue()


def test_other_files_and_other_data_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "s.npz"
    with pytest.raises(FileNotFoundError):
        bc.InteractiveSession.load(path, X)
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object))
    whole = io.BytesIO()
    np.savez_compressed(whole, labels=Y[None])
    for content in (
        b"",
        b"some text",
        pickled.getvalue(),
        whole.getvalue(),
        archive_of([]),
        archive_of({}),
    ):
        path.write_bytes(content)
        with pytest.raises(
            ValueError,
            match=r"s.npz' is no session of bayesclust: give the path of one that was saved\.$",
        ):
            bc.InteractiveSession.load(path, X)
    path.write_bytes(archive_of({"format": 99}))
    with pytest.raises(
        ValueError,
        match=r"was saved in format 99, but this version of bayesclust reads 1: use the version",
    ):
        bc.InteractiveSession.load(path, X)
    session().save(path)
    with pytest.raises(
        ValueError, match=r"s.npz' is on other data: pass the X that it was made for\.$"
    ):
        bc.InteractiveSession.load(path, X + 1)
