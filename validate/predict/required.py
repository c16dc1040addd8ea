"""Fields that a prediction needs of a log, and their names in each framework.

`python -m assay.validate.predict.required > docs/configuration.md` writes the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.vocabulary.frameworks import FRAMEWORKS, printed_as
from assay.model.transformer.training_run import NEEDED
from assay.validate.cases.rules import RULES
from assay.validate.cases.step_cases import ASSUMED
from assay.validate.cases.unsaid import RULES as UNSAID
from assay.validate.predict.models import MFU_NEEDS, STEP_NEEDS

COLUMNS = (
    *dict.fromkeys((*STEP_NEEDS, *MFU_NEEDS, *NEEDED)),
    "accumulation", "zero_stage", "kv_heads", "ffn_hidden", "cp", "ep", "vp", "gated", "attention",
    "sequence_parallel", "experts", "nodes", "gpus_per_node",
)  # fmt: skip

ELSEWHERE = {
    "machine": "nvidia-smi's table, `nvidia-smi -L`; else `--machine NAME`",
    "gpus": "`using world size: N`",
    "dp": "`using world size: …, data-parallel-size: N`",
    "tp": "`using world size: …, tensor-model-parallel size: N`",
    "pp": "`using world size: …, pipeline-model-parallel size: N`",
    "cp": "`using world size: …, context-parallel size: N`",
    "vocab": "`> padded vocab (size: …) with … dummy tokens (new size: N)`",
    "dtype": "`using torch.bfloat16 for parameters`",
    "accumulation": "`setting number of micro-batches to constant N`",
    "global_batch": "`global batch size: N` in every training line",
}
"""Lines beside the dumps that say a column."""

HEAD = """\
# What a prediction needs of a log

A job log is predicted from itself: from the dump of its arguments and the lines around it. What the
first columns of this table say must be there, printed or solved; what is not is named by the
report (`needs seq_len`), and can be stated in a file `NAME.toml` beside `NAME.log`:

```toml
[configuration]
seq_len = 2048
```

"""


def hint(column: str) -> str:
    """One sentence on who prints a column.

    >>> hint("seq_len")
    'seq_len (sequence length s): Megatron, GPT-NeoX `seq_length`, NeMo `encoder_seq_length`'
    """
    said: dict[str, list[str]] = {}
    for framework in FRAMEWORKS:
        names = printed_as(framework, column)
        if names:
            said.setdefault(names[0], []).append(framework)
    where = [f"{', '.join(frameworks)} `{name}`" for name, frameworks in said.items()]
    if column in ELSEWHERE:
        where.append(ELSEWHERE[column])
    return f"{column} ({_meaning(column)}): {', '.join(where) or 'printed by no framework'}"


def hints(columns: Iterable[str]) -> list[str]:
    """Hints for several columns, in the order of the page."""
    wanted = set(columns)
    return [hint(column) for column in COLUMNS if column in wanted]


def _meaning(column: str) -> str:
    return "device" if column == "machine" else fields(Configuration)[column].meaning


def page() -> str:
    """The whole page."""
    frameworks = tuple(FRAMEWORKS)
    heads = ["column", "meaning", "needed by", *frameworks, "or a line"]
    lines = [HEAD + _row(heads), _row(["---"] * len(heads))]
    for column in COLUMNS:
        users = [
            name for name, needs in
            (("step", STEP_NEEDS), ("constant_mfu", MFU_NEEDS), ("roofline", NEEDED))
            if column in needs
        ]  # fmt: skip
        printed = [", ".join(f"`{n}`" for n in printed_as(f, column)) for f in frameworks]
        lines.append(
            _row([f"`{column}`", _meaning(column), ", ".join(users), *printed,
                  ELSEWHERE.get(column, "")])
        )  # fmt: skip
    rules = dict.fromkeys((rule.name, rule.law, rule.value_origin) for rule in RULES)
    lines += ["", "Where nothing says a column, these say it, in this order:", ""]
    lines += [f"- `{name}`: {law} ({origin})" for name, law, origin in rules]
    lines += ["", "And for a prediction alone, after all arithmetic was checked without them:", ""]
    lines += [f"- `{rule.name}`: {rule.law} ({rule.value_origin})" for rule in UNSAID]
    lines += ["", "What the step model assumes where a log is silent:", ""]
    lines += [f"- {text}" for text in ASSUMED]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
