"""The two typefaces of the book, cut to the letters that a course in English and mathematics needs.

    python -m book.fonts FOLDER

FOLDER holds the TrueType files of Source Serif 4 and Source Code Pro, which npm carries as
@expo-google-fonts/source-serif-4 and @expo-google-fonts/source-code-pro. What comes out lies in
_static/fonts/, and is in git, so that building the book needs neither. Their licence wants another name for
a changed font.
"""

import argparse
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).with_name("_static") / "fonts"
CUTS = {
    "text-regular": "SourceSerif4_400Regular",
    "text-italic": "SourceSerif4_400Regular_Italic",
    "text-semibold": "SourceSerif4_600SemiBold",
    "text-semibold-italic": "SourceSerif4_600SemiBold_Italic",
    "code-regular": "SourceCodePro_400Regular",
    "code-italic": "SourceCodePro_400Regular_Italic",
    "code-semibold": "SourceCodePro_600SemiBold",
}
# Latin, Greek, punctuation, superscripts, arrows, mathematics, lines and blocks, a tick, ligatures.
LETTERS = (
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x2C6, 0x2DC),
    (0x300, 0x308),
    (0x370, 0x3FF),
    (0x2000, 0x209F),
    (0x20AC, 0x20AC),
    (0x2100, 0x23FF),
    (0x2500, 0x25FF),
    (0x2713, 0x2713),
    (0xFB00, 0xFB06),
)
FEATURES = ["kern", "liga", "lnum", "tnum", "mark", "mkmk", "ccmp", "locl", "sups", "subs", "frac"]
NAMES_OF_A_FONT = (
    1,
    3,
    4,
    6,
    16,
    18,
    21,
    25,
)  # in its name table; the others say who made it, and its licence


def cut(source, name):
    """Return a font that keeps the letters and features of the book, under a name of its own.

    Parameters
    ----------
    source : Path
        A TrueType file.
    name : str
        Such as "text-regular".

    Returns
    -------
    TTFont
    """
    options = subset.Options(flavor="woff2", layout_features=FEATURES, name_IDs=["*"])
    font = TTFont(source)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[letter for first, last in LETTERS for letter in range(first, last + 1)])
    subsetter.subset(font)
    font.flavor = "woff2"
    face, _, style = name.partition("-")
    family = f"minigrad {face.title()}"
    for entry in font["name"].names:
        if entry.nameID in NAMES_OF_A_FONT:
            whole = f"{family} {style.replace('-', ' ').title()}"
            entry.string = family if entry.nameID in (1, 16) else whole.replace(" ", "-")
    return font


def as_truetype(folder):
    """Write the book's fonts as TrueType, which TeX reads, into a folder.

    Parameters
    ----------
    folder : Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(FONTS.glob("*.woff2")):
        font = TTFont(path)
        font.flavor = None
        font.save(folder / f"{path.stem}.ttf")


def main():
    """Cut all fonts anew."""
    parser = argparse.ArgumentParser(description="Cut the book's fonts.")
    parser.add_argument("folder", type=Path, help="where the TrueType files of both typefaces lie")
    folder = parser.parse_args().folder
    FONTS.mkdir(exist_ok=True)
    for name, original in CUTS.items():
        found = sorted(folder.glob(f"**/{original}.ttf"))
        if not found:
            raise SystemExit(f"{folder} holds no {original}.ttf: unpack both npm packages there.")
        cut(found[0], name).save(FONTS / f"{name}.woff2")


if __name__ == "__main__":
    main()
