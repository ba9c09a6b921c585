"""The published book: the stored notebooks, a few pages of their own, and no network.

Build it from the root of the project:

    python -m sphinx -W --keep-going -b html book book/_build/html
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
sys.path.insert(1, str(Path(__file__).parents[1]))  # the library, whose docstrings the reference shows

from authoring.colab import repository as address_of  # noqa: E402

project = "minigrad"
author = "the minigrad authors"
copyright = "the minigrad authors. Text and figures: CC BY 4.0. Code: MIT"
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "notebook_copies",
    "plain_docstrings",
    "quiet_links",
    "link_previews",
    "margin_notes",
    "exercise_boxes",
    "house_floors",
    "teaching",
    "chapter_tools",
    "accessible_pages",
    "on_paper",
    "offline_pages",
    "whole_links",
]
exclude_patterns = ["_build"]
suppress_warnings = [
    "misc.highlighting_failure",  # a chapter may show a line that is not Python yet
]

# Notebooks: the stored outputs are the truth; nothing is run here.
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
# A figure and a widget carry a text/html face with its alternative text: it comes before the picture
# without one, and before the live widget, which needs a kernel.
nb_mime_priority_overrides = [("html", "text/html", 1)]
nb_ipywidgets_js = {}

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

# MathJax 3, copied beside the pages by the extension offline_pages.
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config = {"options": {}}

# The reference: docstrings as they are written, shapes included; what stands in single quotes is code.
add_module_names = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
default_role = "py:obj"
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

html_theme = "sphinx_book_theme"
html_title = "minigrad"
html_static_path = ["_static"]
html_use_index = False
html_show_search_summary = False  # it would fetch each page that is found, a whole chapter for three lines
html_css_files = ["book.css"]
html_js_files = ["book.js"]
templates_path = ["_templates"]
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_persistent": [],  # the sidebar has a search field already
    "show_toc_level": 2,
}

# Where pyproject.toml names the address of the repository, the pages lead to it, to Binder, and to Colab.
repository = address_of(Path(__file__).parents[1])
if repository:
    html_theme_options |= {
        "path_to_docs": "book",
        "repository_branch": "main",
        "repository_url": repository,
        "use_edit_page_button": True,
        "use_repository_button": True,
    }

# The PDF: XeLaTeX, since code and prose are full of letters that TeX's own fonts lack.
latex_engine = "xelatex"
latex_use_xindy = False
latex_domain_indices = False
latex_documents = [
    ("index", "minigrad.tex", "minigrad: a library that you build yourself", author, "manual", False)
]
latex_show_urls = "footnote"
latex_elements = {
    "papersize": "a4paper",
    "extraclassoptions": "openany,oneside",
    "fontpkg": r"""
\setmainfont{DejaVu Serif}[Scale=0.9]
\setsansfont{DejaVu Sans}[Scale=0.9]
\setmonofont{DejaVu Sans Mono}[Scale=0.78]
""",
    "fncychap": "",
    # The chapters bring their numbers; the foot of a page names the nearest heading; a long name in a narrow
    # table may break behind an underscore.
    "preamble": r"""
\setcounter{secnumdepth}{-2}
\renewcommand{\subsectionmark}[1]{\markright{#1}}
\DeclareRobustCommand{\_}{\textunderscore\penalty5000\hspace{0pt}}
""",
    # The contents on paper name chapters only; the reader of the file opens the rest beside the pages. Sphinx
    # would call them by the first caption.
    "tableofcontents": r"""
{\small\setcounter{tocdepth}{0}\renewcommand{\contentsname}{Contents}\sphinxtableofcontents}
""",
    "sphinxsetup": "verbatimforcewraps=true, TitleColor={HTML}{262626}",
}

# The EPUB.
html_math_renderer = "mathjax"
epub_css_files = ["reader.css"]
epub_show_urls = "footnote"
epub_exclude_files = [".doctrees", "_static/mathjax"]
