"""How Sphinx makes a site of the manual. build.py calls it."""

import html
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

project = "Octant"
author = "The Octant authors"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_mock_imports = ["octant._octant", "_octant", "yt"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = False
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", ".*")
]  # types of NumPy and others, which are not part of the site
exclude_patterns = ["docs/site"]
html_theme = "furo"
html_title = "Octant"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def formula(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show without scripts or fonts from elsewhere."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    writer.body.append(convert(html.unescape(node.astext()), display=display))
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx how formulas are written."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    return {"parallel_read_safe": True}
