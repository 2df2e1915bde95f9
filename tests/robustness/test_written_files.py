"""Files are written whole or not at all: a full disk leaves what was there, and no more."""

import ast
import errno
import os
from pathlib import Path

import pytest

from bayesclust._io import check_path, check_target, replaced
from tests.robustness.world import ROOT, in_process

PACKAGE = ROOT / "bayesclust"
WRITERS = {"write_text", "write_bytes", "to_csv", "to_netcdf", "to_zarr", "to_json", "to_excel"}
WRITERS |= {"to_parquet", "savefig", "savetxt", "savez", "savez_compressed", "tofile"}
ELSEWHERE = {
    ("inference/runner.py", "open"): "a lock file, which stays empty",
    ("report/figures.py", "savefig"): "into memory",
}
"""Writers outside `replaced`, and why."""


def opens_for_writing(call):
    """Whether a call of open names a mode that writes, or one that is no constant."""
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name != "open" or ast.unparse(call.func).startswith(("xr.", "os.")):
        return False
    modes = [*call.args[0 if isinstance(call.func, ast.Attribute) else 1 :][:1]]
    modes += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    return any(
        not isinstance(mode, ast.Constant) or set("wax+") & set(str(mode.value)) for mode in modes
    )


def writes(tree):
    """Calls that write files outside the blocks of `replaced`."""

    def walk(node, inside):
        if isinstance(node, ast.With):
            inside = inside or any(
                "replaced(" in ast.unparse(item.context_expr) for item in node.items
            )
        if isinstance(node, ast.Call) and not inside:
            name = getattr(node.func, "attr", getattr(node.func, "id", None))
            owner = ast.unparse(node.func).partition(".")[0]
            if (
                name in WRITERS
                or (name, owner) in (("save", "np"), ("dump", "json"))
                or opens_for_writing(node)
            ):
                yield name
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inside)

    yield from walk(tree, False)


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
    with pytest.raises(OSError, match="No space left"), replaced(tmp_path / "file.txt") as draft:
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


LIMITED = """
import os, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
import bayesclust as bc
from bayesclust._io import write_netcdf
from bayesclust.inference import checkpoint
from bayesclust.inference.checkpoint import Checkpoint
from bayesclust.inference.runner import _Store
from bayesclust.posterior.tree import to_datatree

folder = Path(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
draws = to_datatree({"z": rng.integers(0, 3, (2, 10, 60))})
session = bc.InteractiveSession(X, rng.integers(0, 3, 60))
nc = folder / "draws.nc"
draws.to_netcdf(nc, engine="h5netcdf")

class Chain:
    def snapshot(self):
        return {"x": rng.normal(size=4000)}

record = Checkpoint(folder / "run.zarr", {}, 1).record(0, 1, 5)
record.save(Chain(), 1, _Store(5))

def again():
    record.save(Chain(), 2, _Store(5))

for name, write in {
    "session.npz": lambda: session.save(folder / "session.npz"),
    "draws.nc": lambda: write_netcdf(draws, nc),
    "run.zarr": again,
}.items():
    if not (folder / name).exists():
        (folder / name).write_text("old")
    def content():
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    before = content()
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    try:
        failed = write() not in (0, None)
    except Exception as error:
        failed = isinstance(error, OSError) or repr(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("RESULT", name, failed, content() == before, sep=",", flush=True)
"""


def test_a_full_disk_leaves_the_old_files(tmp_path):
    """NumPy, HDF5 and zarr under a limit of size, which a system treats as a full disk."""
    said = in_process("-W", "ignore", "-c", LIMITED, tmp_path)
    found = [line.split(",")[1:] for line in said.splitlines() if line.startswith("RESULT")]
    names = ["session.npz", "draws.nc", "run.zarr"]
    assert found == [[name, "True", "True"] for name in names]
