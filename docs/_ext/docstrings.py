"""Makes docstrings readable to Sphinx, and names in single backquotes links."""

import re

from docutils import nodes
from readable import readable
from sphinx import addnodes


def name_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """Link what single backquotes hold where it names something of the package; else code."""
    literal = nodes.literal(rawtext, text, classes=["name"])
    target = re.sub(r"^bc\.", "bayesclust.", text.removesuffix("()"))
    if not target.startswith("bayesclust."):
        return [literal], []
    where = inliner.document.settings.env.docname
    return [
        addnodes.pending_xref(
            "", literal, refdomain="py", reftype="obj", reftarget=target, refdoc=where, soft=True
        )
    ], []


def leave_unlinked(app, env, node, contnode):
    """Set names without a page of their own as code: internals, and what is in other packages."""
    soft = node.get("soft") or (
        node.get("refdomain") == "py" and not node["reftarget"].startswith("bayesclust")
    )
    return contnode if soft else None


def _process(app, what, name, obj, options, lines):
    lines[:] = readable(lines)


def setup(app):
    """Register; docstrings are made readable before numpydoc reads them."""
    app.add_role("name", name_role)
    app.connect("missing-reference", leave_unlinked)
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
