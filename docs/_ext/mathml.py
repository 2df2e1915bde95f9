"""Formulas as MathML, which browsers draw without a script, a font or a network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number


def _inline(translator, node):
    translator.body.append(f'<span class="math">{convert(node.astext())}</span>')
    raise nodes.SkipNode


def _block(translator, node):
    number = (
        f"<span>({get_node_equation_number(translator, node)})</span>" if node["number"] else ""
    )
    translator.body.append(
        f'<div class="math">{convert(node.astext(), display="block")}{number}</div>'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
