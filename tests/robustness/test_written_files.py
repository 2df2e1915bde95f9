"""Files are written whole or not at all: a full disk leaves what was there, and no more."""

import ast
import errno
import os
import re
from pathlib import Path

import pytest

from bayesclust._io import check_path, check_target, replaced
from tests.robustness.world import ROOT, in_process

PACKAGE = ROOT / "bayesclust"
WRITERS = r"write_(?:text|bytes)|to_(?:csv|netcdf|zarr|json|excel|parquet)|save(?:fig|txt|z\w*)"
WRITERS += r"|tofile|np\.save|json\.dump"
OPEN = r"(?!xr\.|os\.)(?:[^(]*\.)?(open)\(.*'[rbt]*[wax+]\w*'"
ELSEWHERE = {
    ("report/figures.py", "savefig"): "into memory",
}
"""Writers outside `replaced`, and why."""


def writes(node):
    """Calls that write files outside the blocks of `replaced`."""
    if isinstance(node, ast.With) and "replaced(" in ast.unparse(node.items):
        return
    if isinstance(node, ast.Call):
        call = ast.unparse(node)
        if found := re.match(rf"[^(]*\b({WRITERS})\(", call) or re.match(OPEN, call):
            yield found[1]
    for child in ast.iter_child_nodes(node):
        yield from writes(child)


def test_every_writer_replaces_files_whole():
    found = {
        (str(path.relative_to(PACKAGE)), name)
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "_io.py"
        for name in writes(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found <= set(ELSEWHERE)
    inside = 'with replaced(a) as b:\n    b.write_text("")\n'
    code = inside + 'path.write_text("")\nopen(p, "w")\np.open("rb")'
    assert list(writes(ast.parse(code))) == ["write_text", "open"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("before", [b"what was there", None])
def test_failed_writes_leave_the_old_file(tmp_path, error, before):
    path = tmp_path / "file.txt"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(type(error)), replaced(path) as draft:  # noqa: PT012
        draft.write_bytes(b"half of")
        raise error
    there = {child.name: child.read_bytes() for child in tmp_path.iterdir()}
    assert there == ({} if before is None else {path.name: before})


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failed_last_steps_leave_the_old_file(tmp_path, monkeypatch, step):
    (tmp_path / "file.txt").write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if step == "fsync" else (Path, "replace", full)))
    with (
        pytest.raises(OSError, match=r"No space.*file.txt"),
        replaced(tmp_path / "file.txt") as draft,
    ):
        draft.write_text("new")
    monkeypatch.undo()
    assert [(child.name, child.read_text()) for child in tmp_path.iterdir()] == [
        ("file.txt", "old")
    ]


def test_replaced_files_keep_their_mode(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    usual = path.stat().st_mode
    with replaced(str(path)) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert (path.read_text(), path.stat().st_mode) == ("new", usual)
    assert [child.name for child in tmp_path.iterdir()] == ["file.txt"]


def test_unwritable_paths_are_refused(tmp_path):
    for path, sentence in [
        (tmp_path, "is a folder: name a file to write."),
        (tmp_path / "no" / "file", "make it first."),
    ]:
        with pytest.raises(ValueError, match=sentence):
            check_target(path)
    with pytest.raises(TypeError, match=r"^path must be a word or a pathlib\.Path; got int\.$"):
        check_path(3)
    with pytest.raises(ValueError, match=r"^out has a null character in it"):
        check_path("a\0b", "out")
    with pytest.raises(ValueError, match=r"^out is an address, 's3://a/b': name a file of this"):
        check_path("s3://a/b", "out")


def test_links_are_followed_and_the_umask_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    for text in ("new", "newer"):
        with replaced(tmp_path / "link") as draft:
            draft.write_text(text)
        assert (tmp_path / "far" / "file").read_text() == text
    assert (tmp_path / "link").is_symlink()
    assert [child.name for child in (tmp_path / "far").iterdir()] == ["file"]


def test_pipes_and_inputs_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a device or a pipe: name a file"):
        check_target(tmp_path / "pipe")
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    for _ in range(2):  # a file that does not exist, and one that does
        with pytest.raises(ValueError, match=r"link is the input .*file too: name another file"):
            check_target(link, inputs=[file])
        file.write_text("")


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.runner import _Store

class Chain:
    def snapshot(self):
        return {"x": np.random.default_rng(0).normal(size=4000)}

def content():
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

folder = Path(sys.argv[1])
record = Checkpoint(folder / "run.zarr", {}, 1).record(0, 1, 5)
record.save(Chain(), 1, _Store(5))
before = content()
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
try:
    failed = record.save(Chain(), 2, _Store(5)) not in (0, None)
except OSError:
    failed = True
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("RESULT", failed, content() == before)
"""


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    """zarr under a limit of size, which a system treats as a full disk."""
    assert "RESULT True True" in in_process("-W", "ignore", "-c", LIMITED, tmp_path)
