"""The work of an operator of a framework, from its name and the dimensions of its inputs.

In: an operator's name with what its event says of its inputs. Out: a `Work`: a matrix product, an
attention call, a message or a stream of bytes, in the columns that kernel models ask for; or why
its shape is not known. Signatures are those of PyTorch's native functions (native_functions.yaml,
1.8 to 2.9) and of the flash-attn package; the place of an argument is all that is taken from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

KINDS = ("gemm", "attention", "collective", "pointwise")
"""Kinds of work that kernel models predict."""


class Tensor(NamedTuple):
    """An input: its dimensions, element type and, where recorded, strides in elements."""

    dims: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None

    @property
    def elements(self) -> int:
        """How many there are, expanded ones counted again."""
        return math.prod(self.dims)

    @property
    def bytes(self) -> int:
        """Bytes that are read of it: an expanded dimension is the same memory again."""
        if self.strides is None or len(self.strides) != len(self.dims):
            return self.elements * ITEMSIZES.get(self.dtype, 0)
        own = (size for size, step in zip(self.dims, self.strides, strict=True) if step)
        return math.prod(own) * ITEMSIZES.get(self.dtype, 0)


Argument = Tensor | tuple[Tensor, ...] | None
"""A tensor, a list of tensors, or something else."""


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call, and the values of those that are no tensors, as text."""

    arguments: Sequence[Argument]
    values: Sequence[str] = ()

    def tensor(self, at: int) -> Tensor | None:
        """The tensor at a place; None where there is none or nothing is known of it."""
        found = self.arguments[at] if 0 <= at < len(self.arguments) else None
        return found if isinstance(found, Tensor) else None

    def value(self, at: int) -> str:
        """The value at a place, empty where it was not recorded."""
        return self.values[at].strip() if 0 <= at < len(self.values) else ""

    def tensors(self) -> list[Tensor]:
        """Every tensor, those in lists too."""
        found: list[Tensor] = []
        for each in self.arguments:
            if isinstance(each, Tensor):
                found.append(each)
            elif each:
                found += each
        return found


@dataclass(frozen=True)
class Work:
    """The work of a call: `kind` is one of `KINDS`, `shape` in the columns of its frame.

    Without a shape `reason` says why it is not known.
    """

    kind: str
    dtype: str | None = None
    shape: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


ITEMSIZES = {
    "fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int64": 8,
    "int32": 4, "int16": 2, "uint8": 1, "bool": 1, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes of an element."""

_TYPES = {
    "double": "fp64", "float": "fp32", "c10::half": "fp16", "half": "fp16",
    "c10::bfloat16": "bf16", "bfloat16": "bf16", "long int": "int64", "long": "int64",
    "long long": "int64", "int": "int32", "short": "int16", "short int": "int16",
    "signed char": "int8", "char": "int8", "unsigned char": "uint8", "byte": "uint8",
    "bool": "bool", "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "int8": "int8", "int64": "int64",
    "int32": "int32", "uint8": "uint8",
}  # fmt: skip
"""Element types as C++ and the collectives' records spell them."""


def element(text: str) -> str:
    """The canonical name of an element type; empty for what is none (`Scalar`, a list).

    >>> element("c10::BFloat16"), element("c10::Float8_e4m3fn"), element("Scalar")
    ('bf16', 'fp8', '')
    """
    plain = text.strip().lower()
    if "float8" in plain:
        return "fp8"
    return _TYPES.get(plain, "")


def inputs(dims: object, types: object, strides: object = None, values: object = None) -> Inputs:
    """The arguments from what an event says of them; what is malformed is nothing.

    >>> inputs([[4, 8], []], ["float", "Scalar"]).tensor(0)
    Tensor(dims=(4, 8), dtype='fp32', strides=None)
    """
    shapes = dims if isinstance(dims, list) else []
    names = types if isinstance(types, list) else []
    steps = strides if isinstance(strides, list) and len(strides) == len(shapes) else []
    found = [
        _argument(shape, names[at] if at < len(names) else "", steps[at] if steps else None)
        for at, shape in enumerate(shapes)
    ]
    said = [text if isinstance(text, str) else "" for text in values] if (
        isinstance(values, list)) else []  # fmt: skip
    return Inputs(found, said)


def _argument(shape: object, name: object, steps: object) -> Argument:
    if not isinstance(shape, list):
        return None
    if shape and all(isinstance(each, list) for each in shape):
        inner = name if isinstance(name, list) else []
        if isinstance(name, str):  # `TensorList` tells no types: those of the list are not known
            inner = [name] * len(shape)
        parts = [_argument(each, inner[at] if at < len(inner) else "", None)
                 for at, each in enumerate(shape)]  # fmt: skip
        return tuple(each for each in parts if isinstance(each, Tensor))
    kind = element(name) if isinstance(name, str) else ""
    listed = isinstance(name, str) and name in ("TensorList", "GenericList")
    if not kind and not listed:
        return None
    if not all(type(each) is int and each >= 0 for each in shape):
        return None
    counted = isinstance(steps, list) and all(type(each) is int for each in steps)
    return Tensor(tuple(shape), kind, tuple(cast(list[int], steps)) if counted else None)


PRODUCTS: dict[str, int] = {
    "aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::addmm_": 1, "aten::baddbmm": 1,
    "aten::baddbmm_": 1, "aten::_addmm_activation": 1, "aten::_int_mm": 0, "aten::_scaled_mm": 0,
    "aten::mv": 0, "aten::addmv": 1, "aten::addmv_": 1, "aten::dot": 0, "aten::vdot": 0,
    "aten::linear": 0, "aten::matmul": 0, "aten::addbmm": 1,
}  # fmt: skip
"""Where A stands among the arguments; B is behind it."""

_WEIGHTS = frozenset({"aten::linear"})
"""B is stored [n, k]."""


class Attends(NamedTuple):
    """Where an attention operator has its queries, keys and values, and how they lie.

    `heads_first`: [batch, heads, seq, head_dim], else [batch, seq, heads, head_dim]. `causal` is
    the place of its flag, or of a mask type where 1 is causal; `lengths` that of the offsets of
    sequences that are laid behind each other.
    """

    query: int
    heads_first: bool
    causal: int
    lengths: int | None = None


ATTENTION: dict[str, Attends] = {
    "aten::_flash_attention_forward": Attends(0, False, 8, 3),
    "aten::_flash_attention_backward": Attends(1, False, 11, 6),
    "aten::_efficient_attention_forward": Attends(0, False, 9, 4),
    "aten::_efficient_attention_backward": Attends(1, False, 14, 6),
    "aten::_cudnn_attention_forward": Attends(0, True, 10, 4),
    "aten::_cudnn_attention_backward": Attends(1, True, 14, 9),
    "aten::_scaled_dot_product_cudnn_attention": Attends(0, True, 6),
    "aten::_scaled_dot_product_cudnn_attention_backward": Attends(1, True, 14, 9),
    "aten::_scaled_dot_product_flash_attention": Attends(0, True, 4),
    "aten::_scaled_dot_product_flash_attention_backward": Attends(1, True, 11, 6),
    "aten::_scaled_dot_product_efficient_attention": Attends(0, True, 6),
    "flash_attn::_flash_attn_forward": Attends(0, False, 5),
    "flash_attn::_flash_attn_backward": Attends(1, False, 11),
    "flash_attn::_flash_attn_varlen_forward": Attends(0, False, 9, 3),
    "flash_attn::_flash_attn_varlen_backward": Attends(1, False, 15, 9),
}

_UNARY = (
    "abs ceil clamp clamp_max clamp_min clone cos cosh div elu erf exp exp2 expm1 floor gelu "
    "hardswish hardtanh leaky_relu log log10 log1p log2 logit mish neg reciprocal relu round "
    "rsqrt sigmoid sign silu sin sinh softplus sqrt square tan tanh trunc contiguous "
    "logical_not bitwise_not add sub rsub mul pow maximum minimum fmod remainder atan2 lerp "
    "addcmul addcdiv where masked_fill threshold threshold_backward gelu_backward "
    "silu_backward sigmoid_backward tanh_backward hardswish_backward leaky_relu_backward "
    "native_dropout_backward _masked_scale _softmax _log_softmax _softmax_backward_data "
    "_log_softmax_backward_data tril triu cumsum flip roll masked_scatter _to_copy "
)
_TESTS = (
    "eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_xor bitwise_and "
    "bitwise_or bitwise_xor "
)
_REDUCTIONS = (
    "sum mean max min amax amin all any norm linalg_vector_norm var std var_mean prod argmax "
    "argmin logsumexp nansum count_nonzero "
)
_NORMS = (
    "native_layer_norm _fused_rms_norm rms_norm native_group_norm native_batch_norm "
    "cudnn_batch_norm miopen_batch_norm native_layer_norm_backward _fused_rms_norm_backward "
    "native_group_norm_backward "
)

STREAMED: dict[str, str] = {
    **dict.fromkeys((f"aten::{name}" for name in _UNARY.split()), "elementwise"),
    **dict.fromkeys((f"aten::{name}" for name in _TESTS.split()), "test"),
    **dict.fromkeys((f"aten::{name}" for name in _REDUCTIONS.split()), "reduction"),
    **dict.fromkeys((f"aten::{name}" for name in _NORMS.split()), "norm"),
    "aten::copy_": "copy", "aten::fill_": "fill", "aten::zero_": "fill",
    "aten::normal_": "fill", "aten::uniform_": "fill", "aten::bernoulli_": "fill",
    "aten::native_dropout": "dropout", "aten::cat": "gather",
    "aten::embedding": "lookup", "aten::index_select": "selection",
}  # fmt: skip
"""How the bytes of operators that only move memory are counted; the rules are in `_streamed`."""


def work(name: str, given: Inputs) -> Work | None:
    """The work of an operator; None where its name says nothing of the kind.

    >>> work("aten::mm", inputs([[4, 8], [8, 2]], ["float", "float"])).shape
    {'b': 1, 'm': 4, 'n': 2, 'k': 8, 'layout': None}
    """
    if name in PRODUCTS:
        return _product(name, given)
    if name in ATTENTION:
        return _attention(name, given)
    plain = name.removesuffix("_") if name.removesuffix("_") in STREAMED else name
    if plain in STREAMED:
        return _streamed(STREAMED.get(name, STREAMED[plain]), given, into=name != plain)
    if re.match(r"triton_(poi|red|per)_fused", name):
        return _fused(given)
    return None


def _product(name: str, given: Inputs) -> Work:
    at = PRODUCTS[name]
    a, b = given.tensor(at), given.tensor(at + 1)
    if a is None or b is None:
        return Work("gemm", reason="the dimensions of its operands were not recorded")
    if a.dtype != b.dtype:
        return Work("gemm", reason=f"multiplies {a.dtype} by {b.dtype}")
    sizes = _sizes(name, a.dims, b.dims)
    if sizes is None:
        return Work("gemm", a.dtype, reason="its operands do not fit each other")
    if 0 in sizes:
        return Work("gemm", a.dtype, reason="an operand is empty")
    layout = _layout(a) + _layout(b, turned=name in _WEIGHTS)
    shape = dict(zip("bmnk", sizes, strict=True), layout=layout if len(layout) == 2 else None)
    return Work("gemm", a.dtype, shape)


def _sizes(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, int, int, int] | None:
    """b, m, n, k; None where the operands do not fit."""
    if name in _WEIGHTS:
        fits = len(b) == 2 and len(a) >= 1 and a[-1] == b[1]
        return (1, math.prod(a[:-1]), b[0], b[1]) if fits else None
    if len(a) == len(b) == 1:
        return (1, 1, 1, a[0]) if a == b else None
    if len(b) == 1:
        return (1, math.prod(a[:-1]), 1, b[0]) if a[-1] == b[0] else None
    if len(a) < 2 or a[-1] != b[-2]:
        return None
    if len(b) == 2:
        return (1, math.prod(a[:-1]), b[-1], b[-2])
    if a[:-2] != b[:-2]:
        return None
    count = math.prod(a[:-2])
    if name == "aten::addbmm":  # the products are summed
        return (1, a[-2], b[-1], count * a[-1])
    return (count, a[-2], b[-1], a[-1])


def _layout(operand: Tensor, *, turned: bool = False) -> str:
    """`n` where rows lie together, `t` where columns do; empty where that was not recorded."""
    steps = operand.strides
    if steps is None or len(steps) != len(operand.dims) or not steps:
        return ""
    rows = steps[-1] == 1 or len(steps) == 1
    if not rows and steps[-2] != 1:
        return "n" if operand.dims[-1] == 1 else "t" if operand.dims[-2] == 1 else ""
    return "n" if rows != turned else "t"


def _attention(name: str, given: Inputs) -> Work:
    place = ATTENTION[name]
    q, k, v = (given.tensor(place.query + at) for at in range(3))
    if q is None or k is None or v is None:
        return Work("attention", reason="the dimensions of its inputs were not recorded")
    lengths = None if place.lengths is None else given.tensor(place.lengths)
    if lengths is not None and lengths.elements:
        return Work("attention", q.dtype, reason="lengths of its sequences were not recorded")
    if not len(q.dims) == len(k.dims) == len(v.dims) == 4:
        return Work("attention", q.dtype, reason="its inputs are not laid out as one batch")
    seq, heads = (2, 1) if place.heads_first else (1, 2)
    flag = given.value(place.causal)
    causal = {"True": True, "False": False, "1": True, "0": False, "2": False}.get(flag)
    if causal is None:
        return Work("attention", q.dtype, reason="whether it is causal was not recorded")
    if 0 in q.dims or 0 in k.dims:
        return Work("attention", q.dtype, reason="an input is empty")
    shape = {
        "batch": q.dims[0], "seq": q.dims[seq], "kv_seq": k.dims[seq], "heads": q.dims[heads],
        "kv_heads": k.dims[heads], "head_dim": q.dims[3], "causal": causal,
        "direction": "backward" if name.endswith("_backward") else "forward",
    }  # fmt: skip
    return Work("attention", q.dtype, shape)


def _streamed(rule: str, given: Inputs, *, into: bool) -> Work:
    """Bytes that an operator reads and writes; `into` where it writes into its first input."""
    tensors = given.tensors()
    known = [one for one in tensors if one.dtype]
    if not known or len(known) < len(tensors):
        return Work("pointwise", reason="types or dimensions of its inputs were not recorded")
    first = known[0]
    size = _moved(rule, given, known, into=into)
    if size is None:
        return Work("pointwise", first.dtype, reason="an argument was not recorded")
    if not size:
        return Work("pointwise", first.dtype, reason="an input is empty")
    return Work("pointwise", first.dtype, {"bytes": size})


def _moved(rule: str, given: Inputs, known: list[Tensor], *, into: bool) -> int | None:
    first, width = known[0], ITEMSIZES[known[0].dtype]
    read = sum(one.bytes for one in known)
    if rule in ("elementwise", "test"):
        if into:
            return read + first.elements * width
        shaped = [one for one in known if one.dims] or known  # a number does not widen a tensor
        widest = max(ITEMSIZES[one.dtype] for one in shaped)
        return read + _broadcast(known) * (1 if rule == "test" else widest)
    if rule == "copy":  # into the first from the second
        return first.elements * width + (known[1].bytes if len(known) > 1 else 0)
    if rule == "fill":
        return first.elements * width
    if rule == "reduction":
        return read
    if rule == "norm":
        return read + first.elements * width
    if rule == "dropout":
        return read + first.elements * (width + 1)
    if rule == "gather":
        return 2 * read
    if rule == "lookup":  # rows of a table by their numbers
        table, rows = given.tensor(0), given.tensor(1)
        if table is None or rows is None or len(table.dims) != 2:
            return None
        return rows.bytes + 2 * rows.elements * table.dims[1] * ITEMSIZES[table.dtype]
    table, rows, text = given.tensor(0), given.tensor(2), given.value(1)
    if table is None or rows is None or not re.fullmatch("-?[0-9]{1,2}", text):
        return None
    along = int(text)
    if not -len(table.dims) <= along < len(table.dims) or not table.dims[along]:
        return None
    out = table.elements // table.dims[along] * rows.elements
    return rows.bytes + 2 * out * ITEMSIZES[table.dtype]


def _broadcast(tensors: Sequence[Tensor]) -> int:
    """Elements of what comes out of operands that are stretched to each other."""
    rank = max(len(one.dims) for one in tensors)
    padded = [(1,) * (rank - len(one.dims)) + one.dims for one in tensors]
    return math.prod(0 if 0 in sizes else max(sizes) for sizes in zip(*padded, strict=True))


def _fused(given: Inputs) -> Work:
    """A compiled kernel that streams: its arguments are the tensors that it reads and writes."""
    known = [one for one in given.tensors() if one.dtype and one.dims]
    if not known:
        return Work("pointwise", reason="types or dimensions of its inputs were not recorded")
    size = sum(one.bytes for one in known)
    return Work("pointwise", known[0].dtype, {"bytes": size} if size else {},
                reason="" if size else "an input is empty")  # fmt: skip


_NAMES = (
    ("collective", re.compile(r"(?i)[nrh]ccl|hcom_|mscclpp|all[-_]?reduce|all[-_]?gather"
                              r"|reduce[-_]?scatter|all[-_]?to[-_]?all")),
    ("attention", re.compile(r"(?i)flash|fmha|attention|(?<![a-z])attn|cudnn.*sdpa|paged_kv")),
    ("gemm", re.compile(r"(?i)gemm|gemv|^Cijk_|nvjet|splitk_?reduce|cutlass.*(tensorop|simt)"
                        r"|triton_tem_fused.*mm|matmul")),
    ("pointwise", re.compile(r"(?i)elementwise|reduce_kernel|softmax|layer_?norm|rms_?norm|triton_"
                             r"|dropout|catarray|indexselect|embedding|fill|copy|scatter|gather")),
)  # fmt: skip


def kind_by_name(kernel: str) -> str:
    """The kind of a kernel by its name alone; `other` where the name tells nothing.

    >>> kind_by_name("sm90_xmma_gemm_bf16bf16"), kind_by_name("ncclDevKernel_AllReduce_Sum_f32")
    ('gemm', 'collective')
    """
    return next((kind for kind, names in _NAMES if names.search(kernel)), "other")


_REDUCED = re.compile(r"(?i)tf32|s1688|xf32|nvjet")


def computed_in(dtype: str | None, kernel: str) -> str | None:
    """The number format a product ran in: fp32 operands may be multiplied as tf32.

    The library names such kernels after it, or after the tensor cores' instruction.

    >>> computed_in("fp32", "cutlass_80_tensorop_s1688gemm_128x128"), computed_in("bf16", "x_s1688")
    ('tf32', 'bf16')
    """
    return "tf32" if dtype == "fp32" and _REDUCED.search(kernel) else dtype


COLLECTIVES = {
    "_allgather_base": "all_gather", "allgather_into_tensor_coalesced": "all_gather",
    "_all_gather_base": "all_gather", "all_gather_into_tensor": "all_gather",
    "_reduce_scatter_base": "reduce_scatter", "reduce_scatter_tensor": "reduce_scatter",
    "reduce_scatter_tensor_coalesced": "reduce_scatter", "allreduce_coalesced": "all_reduce",
    "alltoall_base": "all_to_all", "all_to_allv": "all_to_all", "all_to_all_single": "all_to_all",
    "send": "p2p", "recv": "p2p", "isend": "p2p", "irecv": "p2p",
    "allreduce": "all_reduce", "allgather": "all_gather", "all_gather": "all_gather",
    "alltoall": "all_to_all", "all_to_all": "all_to_all", "reduce_scatter": "reduce_scatter",
    "all_reduce": "all_reduce", "allgather_coalesced": "all_gather", "all_to_all_base":
    "all_to_all", "reducescatter": "reduce_scatter", "sendrecv": "p2p",
}  # fmt: skip
"""Collectives as process groups record them."""


def message(said: dict[str, Any]) -> Work:
    """A communication call from what its record says: name, elements in and out, type, group.

    The size is that of the whole message: what every rank holds after an all-gather, before a
    reduce-scatter, on both sides of an all-reduce.
    """
    name = said.get("Collective name")
    if not isinstance(name, str) or not name:
        return Work("collective", reason="its record was not kept")
    op = COLLECTIVES.get(name.strip().lower().removeprefix("nccl:"), name.strip().lower())
    dtype = element(str(said.get("dtype", "")))
    sizes = [said.get("In msg nelems"), said.get("Out msg nelems")]
    counts = [each for each in sizes if type(each) is int and each > 0]
    ranks = said.get("Group size")
    if not counts or not dtype or type(ranks) is not int or ranks < 1:
        return Work("collective", dtype or None,
                    reason="size, type or group of its message was not recorded")  # fmt: skip
    elements = max(counts)
    group = said.get("Process Group Description") or said.get("Process Group Name")
    shape = {"op": op, "ranks": ranks, "elements": elements,
             "bytes": elements * ITEMSIZES[dtype],
             "group": str(group) if group is not None else None}  # fmt: skip
    return Work("collective", dtype, shape)
