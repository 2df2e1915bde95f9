"""The architecture: imports point down, files stay short, what is public is explained."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import FunctionType

import pytest

from tools import write_stubs
from tools.package import try_package

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bayesclust"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
LAYERS = [
    {"typing", "_io", "_lazy", "_numba"},
    {"_jax", "_numpyro", "checks"},
    {"names"},
    {"constraints"},
    {"families"},
    {"partition_priors"},
    {"models"},
    {"inference", "metrics", "posterior"},
    {"comparison", "profiles"},
    {"datasets", "estimators", "information", "plots"},
    {"active", "report"},
    {"cli"},
    {"__main__"},
]
FORBIDDEN = {"posterior": {"families", "models"}}
"""Packages of lower layers that a package must not import all the same."""
SLOW_TO_COMPILE = {"np.argsort", "np.where", "rng.permutation", "rng.shuffle"}
MAX_FILE, MAX_FUNCTION = 700, 100
METHODS = (FunctionType, classmethod, staticmethod, property)


@cache
def tree_of(module):
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def package_of(module):
    return module.split(".")[1] if "." in module else ""


def layer_of(module):
    return next((at for at, names in enumerate(LAYERS) if package_of(module) in names), None)


def imports_of(module):
    """Modules of the package that a module imports, at its top or inside its functions."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in MODULES or node.module in MODULES:
                    yield name if name in MODULES else node.module


IMPORTS = {module: sorted(set(imports_of(module))) for module in MODULES if module != "bayesclust"}


def test_imports_point_down():
    assert {package_of(module) for module in IMPORTS} <= set().union(*LAYERS)
    for module, targets in IMPORTS.items():
        package, layer = package_of(module), layer_of(module)
        for target in targets:
            what = f"{module} imports {target}"
            assert package_of(target) == package or layer_of(target) < layer, what
            assert package_of(target) not in FORBIDDEN.get(package, ()), what
    # a circle is a CycleError that shows it
    assert set(TopologicalSorter(IMPORTS).static_order()) >= set(IMPORTS)


def test_files_are_short():
    files = [*MODULES.values(), *sorted(ROOT.glob("tests/**/*.py"))]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: length for path, length in lengths.items() if length > MAX_FILE} == {}


def functions():
    for module in MODULES:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{module}.{node.name}", node


def test_functions_are_short():
    """Lines of a function that are not its docstring."""
    lengths = {}
    for name, node in functions():
        first = node.body[0]
        documented = ast.get_docstring(node) is not None
        docstring = first.end_lineno - first.lineno + 1 if documented else 0
        lengths[name] = node.end_lineno - node.lineno + 1 - docstring
    assert {name: length for name, length in lengths.items() if length > MAX_FUNCTION} == {}


def test_kernels_call_nothing_that_takes_long_to_compile():
    """Calls that numba writes for arrays of any shape, where a loop over one dimension does."""
    slow = []
    for name, node in functions():
        decorators = " ".join(map(ast.unparse, node.decorator_list))
        if re.search(r"\b(kernel|device|implements)\b", decorators):
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            called = {ast.unparse(call.func) for call in calls} & SLOW_TO_COMPILE
            slow += [f"{name} calls {one}" for one in called]
    assert slow == []


def public_functions():
    """Functions that are reached from `bayesclust` and from the modules that are in it."""
    import bayesclust

    for name in public_names():
        value = getattr(bayesclust, name)
        inside = getattr(value, "__all__", ()) if inspect.ismodule(value) else ()
        named = {name: value} | {f"{name}.{one}": getattr(value, one) for one in inside}
        yield from ((name, value) for name, value in named.items() if inspect.isfunction(value))


def test_public_functions_say_what_they_take_and_return():
    for name, function in public_functions():
        text = inspect.getdoc(function)
        assert text, f"{name} has no docstring"
        signature = inspect.signature(function)
        assert not signature.parameters or "Parameters\n-------" in text, name
        silent = signature.return_annotation in (None, "None")
        assert silent or re.search(r"^(Returns|Yields)\n---", text, re.M), f"{name} returns what?"


def public_methods(module):
    for name, owner in vars(importlib.import_module(module)).items():
        if inspect.isclass(owner) and owner.__module__ == module and not name.startswith("_"):
            for method, value in vars(owner).items():
                if not method.startswith("_") and isinstance(value, METHODS):
                    yield f"{module}.{name}.{method}", getattr(owner, method)


def test_public_methods_are_explained_where_they_come_from():
    methods = [pair for module in MODULES if "._" not in module for pair in public_methods(module)]
    assert [name for name, method in methods if not inspect.getdoc(method)] == []


PRIVATE = re.compile(
    r"^(numba|llvmlite|zarr|numpyro|jax)(\.\w+)*\.(_\w+|core|_src|internal\w*|np|binding)(\.|$)"
)
BEYOND_US = {"gc", "subprocess", "signal", "multiprocessing"}
"""Parts of Python by which a package would change the user's process, or start others."""


def imported_names(module):
    """Names that a module imports, with the module they come from."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_dependencies_are_used_by_their_public_names():
    names = {name for module in MODULES for name in imported_names(module)}
    assert [name for name in names if PRIVATE.match(name)] == []
    assert {name.partition(".")[0] for name in names} & BEYOND_US == set()
    assert PRIVATE.match("numba.core.cgutils")
    assert PRIVATE.match("zarr._async.run")
    assert not PRIVATE.match("numba.extending.overload")


def public_names():
    import bayesclust

    return [name for name in bayesclust.__all__ if not name.startswith("__")]


def test_public_names_are_found_and_show_an_example():
    import bayesclust

    assert len(public_names()) <= 50
    for name in public_names():
        value = getattr(bayesclust, name)
        assert name in dir(bayesclust)
        if not inspect.ismodule(value):
            assert ">>>" in inspect.getdoc(value), f"bayesclust.{name} has no example to run"


@pytest.mark.parametrize("package", write_stubs.PACKAGES)
def test_stubs_hold_the_names_of_the_table(package):
    written = write_stubs.path(package).read_text().splitlines()
    assert sorted(written) == sorted(write_stubs.stub(package).splitlines())


def test_importing_the_package_is_cheap():
    code = (
        "import sys, time; t = time.process_time(); import bayesclust\n"
        "print(time.process_time() - t, *sys.modules)"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env={}, cwd=ROOT)
    seconds, *loaded = found.stdout.split()
    assert float(seconds) < 0.5
    assert not {"jax", "arviz", "numba", "numpy", "pandas", "matplotlib"} & set(loaded)


@pytest.mark.parametrize("name", ["models", "inference"])
def test_links_at_the_root_lead_into_the_package(name):
    assert (ROOT / name).is_symlink()
    assert (ROOT / name).resolve() == PACKAGE / name


def test_built_files_hold_the_package_once(tmp_path):
    wheel, sdist = try_package.build(tmp_path)
    packaged = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*")
        if path.suffix in {".html", ".py", ".pyi", ".typed"}
    }
    in_wheel = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(in_wheel) == sorted(packaged)
    with tarfile.open(sdist) as archive:
        inside = [name.partition("/")[2] for name in archive.getnames()]
    assert packaged <= set(inside)
    assert {name.split("/")[0] for name in inside}.isdisjoint(
        {"models", "inference", ".venv", "demo_output"}
    )


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("these rules are about what a repository holds, and this is none")
    return [
        ROOT / name for name in listed.stdout.split("\0") if name and not (ROOT / name).is_symlink()
    ]


def test_no_lock_file_registry_host_or_machine_path_is_kept():
    """Patterns are split so that this file does not match itself."""
    hosts = (
        r"pypi[.]org|python" r"hosted[.]org|anaconda[.]org|npmjs[.](?:org|com)|deb[.]debian[.]org"
    )
    options = r"--(?:extra-)?index-" r"url|--find-" r"links"
    homes = r"(?<![\w.])/(?:home|root|Users|work)/(?!linuxbrew)\w"
    for path in filter(Path.is_file, tracked_files()):
        assert not re.search(r"(^|[.-])lock$|^Pipfile|^requirements.*\.txt$", path.name), path
        text = path.read_text(encoding="utf-8", errors="ignore")
        found = re.search(f"{hosts}|{options}|{homes}", text)
        assert not found, f"{path.relative_to(ROOT)} names {found.group()}"
