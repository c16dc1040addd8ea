"""Posts of a thread, each of its author: an issue with its comments, a forum, a list of mails.

In: the lines above a place in a document. Out: those of the post that the place is in, or of the
posts of its author; what others wrote between is of their machines. A text that is no thread is
one post of nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

_NAME = r"@?(?P<{}>[A-Za-z][\w.-]{{1,38}}(?: [A-Z][\w.-]{{1,24}})?)"

_DATE = (
    r"(?:(?:on |at |in |this (?:issue|question|thread|topic|discussion|pull request) (?:on )?|· ?"
    r"|, )?"
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?"
    r"(?:[0-9]{1,2}\.? )?(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? [0-9]{1,4}"
    r"|[0-9]{4}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]"
    r"|(?:[0-9]{1,3} ?|an? )[a-z]{1,7} ago|yesterday|last [a-z]{3,8}))"
)

_ROLE = (
    r"(?:[Mm]aintainer|[Mm]ember|[Aa]uthor|[Cc]ollaborator|[Cc]ontributor|[Oo]wner|OP|[Aa]dmin"
    r"|[Ss]taff)"
)

_NO_AUTHORS = (
    r"(?:updates?|results?|notes?|day|week|sprint|release|version|changelog|runs?|edit|news|log|entry"
    r"|status|progress|summary|experiments?|measurements?|benchmarks?|meeting|session|report|v[0-9])"
    r"\b"
)
"""Words of headings with a date that are of no post: `### update · May 4`."""

_OF_A_RUN = re.compile(
    r"(?<![a-z])(?:bf|fp|tf|int|mxfp|nvfp|zero|v|tpu|gen)-?[0-9]"  # a format, a stage, a version
    r"|^(?!@)[a-z]{0,4}[0-9]{2,4}[a-z]{0,2}(?![a-z0-9])"  # a device
    r"|[0-9](?:b|m|gb|k)(?![a-z0-9])"  # a size
)
"""In what stands in front of a date and is no name of anybody: `a100`, `llama-7b`."""

_OPENS = deferred(
    r"\s{0,4}(?:[#>*-]{1,6} {1,2})?[*_`\[(]{0,3}"
    + _NAME.format("one")
    + r"(?:\]\(https?:[^\s()]{1,80}\))?[*_`\])]{0,3}(?: ?[(\[][\w ,.-]{2,40}[)\]])?[,:]?\s{1,3}"
    r"(?:commented|replied|wrote|opened|posted|reviewed|answered|asked|responded|said"
    r"|left a (?:comment|review))"
    rf"(?:\s{{0,2}}:?\s*$|\s{{1,2}}{_DATE}[^.!?|]{{0,60}}$)"
    r"|\s{0,4}(?:[#>*-]{1,6} {1,2})?[*_]{0,3}(?:Comment|Reply|Answer|Post|Posted) (?:by|from):? "
    + _NAME.format("two")
    + r"\b[^.!?|]{0,60}$"
    r"|\s{0,4}(?:#{1,6} {1,2})?(?:\*\*|__)"
    + r"(?P<three>@[\w.-]{2,38}|[a-z][\w.-]{1,38}|[A-Z][a-z]{1,20} [A-Z][a-z]{1,20})"
    + rf"(?:\*\*|__)(?: ?\([\w ]{{2,24}}\))? ?[·•,|(—–-] ?\(?{_DATE}[^.!?|]{{0,40}}$"
    r"|\s{0,3}#{1,6} {1,2}(?:\*\*)?"
    rf"(?P<five>@[\w.-]{{2,38}}|(?!{_NO_AUTHORS})[a-z][\w.-]{{2,38}})"
    rf"(?:\*\*)?(?: ?\({_ROLE}\))? ?(?:[·•|]|,(?= )|[–—-](?= )) ?\(?{_DATE}[^.!?|:]{{0,40}}$"
    r"|\s{0,3}#{1,6} {1,2}(?:\*\*)?(?P<six>[A-Z]\w{1,20}(?: [A-Z]\w{1,20}){0,2})(?:\*\*)?"
    rf" ?\({_ROLE}\) ?[·•|,–—-] ?{_DATE}[^.!?|:]{{0,40}}$"
    r"|From: (?P<four>[^<>|]{2,60})(?: <[^<>|]{2,80}>)?\s*$",
)
"""The line of a thread that says who writes what follows: `**ana** commented on May 4`."""

_NAMES = ("one", "two", "three", "four", "five", "six")

_SIGNS = ("ommented", "replied", "wrote", "opened", "posted", "reviewed", "answered", "asked",
          "responded", "said", " by ", " from", "**", "__", "left a", "From:", "# ")  # fmt: skip

LONGEST = 200


def author_of(text: str) -> str:
    """Whose post a line opens; nothing for any other line.

    >>> author_of("**ana** commented on May 4"), author_of("@bob-x replied 3 weeks ago")
    ('ana', 'bob-x')
    >>> author_of("### Comment by J. Doe (2024-05-01)"), author_of("Mia Falk wrote:")
    ('j. doe', 'mia falk')
    >>> author_of("### kim-l · Oct 3, 2024"), author_of("### Ana (Maintainer) · Oct 4, 2024")
    ('kim-l', 'ana')
    >>> author_of("### results · Oct 3, 2024"), author_of("## h100 · Oct 3"), author_of("# a100")
    ('', '', '')
    >>> author_of("**Setup** (2 nodes)"), author_of("He said 3 of 4 runs fail."), author_of("a")
    ('', '', '')
    """
    if len(text) > LONGEST or not any(sign in text for sign in _SIGNS):
        return ""
    found = _OPENS.match(text)
    if found is None or (found["five"] and _OF_A_RUN.search(found["five"])):
        return ""
    return next(filter(None, map(found.__getitem__, _NAMES)), "").strip().casefold()


def own_post(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of the post that the last of them is of; all of them in the first post of a thread,
    whose title is its own, and of a text that is no thread."""
    opened = [at for at, line in enumerate(lines) if author_of(line.text)]
    if not opened or (
        len(opened) == 1 and lines[0].number < FIRST and _opens_all(lines[opened[0]])
    ):
        return lines
    return lines[opened[-1] :]


FIRST = 20
"""Lines of a document whose first is among these begin with it."""


def _opens_all(line: Line) -> bool:
    """Whether a line opens the first post: the question that all others answer."""
    return any(sign in line.text for sign in ("opened", "asked", "From:", "posted"))


def of_own_author(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of all posts of the author of the last one, and headings in front of the first."""
    opened = [(at, author) for at, line in enumerate(lines) if (author := author_of(line.text))]
    if not opened or own_post(lines) is lines:
        return lines
    me = opened[-1][1]
    kept = [line for line in lines[: opened[0][0]] if line.text.startswith("#")]
    ends = [*(at for at, _ in opened[1:]), len(lines)]
    for (begin, author), end in zip(opened, ends, strict=True):
        kept += lines[begin:end] if author == me else ()
    return kept
