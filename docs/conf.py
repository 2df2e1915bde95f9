"""Settings of the documentation site, built by ``make docs``; nothing is fetched."""

import hashlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_ext"), str(ROOT)]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), os.environ.get("PYTHONPATH", "")]
)  # for the notebooks' kernels
os.environ["PYTHONWARNINGS"] = (
    "ignore:IProgress not found"  # tqdm's, of bars for which ipywidgets would be needed
)

from tools import kernel_cache  # noqa: E402

kernel_cache.use()

import bayesclust  # noqa: E402

project = "bayesclust"
version = release = bayesclust.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_nb",
    "docstrings",
    "mathml",
    "written",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = True
default_role = "name"
highlight_language = "python"

autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
toc_object_entries = False
add_module_names = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3


def _fingerprint() -> str:
    """Of all that a notebook's outputs follow from beside its own cells."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "bayesclust").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "executed" / _fingerprint())
nb_execution_raise_on_error = True
nb_execution_timeout = 1800  # seconds for a cell, compiling included
nb_execution_excludepatterns = ["howto/*"]
nb_merge_streams = True
nb_output_stderr = "remove-warn"

plot_formats = [("png", 110)]
plot_html_show_formats = plot_html_show_source_link = False

html_theme = "furo"
html_title = "bayesclust"
html_static_path = ["_static"]
html_css_files = ["bayesclust.css"]
html_copy_source = False
html_show_sphinx = html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
