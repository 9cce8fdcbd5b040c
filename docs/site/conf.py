"""How Sphinx makes a site of the manual. build.py calls it."""

import html
import itertools
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.logging import getLogger

project = "Octant"
author = "The Octant authors"
project_copyright = "2026, The Octant authors"
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
FUNCTION = re.compile(r"<mi>(sin|cos|tan|tanh|coth|exp|ln|log|min|max)</mi>")
UPRIGHT = re.compile(r"\\mathrm{([a-zA-Z])}")
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
OPENING = re.compile(r"{|\\left|\\begin")
CLOSING = re.compile(r"}|\\right|\\end")
UNCONVERTED = re.compile(r"<m[io]>(&|\\\w*)</m[io]>")
BAR = re.compile("<mo>&#x0007C;</mo>")


def formula(writer: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers show without scripts or fonts from elsewhere."""
    is_block = isinstance(node, nodes.math_block)
    display = "block" if is_block else "inline"
    # The converter does not support the environment that GitHub requires.
    text = html.unescape(node.astext()).replace("{aligned}", "{align*}")
    text = UPRIGHT.sub(r"\\text{\1}", text)  # which it makes an italic letter
    parts = divided(text) if is_block else [text]
    mathml = "".join(spaced(convert(part, display=display)) for part in parts)
    if found := UNCONVERTED.search(mathml):
        getLogger(__name__).warning(f"a formula contains {found[1]}: {text}", location=node)
    writer.body.append(f'<div class="formula">{mathml}</div>' if is_block else mathml)
    raise nodes.SkipNode


def divided(text: str) -> list[str]:
    r"""Divide a row of equations at \qquad, where browsers may break it."""
    parts, depth = [""], 0
    for token in TOKEN.findall(text):
        depth += OPENING.fullmatch(token) is not None
        depth -= CLOSING.fullmatch(token) is not None
        if token == r"\qquad" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def spaced(mathml: str) -> str:
    """Mark functions, plus-minus signs and bars as operators, so that browsers space them."""
    mathml = FUNCTION.sub(r'<mo lspace="0.17em" rspace="0.17em">\1</mo>', mathml)
    mathml = mathml.replace("<mi>&#x000B1;</mi>", "<mo>&#x000B1;</mo>")
    forms = itertools.cycle(("prefix", "postfix"))
    return BAR.sub(lambda _: f'<mo fence="true" form="{next(forms)}">|</mo>', mathml)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx how formulas are written."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    return {"parallel_read_safe": True}
