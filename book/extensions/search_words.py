"""Keep stopwords with a capital and the texts of drawings out of the search index.

Sphinx reads the text of a drawing as one word, with the numbers of its axes.
"""

import re

from sphinx.search import languages
from sphinx.search.en import SearchEnglish

NAME = re.compile(r"[^\W\d_]+\d{1,3}[^\W\d_]*")  # conv2d, w3
LONGEST = 20


class Words(SearchEnglish):
    """English, with stricter rules for words of the index."""

    def word_filter(self, word):
        """Return whether a word is for the index."""
        is_drawn = len(word) > LONGEST or (re.search(r"\d", word) and not NAME.fullmatch(word))
        return super().word_filter(word.lower()) and not is_drawn


def setup(app):
    """Replace Sphinx's own English."""
    languages["en"] = Words
    return {"parallel_read_safe": True, "parallel_write_safe": True}
