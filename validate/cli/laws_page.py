"""The page of all laws: `python -m assay.validate.cli.laws_page > docs/findings.md`.

It is made of the list of laws; a test holds the page equal to it.
"""

from __future__ import annotations

import sys

from assay.validate.laws.laws import BLIND, LAWS

HEAD = """# Findings

Generated from the list of laws by `python -m assay.validate.cli.laws_page > docs/findings.md`.

`assay check PATH…` looks for numbers that their own document contradicts. Three classes:

- **identity**: arithmetic that must hold. The printed intervals, carried through it, do not meet:
  an error beyond three units in the last place, a note within; a warning where a nominal label or
  an estimator's own definition is involved. Units are those of the column, also where one cell
  lost a digit, and more than 5 % of a number is no rounding whatever its digits; counts are exact.
- **convention**: one of several known formulas or definitions. Which one a table follows is found
  by the most rows; a row that follows another one is a warning, what a whole document follows a
  note.
- **statistical**: unlikely, not impossible, so never an error. A warning needs repeats in the same
  document to measure its noise by.

A number as printed stands for every value that prints so, rounded or cut. A relation or formula is
believed in a table only where most of its rows keep it, and so many that accident is out of the
question; nothing is said about a table that follows none. Silence is no proof of correctness.

A finding names the numbers involved (`observed`), what the others say they should be (`implied`),
and a cause only where one change, with a reason, satisfies everything the row says: the value of a
statement above, the layout of an otherwise equal row, two cells exchanged, the cell above or below,
a slip of digits or units. What is wrong in the same way on many lines of a log is one finding.

A known finding goes into a file for `--ignore`, with its reason. `--write-baseline` writes what is
shown as such a file and ends with 0; entries of `--ignore` that still cover something go with it.
An entry covers a finding of its law about the same numbers wherever the line moves to; a number
that changes shows again, and an entry that covers nothing any more is named.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## Laws\n"]
    for law in LAWS:
        formula = f" `{law.formula}`" if law.formula else ""
        parts.append(
            f"### `{law.name}`\n\n{law.sentence}{formula}\n\n"
            f"Class: {law.kind}. Ties {', '.join(law.ties)}. Severity: {law.rule}.\n"
        )
    parts.append("## What no law can see\n")
    parts.append("\n".join(f"- {each}" for each in BLIND) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
