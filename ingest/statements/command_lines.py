"""Configuration in the command that started a job, and in names that jobs give to their output.

In: a line of a document. Out: field → cell of every option, assignment or part of a name that the
vocabulary knows. A value that is a shell's variable is said and not known: the cell is unknown, so
that no older statement speaks in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.values import cell_of, known, said
from assay.ingest.vocabulary.attention_names import switches_flash
from assay.ingest.vocabulary.sectioned_keys import ASIDE, undotted
from assay.ingest.vocabulary.terms import normalise

_OPTION = deferred(
    r"(?<![\w-])--?([A-Za-z][\w.-]*)(?:(?:=|\s+)(?:\"([^\"]*)\"|'([^']*)'|((?!-)[^\s\"'\\]+)))?"
)

_LEFT_OUT = deferred(
    r"\b(?:without|instead of|rather than|unlike"
    r"|(?:dropp?|remov|omitt?|leav|skipp?)(?:s|es?|ed|ing)?)(?: the| out)?[ `(]{1,3}$",
    re.IGNORECASE,
)
"""Words before an option that is not given: ``without `--recompute` ``."""

LONGEST_VERB = 24
"""Letters before an option that say that it is left out."""

_GRES = deferred(r"--gres[= ]\"?gpu(?::[A-Za-z]\w*)?:([0-9]+)")
"""Devices of each node, as SLURM is asked for them: `--gres=gpu:a100:4`."""

_HOSTS = deferred(
    r"(?:\bsrun|\bsalloc|\bsbatch|#SBATCH|\bflux run) (?:[^|;]*? )?-N ?([0-9]{1,5})(?![\w-])"
)
"""Nodes, as SLURM is asked for them in short."""

_TASKS = deferred(r"\bsrun (?:[^|;]*? )?--ntasks-per-node[ =]([0-9]{1,3}) [^|;]*?\bpython[0-9.]* ")
"""Tasks of each node that are programs of Python themselves: each has a device of its own."""

_RANKS = deferred(
    r"(?:^|[\s;|$`])(?:mpirun|mpiexec|mpiexec\.hydra|horovodrun)\s(?:[^|;]*?\s)?-{1,2}(?:np?|n)[ =]"
    r"([0-9]{1,5})(?= [^|;]*?\bpython[0-9.]* )"
)
"""Ranks of MPI that are programs of Python themselves: each has a device of its own."""

_RANKS_OF_EACH = deferred(
    r"(?:^|[\s;|$`])(?:mpirun|mpiexec|mpiexec\.hydra)\s(?:[^|;]*?\s)?"
    r"(?:--?(?:ppn|npernode|ranks-per-node|N)[ =]|--map-by ppr:)([0-9]{1,3})"
    r"(?=(?::node)?\b[^|;]*?\bpython[0-9.]* )"
)

_STARTS_NO_TRAINING = deferred(
    r"\b(?:torchrun|torch\.distributed\.(?:run|launch)|accelerate|deepspeed (?!-)|pre-?process\w*"
    r"|tokeni[sz]\w*|convert\w*|prepare\w*|download\w*|eval\w*|infer\w*|serve\w*|generat\w*)"
    r"|--nproc[_-]per[_-]node"
)
"""Ranks that start others, or do something else than to train."""

_CHUNKS = deferred(
    r"(?:#?PBS|\bqsub)\s(?:[^|;]*?\s)?-l\s*select=([0-9]{1,5})"
    r"(?=[:,\s]|$)(?!\S*\+)(?:[\w:=.]*?:(?:ngpus|gpus)=([0-9]{1,3}))?(?![\w+])"
    r"|(?:#?PBS|\bqsub)\s(?:[^|;]*?\s)?-l\s*nodes=([0-9]{1,5})(?=[:,\s]|$)(?!\S*\+)"
    r"(?:[\w:=.]*?:gpus=([0-9]{1,3}))?(?![\w+])"
)
"""Nodes and the devices of each, as PBS and Torque are asked for them: `select=4:ngpus=8`."""

_ALONE = deferred(r"(?<![\w-])--standalone(?![\w-])")

_VARIABLE = deferred(r"\s*(?:export\s+)?([A-Za-z_]\w*)=[\"']?(\$[^\s]*)\s*\\?\s*")

_SETTING = deferred(
    r"(?<![\w$({.:/=+-])\+{0,2}([A-Za-z_][\w.]*)=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'\\]+))"
)

_ASSIGNED = deferred(
    r"(?:^|;|&&|[`,](?=\s?[A-Z][A-Z0-9_]*=))\s*(?:\+\s*)?(?:export\s+)?"
    r"([A-Za-z_]\w*)=[\"']?([A-Za-z0-9][\w.-]*)[\"']?(?=\s|;|,\s|`|$)"
)

_KEYED = deferred(r"([A-Za-z_]\w*):\s+([0-9]\w*)\s*")

_USED = deferred(r"\$(?:\{(\w+)\}?|(\w+))")

_COMMAND = deferred(
    r"(?:^|[\s;|$`])(?:python3?|torchrun|srun|mpirun|mpiexec|deepspeed|accelerate|tune|litgpt|bash|sh|"
    r"xtuner|llamafactory-cli|axolotl|[\w./-]+\.(?:py|sh))(?:\s|$)"
)

_CALL = deferred(r"[A-Za-z_]\(")
"""A call of a function: a line of a program, and no command."""

_GOES_ON = deferred(r"\\\s*$")

SWITCHES = {
    "bf16": ("dtype", "bf16"), "fp16": ("dtype", "fp16"),
    **dict.fromkeys(
        ("checkpointactivations", "activationcheckpointing", "gradientcheckpointing",
         "usegradientcheckpointing", "enablegradientcheckpointing", "enableactivationcheckpointing",
         "useactivationcheckpointing", "gradcheckpointing", "gradckpt", "gradcheckpoint",
         "gradientcheckpoint", "actckpt", "usegradcheckpointing"),
        ("activation_checkpointing", "True"),
    ),
    "recomputeactivations": ("recompute", "selective"),  # Megatron's short name for that
    "sequenceparallel": ("sequence_parallel", "True"),
    "usesequenceparallel": ("sequence_parallel", "True"),
    "swiglu": ("gated", "True"),
}  # fmt: skip
"""Options that say something by standing there."""


def _switch(key: str) -> tuple[str, str] | None:
    """The field and value that an option says by standing there.

    >>> _switch("use-flash-attn-v2"), _switch("flash-attn-port")
    (('attention', 'flash'), None)
    """
    bare = normalise(key)
    return SWITCHES.get(bare) or (("attention", "flash") if switches_flash(bare) else None)


def _as_much(text: str, option: re.Match[str]) -> tuple[str, str] | None:
    """How much is recomputed by an option, where the words around it say it: ``--recompute (full)``
    or ``full recomputation (`--checkpoint-activations`)``."""
    behind = _KIND_BEHIND.match(text, option.end())
    front = None if behind else _KIND_IN_FRONT.search(text, 0, option.start())
    kind = behind or front
    again = kind is not None and _AGAIN.search(option[1]) is not None
    return ("recompute", kind[1].casefold()) if again and kind else None


_AGAIN = deferred(r"recomput|checkpoint[-_]activations|(?:activation|gradient)[-_]checkpointing")

_KIND_BEHIND = deferred(r"[`*_]{0,3}\s?[(（](?:i\.e\.,? )?(full|selective)\b", re.IGNORECASE)

_KIND_IN_FRONT = deferred(
    r"\b(full|selective) (?:(?:activation|gradient) )?(?:recomput|check-?point)\w+ ?"
    r"[(（](?:(?:with|by|via) )?[`*_]{0,3}$",
    re.IGNORECASE,
)

_IS_NEXT = deferred(r"\S+\s+(?:\$|[\w./-]*(?:/|\.(?:py|sh|ya?ml|json|toml)$))")
"""A switch, and behind it another argument of its command, which is no value of it."""

LEFT_OPEN = {"trainbatchsize", "batchsize"}
"""Options that are of a device to one program and of the whole job to another."""

_NAME = deferred(r"[A-Za-z0-9./_=+-]{12,}")

_PART = deferred(
    r"(?:^|[-_/])(ws|nl|hs|nh|mbs?|gbs?|seq|sl|tp|pp|dp|cp|ep|stage)([0-9]+)(?=[-_/.]|$)"
)

_FORMAT = deferred(r"(?<=[-_/])(?:bf16|fp16|fp32|fp8)(?=[-_/.]|$)")

PARTS = {
    "ws": "gpus", "nl": "layers", "hs": "hidden", "nh": "heads", "mb": "micro_batch",
    "mbs": "micro_batch", "gb": "global_batch", "gbs": "global_batch", "seq": "seq_len",
    "sl": "seq_len", "tp": "tp", "pp": "pp", "dp": "dp", "cp": "cp", "ep": "ep",
    "stage": "zero_stage",
}  # fmt: skip
"""Parts of names put together of values: `ws3072-ds-stage1-nl12-hs2048-mb1-seq8192-gb6144`."""

FEWEST = 4
"""Parts of a name that must be known before it is taken for one that says a configuration."""


_EACH_NODE = deferred(r"(?:^|[\s;|$`/])deepspeed\s.*--num_gpus\b")
"""DeepSpeed's launcher, which starts as many processes on each node."""

_OF_HOSTS = deferred(r"\s(?:--hostfile|-H|--(?:num_nodes|nnodes|num_machines)(?![ =]1\b))\b")
"""Options of launchers for more nodes than the one that it runs on."""


_VISIBLE = deferred(r"\b[A-Z_]+_VISIBLE_DEVICES ?= ?[\"']?([0-9]+(?:,[0-9]+)*)(?![0-9,])")

_STARTED = deferred(
    r"_VISIBLE_DEVICES=\S+ (?:[A-Z_]+=\S+ )*"
    r"(?:python3?|torchrun|accelerate|deepspeed|bash|sh|tune|litgpt|xtuner|llamafactory-cli|uv run"
    r"|\./[\w./-]+|\\$)(?!.*\b(?:vllm|sglang|serve\w*|infer\w*|eval\w*|generat\w*|chat|demo"
    r"|predict\w*)\b)"
)
"""A command that sees but some devices, and neither serves nor evaluates a model."""


def visible(line: Line) -> dict[str, Cell]:
    """How many devices a line lets programs see: `CUDA_VISIBLE_DEVICES=0,1 torchrun …`."""
    seen = _VISIBLE.search(line.text)
    if seen is None:
        return {}
    many = str(seen[1].count(",") + 1)
    return {"gpus": Cell(many, line.number, line.column + seen.start(1))}


_ZERO_FILE = deferred(
    r"(?:--|^\s*[\"']?)(?:deepspeed|ds)(?:[_-]config)?(?:[ =]|[\"']?: )[\"']?[\w./-]{0,80}?"
    r"(?:zero|stage|_z)[_-]?([0-3])(?![0-9])"
    r"(?:[\w.-]{0,40}(?:\.json|config)\b|(?:[_-]offload\w{0,16})?(?=[\s\"'\\]|$))"
    r"|(?:^\s*|[\w.-])strategy[\"']?(?:=|: )[\"']?deepspeed_stage_([0-3])(?:_offload)?\b"
)
"""The file of settings of DeepSpeed that is named after its stage, `--deepspeed zero3.json`,
`--deepspeed deepspeed_zero2`, `--deepspeed path_to_zero3_config` or `deepspeed: zero3.json`, and
Lightning's name of it, `strategy: deepspeed_stage_2`."""


_PREPARES = deferred(
    r"(?:^|[\s;&|$`])(?:python[0-9.]*|bash|sh)\s+(?:-[mu]\s+)*"
    r"(?:(?!\S*(?:train|tune|tuning))(?:[\w.-]*[/.])*(?:[a-z0-9]+[_-]){0,2}"
    r"(?:pre-?process|tokeni[sz]|convert|prepare|download|export|extract|pre-?comput|quanti[sz]"
    r"|merge|evaluat|eval|inference|infer|serve|generat|predict|decode|chat|sample)"
    r"(?:e|ing|ion|ation|or|er)?(?:[_-][\w-]*)?"
    r"|(?:[\w.-]*[/.])*(?:pre-?process|tokeni[sz]e|convert|prepare|download|extract|build|create"
    r"|make|generate|encode|pack|split|clean|filter|cache)(?:[_-][a-z0-9]+){0,3}"
    r"[_-](?:data(?:sets?)?|corpus|shards|index|vocab|features|latents|embeddings|tokeni[sz]er))"
    r"(?:\.py|\.sh)?(?=[\s`]|$)"
)
"""A program that prepares data, or that uses what was trained, by its name."""


class Preparing:
    """Lines of a command that prepares data: the one that starts it, and those it goes on in."""

    def __init__(self) -> None:
        self._open = False

    def holds(self, line: Line, *, code: bool) -> bool:
        """Whether a line is of such a command; `code` are lines of a block."""
        mine = code and (self._open or _PREPARES.search(line.text) is not None)
        self._open = mine and line.text.rstrip().endswith("\\")
        return mine


def command(line: Line) -> dict[str, Cell]:
    """Configuration that options of a command, or assignments, state; the last one counts. One that
    prepares data, or does something else than to train, states none."""
    return {} if _PREPARES.search(line.text) else _stated_by(line)


def _stated_by(line: Line) -> dict[str, Cell]:
    found = _options(line)
    if found and _ALONE.search(line.text):
        at = line.text.index("--standalone")
        found["nodes"] = Cell("1", line.number, line.column + at, law="--standalone")
    if "gpus" in found and _EACH_NODE.search(line.text):
        found["gpus_per_node"] = found["gpus"]
        if found.get("nodes", found["gpus"]).text != "1" and _OF_HOSTS.search(line.text):
            del found["gpus"]
    if "-N" in line.text and (hosts := _HOSTS.search(line.text)):
        found.setdefault("nodes", Cell(hosts[1], line.number, line.column + hosts.start(1)))
    if "task" in line.text:
        found = _of_tasks(line) | found
    if "mpi" in line.text or "horovodrun" in line.text:
        found = _ranks(line) | found
    named = any(end in line.text for end in (".json", "config", "deepspeed_stage_", "zero"))
    if named and (sharded := _ZERO_FILE.search(line.text)):
        group = sharded.lastindex or 1
        stage = Cell(sharded[group], line.number, line.column + sharded.start(group))
        found.setdefault("zero_stage", stage)
    if "VISIBLE_DEVICES" in line.text and _STARTED.search(line.text):
        found |= {} if _OF_HOSTS.search(line.text) else visible(line)
    settings = [] if _CALL.search(line.text) else list(_SETTING.finditer(line.text))
    words = sum("=" not in word for word in line.text.split())
    listed = len(settings) > max(1, words)  # a sentence has more words than settings
    if found or _COMMAND.search(line.text) or _GOES_ON.search(line.text) or listed:
        for setting in settings:
            group = next(n for n in (2, 3, 4) if setting[n] is not None)
            if not ASIDE.search(setting[1]):
                key = undotted(setting[1]) or ""
                found |= _said(
                    of_its_program(key, settings), setting[group], line, setting.start(group)
                )
    if assigned := _VARIABLE.fullmatch(line.text):
        found |= _said(assigned[1], assigned[2], line, assigned.start(2))
    return found


def of_its_program(key: str, settings: Sequence[re.Match[str]]) -> str:
    """The name of a variable without the letters that a program puts in front of all of its own,
    where two of them are of how a run is spread: `HL_TP=8 HL_PP=4`."""
    front, sign, rest = key.partition("_")
    if not (sign and front.isupper() and known(key) is None):
        return key
    mine = {
        name for setting in settings
        if setting[1].startswith(f"{front}_") and (name := known(setting[1][len(front) + 1 :]))
    }  # fmt: skip
    return rest if len(mine & _SPREADS) >= len(("one", "another")) else key


_OF_EACH_TASK = deferred(r"--gpus-per-task[ =]([0-9]{1,2})(?![\w.])")

_TASKS_OF_NODE = deferred(r"--ntasks-per-node[ =]([0-9]{1,3})(?![\w.(])")

_EVERY_TASK = deferred(r"\bsrun (?:[^|;]*? )?(?:-n ?|--ntasks[ =])([0-9]{1,5})(?![\w.])")


def _of_tasks(line: Line) -> dict[str, Cell]:
    """Devices of each node, or in all, of a command of SLURM that says how many a task has, or
    starts a program of Python for each.

    >>> said = _of_tasks(Line(1, "srun -N 2 --ntasks-per-node=8 --gpus-per-task=1 ./go.sh", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'gpus_per_node': '8'}
    """
    each, alone = _OF_EACH_TASK.search(line.text), _TASKS.search(line.text)
    if each is None and alone is not None:
        return {"gpus_per_node": Cell(alone[1], line.number, line.column + alone.start(1))}
    tasks = {"gpus_per_node": _TASKS_OF_NODE.search(line.text),
             "gpus": _EVERY_TASK.search(line.text)}  # fmt: skip
    return {
        name: Cell(str(int(many[1]) * int(each[1])), line.number, line.column + many.start(1))
        for name, many in tasks.items() if each and many
    }  # fmt: skip


_SPREADS = {"tp", "pp", "dp", "cp", "ep", "nodes", "gpus_per_node"}
"""Fields of how a run is spread over devices."""

_CODED = deferred(r"`\+{0,2}((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)=([^`\s]+)`")
"""An override of a configuration, set as code."""

_SENTENCE = deferred(r"[^.;。]*(?:[.;](?! )[^.;。]*)*")


def coded(line: Line, told: Mapping[str, Cell]) -> dict[str, Cell]:
    """Configuration of overrides that stand as code in a sentence beside what it says of runs in
    words: `fp16, ``data.seq_len=4096`` and Adam`. Of runs in the sentences that say `told`.

    >>> text = "All runs are in fp16 with `data.seq_len=4096`. Try `model.tp=8` instead."
    >>> said = coded(Line(1, text, 1, {}), {"dtype": Cell("fp16", 1, 17)})
    >>> {name: cell.text for name, cell in said.items()}
    {'seq_len': '4096'}
    """
    found: dict[str, Cell] = {}
    spans = [each.span() for each in _SENTENCE.finditer(line.text) if each[0]]
    for code in _CODED.finditer(line.text) if told and "`" in line.text else ():
        begin, end = next(each for each in spans if each[0] <= code.start() < each[1])
        mine = any(begin <= cell.column - line.column < end for cell in told.values())
        before = line.text[max(0, code.start() - LONGEST_VERB) : code.start(1)]
        if mine and not ASIDE.search(code[1]) and not _LEFT_OUT.search(before):
            found |= _said(undotted(code[1]) or "", code[2], line, code.start(2))
    return found


_OVERRIDES = deferred(r"[\s,;`+]*([A-Za-z_][\w.-]*)(?:\s?=\s?|:\s+)[\"']?([\w./+-]+)[\"']?[\s,;`]*")

_OF_CODE = deferred(r"[`_.]")


def overrides(line: Line) -> dict[str, Cell]:
    """Configuration of a label that is nothing but overrides of the keys of a file: `nodes: 4`, or
    `model=t5_base trainer.devices=2`; nothing of what has other words.

    >>> said = overrides(Line(1, "`seq_length: 8192`, `nodes: 4`", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'seq_len': '8192', 'nodes': '4'}
    >>> {name: cell.text for name, cell in overrides(Line(1, "+ `max_seq_len: 64`", 1, {})).items()}
    {'seq_len': '64'}
    >>> overrides(Line(1, "`nodes: 4` failed", 1, {})), overrides(Line(1, "note: fast", 1, {}))
    ({}, {})
    """
    found: dict[str, Cell] = {}
    at = 0
    while at < len(line.text):
        each = _OVERRIDES.match(line.text, at)
        if each is None or not (_OF_CODE.search(line.text)):
            return {}
        at = each.end()
        if not ASIDE.search(each[1]):
            found |= _said(undotted(each[1]) or "", each[2], line, each.start(2))
    return found


def _ranks(line: Line) -> dict[str, Cell]:
    """Devices that a command of MPI counts, in all and on each node, by the ranks it starts."""
    if _STARTS_NO_TRAINING.search(line.text):
        return {}
    counts = {"gpus": _RANKS.search(line.text), "gpus_per_node": _RANKS_OF_EACH.search(line.text)}
    return {
        name: Cell(each[1], line.number, line.column + each.start(1))
        for name, each in counts.items() if each
    }  # fmt: skip


_ASKS = deferred(r"\s*(?:#?\s?PBS|\$?\s?qsub)\s(?:[^|;]*?\s)?-l\s*(?:select|nodes)=")


def asks(line: Line) -> bool:
    """Whether a line asks PBS for nodes, counted or not in a way that is understood."""
    return "-l" in line.text and _ASKS.match(line.text) is not None


def chunks(line: Line) -> dict[str, Cell]:
    """Nodes and the devices of each that PBS is asked for; nothing of nodes of several kinds."""
    asked = _CHUNKS.search(line.text)
    if asked is None:
        return {}
    nodes, each = (1, 2) if asked[1] else (3, 4)
    groups = {"nodes": nodes, "gpus_per_node": each}
    return {
        name: Cell(asked[group], line.number, line.column + asked.start(group))
        for name, group in groups.items() if asked[group]
    }  # fmt: skip


def _options(line: Line) -> dict[str, Cell]:
    found: dict[str, Cell] = {}
    for option in _OPTION.finditer(line.text):
        group = next((n for n in (2, 3, 4) if option[n] is not None), 0)
        at = option.start(group or 1)
        if ASIDE.search(option[1]) or not option[0].startswith("--"):
            continue
        if _LEFT_OUT.search(line.text[max(0, option.start() - LONGEST_VERB) : option.start()]):
            continue
        key = undotted(option[1]) or ""
        if gres := _GRES.match(option[0]):
            found["gpus_per_node"] = Cell(gres[1], line.number, line.column + option.start())
        elif (switch := _switch(key)) and (not group or _IS_NEXT.match(option[0])):
            name, word = _as_much(line.text, option) or switch
            found[name] = Cell(word, line.number, line.column + at)
        elif group and normalise(key) not in LEFT_OPEN:
            found |= _said(key, option[group], line, at)
    return found


def _said(key: str, text: str, line: Line, at: int) -> dict[str, Cell]:
    """A value of a command: whole numbers, words of the fields that are words, variables."""
    name = known(key)
    if name and fields(Configuration)[name].dtype.is_integer():
        digits = text.removesuffix(",").rstrip(")'\"`").strip("'\"")
        if name == "accumulation":  # a list of one value for all epochs: `'[8]'`
            digits = digits.removeprefix("[").removesuffix("]")
        if "$" in digits:
            return {name: Cell(digits, line.number, line.column + at, state="unknown")}
        return said(key, digits, line, at) if re.fullmatch(r"[0-9][0-9_]*(?:\.0)?", digits) else {}
    return {} if "$" in text else said(key, text.rstrip(").,;'\"`"), line, at)


def assigned(line: Line) -> dict[str, Cell]:
    """Variables of a shell, or keys that others may quote, with the values a line gives them.

    >>> said = assigned(Line(1, "export TP=8; PP=2", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'TP': '8', 'PP': '2'}
    >>> [*assigned(Line(1, "It has `NLAYERS=48, NHEADS=32`, as before.", 1, {}))]
    ['NLAYERS', 'NHEADS']
    """
    keyed = _KEYED.fullmatch(line.text)
    return {
        found[1]: Cell(found[2], line.number, line.column + found.start(2))
        for found in [*_ASSIGNED.finditer(line.text), *([keyed] if keyed else [])]
    }


def resolved(said: Mapping[str, Cell], variables: Mapping[str, Cell]) -> dict[str, Cell]:
    """Cells with the values of variables that lines above have given them.

    A variable that nothing above gives a value stays unknown.
    """
    found = dict(said)
    for name, cell in said.items():
        used = _USED.fullmatch(cell.text) if cell.state == "unknown" else None
        given = variables.get(used[1] or used[2]) if used else None
        if given is not None:
            place = Line(given.line, "", given.column, {})
            value = cell_of(fields(Configuration)[name], given.text, place)
            found[name] = value or cell
    return found


def composed_name(line: Line) -> dict[str, Cell]:
    """Configuration in a name put together of values, if enough of its parts are known.

    >>> said = composed_name(Line(1, "out/m-ws64-nl12-hs2048-tp1/events", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'gpus': '64', 'layers': '12', 'hidden': '2048', 'tp': '1'}
    """
    for name in _NAME.finditer(line.text):
        parts = list(_PART.finditer(name[0]))
        told = {
            PARTS[part[1]]: Cell(part[2], line.number, line.column + name.start() + part.start(2))
            for part in parts
        }
        if len(told) >= FEWEST and len(told) == len(parts):
            return told | _format(name[0], line, name.start())
    return {}


def _format(name: str, line: Line, at: int) -> dict[str, Cell]:
    """The number format among the parts of a name, if there is one."""
    found = list(_FORMAT.finditer(name))
    if len(found) != 1:
        return {}
    return {"dtype": Cell(found[0][0], line.number, line.column + at + found[0].start())}
