"""Parts of a text that tell who ran something, where, and with which keys: patterns, in order.

In: a text. Out: the text with each such part given to a function that says what stands for it. The
patterns prefer to leave a number or a label alone: a version is no address, a count of tokens no
key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Replace = Callable[[str, str], str]
"""Category and what was found → what stands for it."""

CATEGORIES = ("user", "host", "ip", "mac", "email", "secret")

PSEUDONYM = re.compile(rf"(?:{'|'.join(CATEGORIES)})-[0-9]+")


class Pattern(NamedTuple):
    """The groups of `regex` that matched are of the category; without groups, all that matched."""

    category: str
    regex: re.Pattern[str]


def _pattern(category: str, *alternatives: str, flags: int = 0) -> Pattern:
    return Pattern(category, re.compile("|".join(alternatives), flags))


_KEY_NAME = (
    r"(?:[\w.-]*(?:api|access|secret|private|ssh|auth|encryption|license|account|wandb|hf|storage"
    r"|service|deploy|signing|session|shared|master)[_-]?key"
    r"(?:[_-]?id)?|[\w.-]*(?:secret|passwd|password|passphrase|credentials?)"
    r"|(?:(?!(?:pad|eos|bos|unk|sep|cls|mask|eod|eot|special|image|start|end|stop|next|per|last"
    r"|first)[_-])[\w.-]+[_-])?token|pwd)"
)

_VALUE = r"""["']?(?![.\s])([^\s"',;&|<>(){}\[\]]{3,})"""

_DOMAIN = (
    r"(?:edu|gov|mil|com|net|org|io|ai|cloud|local|localdomain|internal|lan|cluster|corp|intra"
    r"|private|home|arpa|eu|de|uk|fr|ch|at|it|es|nl|se|no|fi|dk|pl|cz|jp|cn|kr|tw|sg|au|ca|us)"
)

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"

_VERSIONED = r"(?<!version)(?<!nccl)(?<!cudnn)(?<!driver)(?<!cuda)(?<!torch)(?<!rocm)"

PATTERNS = (
    _pattern(
        "secret",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        r"\b(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\w+)\s+[A-Za-z0-9+/=]{16,}(?:\s+\S+@\S+)?",
        r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        r"(?<![A-Za-z0-9])(?:hf_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}"
        r"|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}"
        r"|ya29\.[\w-]{20,}|wandb_v1_\w{16,}|nvapi-[\w-]{20,}|dop_v1_\w{20,}|npm_[A-Za-z0-9]{30,}"
        r"|xapp-[\w-]{10,}|pypi-[\w-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"
        r"|SG\.[\w-]{16,}\.[\w-]{16,}|[0-9]{8,10}:AA[\w-]{30,}|dckr_pat_[\w-]{20,}"
        r"|hv[sb]\.[\w-]{20,}|dapi[0-9a-f]{32}|AGE-SECRET-KEY-1[0-9A-Z]{20,})",
    ),
    _pattern("secret", r"hooks\.slack\.com/services/([\w/-]{16,})"),
    # what signs an address lets anybody fetch what it names
    _pattern(
        "secret",
        r"[?&](?:sig|signature|x-(?:amz|goog)-(?:signature|security-token))=([^\s&\"'|,;<>]{8,})",
        flags=re.I,
    ),
    # a wandb key has the form of a commit; where a commit is told as one, it stays
    _pattern(
        "secret",
        r"(?<![0-9A-Za-z])(?<!commit[=: ])(?<!commit: )(?<!hash[=: ])(?<!hash: )(?<!sha[=: ])"
        r"(?<!sha1[=: ])(?<!sha: )(?<!revision[=: ])(?<!revision: )(?<!rev[=: ])(?<!git[=: ])"
        r"(?<!/commit/)(?<!/tree/)(?<!@)[0-9a-f]{40}(?![0-9A-Za-z])",
    ),
    _pattern("secret", rf"\b(?:bearer|basic)\s+{_VALUE}", flags=re.I),
    _pattern("secret", r"://[^\s/:@]+:([^\s/@]+)@"),
    _pattern(
        "secret",
        rf"(?<![\w-]){_KEY_NAME}[\"']?\s*(?:=|:(?!\w*:)|\.{{3,}})\s*{_VALUE}",
        rf"--{_KEY_NAME}\s+{_VALUE}",
        rf"\b(?:password|passphrase)\s+{_VALUE}",
        rf"(?<![\w-])(?:key|auth)={_VALUE}",
        flags=re.I,
    ),
    _pattern("user", r"://([^\s/:@]+)(?::[^\s/@]+)?@"),
    _pattern(
        "email", r"(?<![\w.+-])(?!(?:user|secret)-[0-9]+@)[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?<![.-])"
    ),
    _pattern("user", r"(?:\b(?:ssh|scp|rsync)\s+|^|\s)([A-Za-z_][\w.-]*)@[A-Za-z][\w.-]*:[~/]"),
    _pattern("host", r"(?:\b(?:ssh|scp|rsync)\s+|^|\s)[A-Za-z_][\w.-]*@([A-Za-z][\w.-]*):[~/]"),
    _pattern(
        "user",
        r"[/\\](?:home|homes|Users|users|user|usr/people|scratch)[/\\]+([^/\\\s:'\"`,;|(){}\[\]<>=#]+)",
        r"(?<![\w/.~])~([A-Za-z_][\w.-]+)(?=/)",
        r"\bwandb\.ai/([\w-]+)",
    ),
    _pattern(
        "user",
        r"(?<![\w-])(?:user|username|user_name|logname|login|owner|submitter|sudo_user|wandb_entity"
        r"|slurm_job_user)[\"']?\s*[=:]\s*[\"']?([A-Za-z_][\w.-]+)",
        flags=re.I,
    ),
    _pattern(
        "host",
        r"(?<![\w-])(?:host|hostname|host_name|nodename|node_name|master_addr|master_address"
        r"|slurmd_nodename|rdzv_endpoint|head_node)[\"']?\s*(?:=|:(?!\w*:)|\.{3,})\s*[\"']?"
        r"([A-Za-z][\w.-]*[\w])",
        r"\b\w*(?:nodelist|hostlist)[\"']?\s*[=:]\s*[\"']?([A-Za-z][\w.,\[\]-]*[\w\]])",
        r"^\s*((?:node|host|dgx|hgx|compute|gpu-|cn-?|gn-?)[\w.-]*[0-9][\w.-]*):\s",
        r"\bon\s+([A-Za-z][\w.-]*)\s+device\s+[0-9]",
        r"(?<!\S)\[([A-Za-z][\w.-]*):[0-9]+\]:",
        r"(?<!\S)([A-Za-z][A-Za-z0-9-]*)-worker-[0-9]+:",
        flags=re.I,
    ),
    _pattern(
        "host",
        rf"(?<![\w.@/-])([A-Za-z][A-Za-z0-9-]*[0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.{_DOMAIN})"
        r"(?![\w.-])",
        r"\bip-[0-9]{1,3}(?:-[0-9]{1,3}){3}(?:\.[\w.-]*\w)?\b",
        r"\bnid[0-9]{4,}\b",
        r"(?<![\w.@/-])([\w-]+(?:\.[\w-]+)*\.(?:local|localdomain|internal|lan|cluster|corp|intra))"
        r"(?![\w.-])",
    ),
    _pattern("mac", r"(?<![\w:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![\w:])", flags=re.I),
    _pattern(
        "ip",
        r"(?<![\w:.])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])",
        r"(?<![\w:.])(?=[0-9a-f:]*[0-9])[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6}::"
        r"(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?(?![\w:])",
        flags=re.I,
    ),
    _pattern(
        "ip",
        rf"(?<![0-9.vV]){_VERSIONED}(?<!==)(?<!version )(?<!version: )(?<!nccl )(?<!cudnn )"
        rf"(?<!driver )(?!0\.|127\.|255\.255\.255)({_OCTET}(?:\.{_OCTET}){{3}})(?![0-9]|\.[0-9])",
        flags=re.I,
    ),
)
"""In the order in which they are applied; what stands for a find is not looked at again."""

_SECRET_NAME = re.compile(rf"(?:{_KEY_NAME}|key|auth)\Z", re.I)

_USER_NAME = re.compile(
    r"(?:user|user_?name|logname|login|owner|submitter|sudo_user|wandb_entity|slurm_job_user)\Z",
    re.I,
)

_HOST_NAME = re.compile(
    r"(?:host|host_?name|node_?name|master_addr|master_address|slurmd_nodename|rdzv_endpoint"
    r"|head_node|localhost_name)\Z",
    re.I,
)

_NUMBER = re.compile(r"[+-]?[0-9][0-9_,.]*(?:e[+-]?[0-9]+)?", re.I)

_NOTHING = {
    "none", "null", "true", "false", "nan", "inf", "localhost", "unset", "unknown", "root", "path",
    "self", "string", "default", "env", "file", "stdin",
}  # fmt: skip


def plain(text: str) -> bool:
    """Whether a value is a number, a word for nothing, or already stands for something."""
    said = text.strip()
    return (
        len(said) < 2
        or said.casefold() in _NOTHING
        or PSEUDONYM.fullmatch(said) is not None
        or (_NUMBER.fullmatch(said) is not None and len(said) <= 12 and said.count(".") <= 1)
    )


def replaced(text: str, replace: Replace) -> str:
    """The text with every find replaced.

    >>> replaced("wrote /home/ada/run, token=abcd1234, batch_size=512", lambda kind, _: f"<{kind}>")
    'wrote /home/<user>/run, token=<secret>, batch_size=512'
    """
    for category, regex in PATTERNS:
        if regex.search(text):
            text = _sub(regex, category, text, replace)
    return text


def _sub(regex: re.Pattern[str], category: str, text: str, replace: Replace) -> str:
    pieces, at = [], 0
    for found in regex.finditer(text):
        for begin, end in _parts(found):
            if not plain(text[begin:end]):
                pieces += [text[at:begin], replace(category, text[begin:end])]
                at = end
    return "".join([*pieces, text[at:]])


def _parts(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    if not found.re.groups:
        yield found.span()
    for group in range(1, found.re.groups + 1):
        if found.group(group) is not None:
            yield found.span(group)


def named(name: str, text: str, replace: Replace) -> str | None:
    """A value by its name, where the name alone says what it is; None where it says nothing.

    >>> named("wandb_api_key", "abcdef", lambda kind, _: f"<{kind}>"), named("lr", "3", max)
    ('<secret>', None)
    """
    for category, regex in (("secret", _SECRET_NAME), ("user", _USER_NAME), ("host", _HOST_NAME)):
        if regex.match(name.strip().lstrip("-")):
            return text if plain(text) else replace(category, text)
    return None
