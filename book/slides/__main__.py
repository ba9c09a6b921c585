"""Make the slides from the command line: ``python -m book.slides``."""

import sys

from book.slides import SITE, SlidesError, make

try:
    counts = make()
except SlidesError as error:
    sys.exit(f"make slides: {error}")
print(f"{len(counts)} chapters, {sum(counts.values())} slides")
print(f"== Open {(SITE / 'slides' / 'index.html').relative_to(SITE.parents[2])}")
