"""How the documentation site is built: `make docs` runs Sphinx with these settings."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "sphinx_parts"), str(HERE.parent / "src")]

from hierbandits import __version__  # noqa: E402  # the one that is documented

project, author = "hierbandits", "The hierbandits developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "repository_pages", "public_reference"]
exclude_patterns = ["images", "sphinx_parts"]
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_block", "attrs_inline"]

autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_typehints = "none"
maximum_signature_line_length = 80
python_display_short_literal_types = True
default_role = "py:obj"

html_theme = "furo"
html_title = f"hierbandits {__version__}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_show_sphinx = html_show_copyright = False
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
