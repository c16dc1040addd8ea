"""Training programs by the names and versions that documents print.

In: a text, be it a title, a cell, a line of prose, the name of a container's image or a command.
Out: the one program it names, with its version, in one spelling (`nemo 24.07`), or None. What a
program does in a step is none of this module's business (`assay.model.machines.software`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cache
from typing import NamedTuple

from assay.ingest.expressions.compiled import compiled

_IN_VERSION = r"(?=[`*]{0,2}(?: |[@=]{1,2})v?[0-9])"
"""Behind a name that is a word as well: its version."""

SPELLED = {
    "automodel": r"(?:NeMo[ -]?)?Auto-?Model",
    "nemo": r"NeMo|NEMO|(?<!Mistral )Nemo|nemo(?= (?:container|framework))",
    "megatron-bridge": r"Megatron[ -]Bridge|MBridge",
    "megatron-deepspeed": r"[Mm]egatron-[Dd]eep[Ss]peed",
    "megatron-core": r"Megatron[ -][Cc]ore|MCore|Megatron-LM core|megatron-core",
    "megatron-lm": r"Megatron(?:-?LM)?(?![ -]?[0-9.]+ ?[BMT])|megatron-lm",
    "mindspeed": r"MindSpeed(?:-LLM)?|ModelLink",
    "primus": r"Primus",
    "gpt-neox": r"GPT-NeoX|gpt-neox(?![-\w])",
    "torchtitan": r"[Tt]orch[Tt]itan",
    "torchtune": r"[Tt]orch[Tt]une",
    "litgpt": r"Lit-?GPT|litgpt",
    "olmo-core": r"OLMo-core",
    "llm-foundry": r"LLM[ -]?[Ff]oundry|llm-?foundry",
    "composer": rf"MosaicML (?:Composer|platform)|Composer{_IN_VERSION}",
    "llama-factory": rf"L[Ll][Aa][Mm][Aa][ -]?Factory|llama-?factory{_IN_VERSION}",
    "axolotl": r"[Aa]xolotl",
    "transformers": r"(?:Hugging ?Face(?:'s)?|HF|🤗) (?:[Tt]ransformers|`?Trainer(?=`?(?:\W|$)))"
    rf"|[Tt]ransformers{_IN_VERSION}",
    "internevo": r"Intern[Ee]vo|InternLM-Train",
    "colossalai": r"Colossal-?AI",
    "nanotron": r"[Nn]anotron",
    "axlearn": r"AXLearn",
    "maxtext": r"[Mm]ax[Tt]ext",
    "levanter": r"Levanter",
    "paxml": r"Pax[Mm][Ll]",
    "optimum-habana": r"Optimum[ -](?:for (?:Intel )?Gaudi|Habana)|optimum-habana",
    "pai-megatron-patch": r"P[Aa][Ii]-Megatron(?:-Patch)?",
    "unsloth": r"[Uu]nsloth",
    "ms-swift": r"(?:ms|MS)-[Ss]wift|ModelScope[ -]S[Ww][Ii][Ff][Tt]",
    "xtuner": r"X[Tt]uner",
    "diffusers": rf"(?:Hugging ?Face(?:'s)? |HF |🤗 )?[Dd]iffusers{_IN_VERSION}",
    "timm": rf"timm(?:{_IN_VERSION}|(?= (?:pre)?train))|pytorch-image-models",
    "detectron2": r"[Dd]etectron2",
    "openclip": r"OpenCLIP(?!'s? | ?(?:\(?ViT|ResNet|RN[0-9]|(?:[\w-]{1,12} )?(?:models?|weights"
    r"|checkpoints?)))",
    "llama-recipes": r"[Ll]lama-(?:recipes|cookbook)",
    "sd-scripts": r"(?:kohya(?:[-_ ]ss)? )?sd-scripts|kohya_ss",
    "torchrec": r"TorchRec",
    "espnet": r"ESPnet2?",
    "fairscale": r"FairScale",
    "trl": rf"(?:Hugging ?Face )?TRL|trl{_IN_VERSION}",
    "lightning": rf"PyTorch Lightning|Lightning(?: Fabric)?{_IN_VERSION}",
    "accelerate": r"(?:Hugging ?Face(?:'s)?|HF|🤗|[Ww]ith|[Uu]sing) Accelerate"
    rf"|[Aa]ccelerate{_IN_VERSION}",
    "fairseq": r"[Ff]airseq2?(?:-py)?|FairSeq",
    "metaseq": r"[Mm]etaseq",
    "t5x": r"T5X|t5x",
    "easylm": r"EasyLM",
    "nanogpt": r"(?:modded-)?nano-?GPT|modded-nanogpt|nanogpt",
    "nanochat": r"nanochat",
    "llm.c": r"llm\.c",
    "mlx-lm": r"MLX-LM|mlx-lm|mlx_lm",
    "paddlenlp": r"Paddle(?:NLP|Former[s]?)",
    "paddlefleetx": r"PaddleFleetX",
    "mindformers": r"Mind[Ff]ormers|MindSpore Transformers",
    "flagscale": r"FlagScale",
    "vescale": r"veScale",
    "bmtrain": r"BMTrain",
    "alpa": rf"Alpa{_IN_VERSION}",
    "scaling": r"Aleph Alpha Scaling",
    "nxd": r"NeuronX Distributed|neuronx-distributed|NxD(?: Training)?",
    "horovod": r"[Hh]orovod",
    "deepspeed": r"Deep[Ss]peed",
    "fsdp": r"FSDP[12]?",
}
"""Programs as people write them; of names inside each other the longer ones first."""

IMAGES = (
    "nemo", "megatron-lm", "primus", "torchtitan", "torchtune", "maxtext", "llm-foundry", "axolotl",
)  # fmt: skip
"""Containers that are called like their program: `nvcr.io/nvidia/nemo:25.04`."""

COMMANDS = {
    "torchtitan": r"-m torchtitan[.\s]",
    "maxtext": r"-m [Mm]ax[Tt]ext[.\w]*train|MaxText/train",
    "litgpt": r"\blitgpt (?:pretrain|finetune)",
    "torchtune": r"\btune run\s",
    "llm-foundry": r"\bcomposer \S*train/train\.py",
    "axolotl": r"\baxolotl train\b|axolotl\.cli\.train",
    "llama-factory": r"\bllamafactory-cli train",
    "nemo": r"\bmegatron_gpt_pretraining\w*\.py|\bnemo llm pretrain",
    "megatron-lm": r"\bpretrain_gpt\.py",
    "xtuner": r"\bxtuner train\s",
    "ms-swift": r"(?<![\w./-])swift (?:sft|pt)\s",
    "trl": r"(?<![\w./-])trl sft\s",
    "openclip": r"-m open_clip_train\.main\b",
    "fairseq": r"\bfairseq-(?:hydra-)?train\s",
    "levanter": r"-m levanter\.main\.\w*train|levanter/main/train\w*\.py",
}
"""Programs by the commands that start them."""

VERSION = r"((?:20)?[0-9]{1,2}(?:\.[0-9]{1,2}){1,2})(?:\.?(?:rc|post|dev)[0-9]+|[_-]py[0-9]+|\.x+)?"

_VERSION = (
    r"(?:[ _-](?:[Ff]ramework|[Cc]ontainers?|[Ii]mage|[Rr]elease|[Vv]ersion|tag|library|codebase"
    r"|\([\w ]{3,12} fork\)))*"
    r"[\s:=@(`*\"'/-]{0,4}(?:(?:at|tag|branch|version|release)[\s:=`]{1,3})?"
    rf"(?:core[_ ])?[vVr]?{VERSION}(?![\w%]|\.[0-9])"
    r"(?! ?(?:[TPG]FLOP|[Tt]ok|s\b|ms\b|sec|h(?:ours)?\b|GB|GiB|[x×]|times|hours|days|[BMT]\b))"
)
"""A version behind a name, and no figure of its run."""

_BRANCH = "core_r"
"""Branches of Megatron-LM by the version of Megatron Core that is in them, which is not its own."""

_EACH = "|".join(f"(?P<p{at}>{pattern})" for at, pattern in enumerate(SPELLED.values()))

_NAME = rf"(?<![\w./@-])(?:{_EACH})(?![A-Za-z_]|[./-][A-Za-z_])"

_IMAGE = rf"(?<![\w.-])({'|'.join(IMAGES)}):v?{VERSION}(?![0-9])|:(maxtext)-v{VERSION}(?![0-9])"

_LIBRARY = rf"\bPy[Tt]orch (?:version )?v?{VERSION}(?![\w%]|\.[0-9])"
"""The version of PyTorch, whose own sharding has none."""

_COMMAND = "|".join(f"(?P<c{at}>{each})" for at, each in enumerate(COMMANDS.values()))

ABOVE = {
    "automodel": {"nemo", "transformers", "fsdp"}, "llm-foundry": {"composer", "fsdp"},
    "nemo": {"megatron-lm", "megatron-core", "megatron-bridge", "fsdp"},
    "megatron-bridge": {"megatron-lm", "megatron-core", "nemo"},
    "primus": {"megatron-lm", "megatron-core"}, "mindspeed": {"megatron-lm", "megatron-core"},
    "megatron-core": {"megatron-lm"}, "megatron-deepspeed": {"megatron-lm", "deepspeed"},
    "axolotl": {"transformers", "deepspeed", "fsdp"}, "torchtune": {"fsdp"},
    "llama-factory": {"transformers", "deepspeed", "fsdp"},
    "gpt-neox": {"megatron-lm", "deepspeed"},
    "transformers": {"deepspeed", "fsdp"}, "composer": {"fsdp"}, "torchtitan": {"fsdp"},
    "trl": {"transformers", "deepspeed", "fsdp", "accelerate"}, "ms-swift": {"transformers", "trl"},
    "accelerate": {"deepspeed", "fsdp"}, "lightning": {"deepspeed", "fsdp"},
    "unsloth": {"transformers", "trl"}, "xtuner": {"transformers", "deepspeed", "fsdp"},
    "optimum-habana": {"transformers", "deepspeed"},
    "pai-megatron-patch": {"megatron-lm", "megatron-core"},
    "flagscale": {"megatron-lm", "megatron-core"}, "nxd": {"nemo"}, "nanogpt": {"fsdp"},
    "litgpt": {"fsdp"}, "olmo-core": {"fsdp"}, "nanotron": {"fsdp"},
    "diffusers": {"transformers", "accelerate", "deepspeed", "fsdp"},
}  # fmt: skip
"""Programs that are built on others: where both are named, it is the former that trained."""


_LIBRARIES = (
    r"(?:cray[-_ ])?mpich|(?:huggingface[-_ ])?hub|(?:nvidia |gpu |nv)?[-_ ]?drivers?"
    r"|(?:py)?torch(?:[-_ ](?:npu|xla|vision|audio|tpu|mlu|ao|data))?|[nrh]ccl|accelerate|aim"
    r"|aiter|almalinux|apex|apptainer|aws[-_ ]ofi[-_ ]\w+|beegfs|bios|bitsandbytes|bnb|cann"
    r"|centos|ck|clang|cmake|composer|conda|cpython|cublas\w*"
    r"|cuda(?: toolkit| version| driver)?|cudnn|cutlass|dali|dask|datasets|dcgm\w*|debian"
    r"|deepep|deeperspeed|deepgemm|deepspeed|docker|easybuild|efa|einops|enroot|fa[-_]?[23]?"
    r"|firmware|flash[-_ ]?att\w*|flax|g\+\+|gaudi \w+|gcc|git|glibc|gloo|gpfs|grafana"
    r"|grouped[-_ ]gemm|habana\w*|haiku|hip\w*|hugging face|huggingface|hydra|icc"
    r"|intel[-_ ]extension\w*|ipex|jax(?:lib)?|julia|k8s|keras|kernel|kubernetes|libfabric"
    r"|libtpu|liger\w*|lighteval|linux|llvm|lm[-_ ]?eval\w*|lustre|m?ofed|macos|megablocks"
    r"|mindspore|miniforge|miopen|mkl|mlflow|mlnx\w*|mosaicml[-_ ]streaming|mpi|musa"
    r"|mvapich\w*|ncu|neuron\w*|ninja|node|npm|nsight\w*|nsys|numpy|nvcc|nvidia[-_]smi|ofi\w*"
    r"|omegaconf|one ?api|oneccl|oneflow|onnx\w*|open ?mpi|openblas|opencompass|openmp|openxla"
    r"|optax|orbax|os|paddle(?:paddle)?|pandas|pathways|pbs|peft|pip|podman|poetry|poplar"
    r"|prometheus|pydantic|python|pyxis|ray|red hat\w*|rhel|rocky(?: linux)?|rocm|rocm[-_]smi"
    r"|safetensors|scipy|sentencepiece|sglang|sharp|singularity|sles|slurm|spack|spark"
    r"|streaming|suse|synapse\w*|te|tensorboard|tensorflow|tensorrt\w*|tf|tgi|tiktoken"
    r"|tokenizers|torch(?:vision|audio|ao|data)|transformer[-_ ]?engine|transformers|triton"
    r"|trt\w*|ubuntu|ucc|ucx|uv|vllm|wandb|webdataset|windows|wsl2?|xformers|xla"
)
"""Names that stand with versions beside programs that train, and are of none."""


OF_PROGRAMS = {
    "framework", "system", "library", "trainer", "software", "codebase", "program",
    "框架", "训练框架", "训练引擎", "フレームワーク", "ライブラリ", "프레임워크", "라이브러리",
    "bibliothek", "bibliothèque", "biblioteca", "фреймворк", "библиотека",
}  # fmt: skip
"""Labels of columns that name with what each row was trained."""

OF_IMPLEMENTATIONS = {"implementation", "impl", "engine", "code", "stack", "实现", "引擎"}
"""Labels of columns that may do so, or name a part of it: `PyTorch 2.3`, `eager`."""

PARTS = {"fsdp", "deepspeed", "accelerate", "transformers", "horovod"}
"""Programs that may as well be parts of another."""

OF_OTHERS = (
    r"start(?:s|ed|ing)? from|synchroni[sz]\w+|same (?:\w+ )?(?:settings?|set-?ups?|config\w*) "
    r"(?:with|as|of|like)|their (?:\w+ )?code(?:base)?"
)
"""Words beside which a program is what another was made of, or is set up like."""


NOT_TO_TRAIN = (
    r"\b(?:(?:only )?for (?:the )?(?:evaluation|evals?|tokeni[sz]\w+|inference|data|preprocess\w+)"
    r"|(?:evaluation|evals?|tokeni[sz]er|inference|preprocessing|data) only)\b"
)
"""A use of a program that is not the training."""


class Program(NamedTuple):
    """A program that a text names, and where; the version is empty where none stands beside."""

    name: str
    version: str
    at: int

    @property
    def text(self) -> str:
        """Its name and version in one spelling."""
        return f"{self.name} {self.version}".strip()


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return compiled(pattern, flags)


def is_library(name: str) -> bool:
    """Whether a name is of what programs that train are built of, or run beside.

    >>> is_library("torch"), is_library("NVIDIA driver"), is_library("torchtitan")
    (True, True, False)
    """
    return _compiled(_LIBRARIES, re.IGNORECASE).fullmatch(name) is not None


def program_named(text: str, *, any_case: bool = False) -> Program | None:
    """The program that a text names, if it is one.

    >>> program_named("NeMo 24.07 container").text, program_named("Megatron-Core v0.9.0").text
    ('nemo 24.07', 'megatron-core 0.9.0')
    >>> program_named("Megatron-LM core_r0.5.0").text, program_named("Megatron-LM v2.4").text
    ('megatron-lm core_r0.5.0', 'megatron-lm 2.4')
    >>> program_named("nvcr.io/nvidia/nemo:25.04.01").text, program_named("torchtitan, FSDP2").text
    ('nemo 25.04.01', 'torchtitan')
    >>> program_named("Megatron + DeepSpeed 3D").text, program_named("MaxText or Levanter")
    ('megatron-deepspeed', None)
    >>> program_named("GPT-NeoX-20B, DeepSpeed 0.10").text, program_named("GPT-NeoX 20B").text
    ('deepspeed 0.10', 'gpt-neox')
    """
    found = started(text) or _packed(text)
    for name in _compiled(_NAME, re.IGNORECASE if any_case else 0).finditer(text):
        spelled = list(SPELLED)[int((name.lastgroup or "p0")[1:])]
        if spelled == "gpt-neox" and _among_models(text, name):
            continue
        told = _compiled(_VERSION).match(text, name.end())
        version = told[1] if told else ""
        if told and text[: told.start(1)].endswith(_BRANCH):
            version = _BRANCH + version
        held = next((each for each in found if each.name == spelled), None)
        if held is None:
            found.append(Program(spelled, version, name.start()))
        elif version and not held.version:
            found[found.index(held)] = Program(spelled, version, name.start())
        elif version and version != held.version:
            return None
    if len(found) > 1 and _compiled(_SIZED).search(text):
        found = [each for each in found if each.name != "gpt-neox"]
    library = _compiled(_LIBRARY).search(text)
    if library and [(each.name, each.version) for each in found] == [("fsdp", "")]:
        return Program("pytorch", library[1], found[0].at)
    return the_one(found)


def _among_models(text: str, name: re.Match[str]) -> bool:
    """Whether a name that is of a program and of a model stands beside other models.

    >>> program_named("Llama 2 / GPT-NeoX examples"), program_named("trained with GPT-NeoX").name
    (None, 'gpt-neox')
    """
    before, behind = (_compiled(each) for each in (_MODEL_BEFORE, _MODEL_BEHIND))
    return bool(before.search(text, 0, name.start()) or behind.match(text, name.end()))


_MODEL = (
    r"(?:[Ll][Ll]a[Mm][Aa]|LLAMA|GPT-(?:2|3|J)|OPT|BLOOM|Bloom|Pythia|Falcon|Mi[sx]tral|Qwen|BERT|T5)"
    r"(?:[ -]?v?[0-9](?:\.[0-9])?)?(?:[ -][0-9.]{1,5}[BM])?"
)

_MODEL_BEFORE = rf"(?<![\w-]){_MODEL}(?: ?[,/&] ?| (?:and|or) |, (?:and|or) )$"

_MODEL_BEHIND = rf" models?\b|(?: ?[,/&] ?| (?:and|or) |, (?:and|or) ){_MODEL}(?![\w-])"

_SIZED = r"(?<![\w./-])GPT-NeoX[- ]20 ?B\b(?!.*(?i:\bGPT-NeoX(?![- ]20 ?B)))"
"""The model that has the name of the program that trained it first, by its size: beside the name of
another program it is none."""

_FRAMEWORK = (
    r"(?<![\w./-])(py[Tt]orch|PyTorch|[Tt]ensor[Ff]low|MXNet|JAX|jax)[ -]"
    r"([0-9]{2}\.[0-9]{2})(?:-(?:tf[12]-)?py3)?(?: NGC| NVIDIA| Docker)? (?:container|image)s?\b"
)
"""A container of a framework, with nothing above it, by its year and month."""


def frameworks(text: str) -> list[Program]:
    """The frameworks that a text names by their containers, with the versions of these.

    >>> [each.text for each in frameworks("in the pytorch-22.05-py3 NGC container")]
    ['pytorch 22.05']
    """
    found = _compiled(_FRAMEWORK).finditer(text)
    return [Program(each[1].casefold(), each[2], each.start()) for each in found]


def _packed(text: str) -> list[Program]:
    """Programs by the names of their containers."""
    return [
        Program(image[1] or image[3], image[2] or image[4], image.start(1 if image[1] else 3))
        for image in _compiled(_IMAGE).finditer(text)
    ]


_DEEPSPEED_FOLDER = r"(?i:megatron-deepspeed)[\w.-]*/(?:[\w.-]+/)*pretrain_gpt\.py"
"""The script of Megatron-LM in the folder of the program that is made of it."""


def started(text: str) -> list[Program]:
    """The program that a command starts, if it is one.

    >>> [each.name for each in started("python Megatron-DeepSpeed/pretrain_gpt.py --bf16")]
    ['megatron-deepspeed']
    """
    if (command := _compiled(_COMMAND).search(text)) is None:
        return []
    name = list(COMMANDS)[int((command.lastgroup or "c0")[1:])]
    if name == "megatron-lm" and (
        "--deepspeed" in text or _compiled(_DEEPSPEED_FOLDER).search(text)
    ):
        name = "megatron-deepspeed"
    return [Program(name, "", command.start())]


def starts(text: str) -> bool:
    """Whether a text is a command that starts a program, or names a program's container."""
    return (
        _compiled(_COMMAND).search(text) is not None or _compiled(_IMAGE).search(text) is not None
    )


def the_one(found: Sequence[Program]) -> Program | None:
    """The one of several programs that the others are parts of; None where there is none."""
    names = {each.name for each in found}
    if names == {"megatron-lm", "deepspeed"}:
        return Program("megatron-deepspeed", "", min(each.at for each in found))
    top = names - {under for name in names for under in _below(name, names)}
    return next(each for each in found if each.name in top) if len(top) == 1 else None


def is_below(name: str, other: str) -> bool:
    """Whether a program is one that another is built on, and is started like it."""
    return name in ABOVE.get(other, set())


def _below(name: str, names: Set[str]) -> Set[str]:
    return ABOVE.get(name, set()) & names
