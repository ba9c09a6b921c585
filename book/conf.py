"""Sphinx configuration of the published book: stored notebooks and a few more pages, without the network.

Build it from the root of the project:

    python -m sphinx -W --keep-going -b html book book/_build/html
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
sys.path.insert(1, str(Path(__file__).parents[1]))  # the library, for its docstrings

from authoring.colab import repository as address_of  # noqa: E402
from course.figures.moving import FOLDER  # noqa: E402

project = "minigrad"
author = "the minigrad authors"
copyright = "the minigrad authors. Text and figures: CC BY 4.0. Code: MIT"
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinxcontrib.bibtex",
    "sphinxext.opengraph",
    "formulas",
    "notebook_copies",
    "plain_docstrings",
    "quiet_links",
    "link_previews",
    "curriculum_tables",
    "margin_notes",
    "exercise_boxes",
    "guess_fields",
    "folds",
    "figure_numbers",
    "outputs",
    "library_reference",
    "teaching",
    "search_words",
    "terms",
    "chapter_tools",
    "live_cells",
    "imprint",
    "passages",
    "accessible_pages",
    "on_paper",
    "lean_pages",
    "offline_pages",
    "whole_links",
]
exclude_patterns = ["_build"]
suppress_warnings = [
    "misc.highlighting_failure",  # a chapter may show a line that is not valid Python
]

# Notebooks: show the stored outputs; run nothing.
nb_execution_mode = "off"
nb_merge_streams = True
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
# Figures and widgets have a text/html representation with alternative text. Prefer it to the picture, which
# has no alternative text, and to the live widget, which needs a kernel.
nb_mime_priority_overrides = [("html", "text/html", 1)]
nb_ipywidgets_js = {}

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The reference: docstrings unchanged, shapes included; text in single quotes is code.
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

html_math_renderer = "mathml"
html_theme = "sphinx_book_theme"
html_title = "minigrad"
html_static_path = ["_static", str(FOLDER.parent)]
html_favicon = "_static/mark.svg"
html_domain_indices = False  # reference.md lists the files, in teaching order
html_search_scorer = str(Path(__file__).with_name("_static") / "scorer.js")
html_show_search_summary = False  # a summary would fetch a whole chapter for three lines
html_css_files = ["type.css", "book.css"]
html_js_files = ["book.js"]
templates_path = ["_templates"]
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
        "text": "minigrad",
        "alt_text": "",
    },
    "navbar_persistent": [],  # the sidebar already has a search field
    "show_toc_level": 2,
    "use_download_button": False,  # the row under a notebook's title has a link for it
}

# The PDF and the EPUB, if they have been made, are copied to the site, and the first page links to them.
printed = [Path(__file__).parent / "_build" / name for name in ("latex/minigrad.pdf", "epub/minigrad.epub")]
html_extra_path = [str(path) for path in printed] if all(path.exists() for path in printed) else []

# The first words of a page are its description. A social card needs an absolute URL, so it is made only if
# pyproject.toml has the repository's address: the site is published under its owner's name. Then pages also
# link to the repository, to Binder, and to Colab.
repository = address_of(Path(__file__).parents[1])
ogp_site_name = "minigrad"
ogp_social_cards = {"enable": bool(repository), "line_color": "#63399b"}
if repository:
    parts = urlsplit(repository)
    owner, name = parts.path.strip("/").split("/")
    ogp_site_url = parts._replace(netloc=f"{owner}.github.io", path=f"/{name}/").geturl()
    html_theme_options |= {
        "path_to_docs": "book",
        "repository_branch": "main",
        "repository_url": repository,
        "use_edit_page_button": True,
        "use_repository_button": True,
    }

# The PDF: XeLaTeX, since code and prose have many characters that TeX's own fonts lack.
latex_engine = "xelatex"
latex_use_xindy = False
latex_domain_indices = False
latex_documents = [
    ("index", "minigrad.tex", "minigrad: a library that you build yourself", author, "manual", False),
]
if (Path(__file__).parent / "teaching/index.md").exists():
    guide = ("teaching/index", "minigrad-teaching.tex", "Teaching with minigrad", author, "manual", False)
    latex_documents.append(guide)
latex_additional_files = ["paper.sty"]
latex_show_urls = "footnote"
latex_elements = {
    "extraclassoptions": "openany,twoside",
    "fontpkg": r"""
\setmainfont{text-regular}[Path=fonts/, Extension=.ttf, ItalicFont=text-italic,
  BoldFont=text-semibold, BoldItalicFont=text-semibold-italic]
\setsansfont{text-regular}[Path=fonts/, Extension=.ttf, ItalicFont=text-italic,
  BoldFont=text-semibold, BoldItalicFont=text-semibold-italic]
\setmonofont{code-regular}[Path=fonts/, Extension=.ttf, ItalicFont=code-italic,
  BoldFont=code-semibold, BoldItalicFont=code-semibold, Scale=0.8]
\newfontfamily\rare{DejaVu Sans}[Scale=MatchLowercase]
\usepackage{newunicodechar}
\newunicodechar{ᵀ}{{\rare ᵀ}}
\newunicodechar{∇}{{\rare ∇}}
\newunicodechar{⋅}{{\rare ⋅}}
\newunicodechar{✗}{{\rare ✗}}
\newunicodechar{∛}{{\rare ∛}}
\newunicodechar{ₜ}{{\rare ₜ}}
\newunicodechar{ₖ}{{\rare ₖ}}
\newunicodechar{ₙ}{{\rare ₙ}}
\newunicodechar{ᵢ}{{\rare ᵢ}}
\newunicodechar{ⱼ}{{\rare ⱼ}}
\newunicodechar{Σ}{\iffontchar\font"03A3 \char"03A3\else{\rare\char"03A3}\fi}
\newunicodechar{₊}{{\rare ₊}}
\newunicodechar{₋}{{\rare ₋}}
\UndeclareTextCommand{\textvisiblespace}{TU}
\DeclareTextCommandDefault{\textvisiblespace}{{\rare\char"2423}}
\usepackage{pdfpages}
""",
    "fncychap": "",
    # The cover, a half title, and the imprint on the back of it.
    "maketitle": r"""
\includepdf{cover-\jobname.pdf}
\thispagestyle{empty}\null\clearpage
\makeatletter
\thispagestyle{empty}\vspace*{2in}{\raggedright\Huge\bfseries\@title\par}\clearpage
\thispagestyle{empty}\null\vfill{\raggedright\small\@title\\[4pt]\@author, \@date\\[4pt]
Text and figures: CC BY 4.0. Code: MIT License.\\
Typefaces: Source Serif 4 and Source Code Pro, cut and renamed under the SIL Open Font License.\par}\clearpage
\makeatother
""",
    "figure_align": "!htbp",
    "fvset": "",
    "preamble": r"\usepackage{paper}",
    # The printed table of contents has chapters only; a PDF reader shows the rest in its sidebar. By default
    # Sphinx would use the first caption as its title.
    "tableofcontents": r"""
{\small\setcounter{tocdepth}{0}\renewcommand{\contentsname}{Contents}\sphinxtableofcontents}
""",
}

# The EPUB.
epub_css_files = ["type.css", "reader.css"]
epub_show_urls = "footnote"
epub_cover = ("_static/cover.png", "")
epub_exclude_files = [".doctrees", "_static/fonts/OFL.txt", "_static/fonts/GFL.txt"]
epub_exclude_files += ["_static/book.css", "_static/scorer.js"]
epub_exclude_files += [f"_static/interactives/{path.name}" for path in FOLDER.glob("*.json")]
LIVE = Path(__file__).parent / "_static" / "live"  # for browsers only
epub_exclude_files += [f"_static/live/{path.name}" for path in LIVE.iterdir()]
