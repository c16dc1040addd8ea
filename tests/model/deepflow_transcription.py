"""DeepFlow's formulas written down a second time, in another order and without our code.

Plain floats and one dictionary; names follow the formulas, not our modules.
"""

from __future__ import annotations

from math import ceil, floor, log2, sqrt

GIB = 1024.0**3


def tile(size: float, precision: int) -> int:
    return ceil(2.0 ** floor(log2(sqrt(size / (3 * precision))))) if size > 0 else 0


def triple(a: int, b: int, c: int, x: int) -> tuple[int, int, int]:
    if x == 0:
        return 1, 1, 1
    return (1 if b <= x else ceil(c / x)), 1, ceil(a / x)


def transcribe(c: dict) -> dict[tuple[str, str], float]:  # noqa: PLR0915 one page of formulas
    b, v, n_layers, d = c["batch"], c["vocabulary"], c["layers"], c["width"]
    p, s, el, gates = c["projection"], c["sequence"], c["precision"], c["gates"]
    adds, acts, o = c["adds"], c["non_linear"], c["launch_overhead"]
    th = 0.7 * c["tdp"] * c["core"] / c["flop_energy"]
    bw = 0.7 * c["tdp"] * c["dram"] / c["dram_energy"]
    l2_bw = c["tdp"] * c["l2"] / c["l2_energy"]
    sm_bw = c["tdp"] * c["shared"] / c["shared_energy"]
    l2_size = l2_bw * c["l2_bank_capacity"] / c["l2_bank_bandwidth"]
    sm_size = sm_bw * c["shared_bank_capacity"] / c["shared_bank_bandwidth"]
    x1, x2 = tile(l2_size, el), tile(sm_size, el)
    out: dict[tuple[str, str], float] = {
        ("", "peak_flops"): th / 0.7,
        ("", "memory_bandwidth"): bw / 0.7,
        ("", "memory_size"): bw / 0.7 / c["stack_bandwidth"] * c["stack_capacity"],
        ("", "l2_bandwidth"): l2_bw,
        ("", "l2_size"): l2_size,
        ("", "shared_memory_size"): sm_size,
    }

    def line(flop: float, mem: float, l2: float = 0.0) -> float:
        if flop / mem >= th / bw:
            return flop / th
        return mem / bw + 5e-8 + (l2 / l2_bw if l2_bw else 0)

    def gemm(name: str, i: int, j: int, k: int) -> float:
        seconds = []
        for t, (x, y, z) in (("", (i, j, k)), ("_t", (k, j, i))):
            flop = 2.0 * x * y * z + x * z * (15 + 5 * ceil(y / x2))
            traffic = []
            for level, edge in (("gmem", x1), ("l2mem", x2)):
                r = triple(x, y, z, edge)
                for operand, times in zip(("ab", "ac", "bc"), r, strict=True):
                    turned = " transposed" if t else ""
                    out[f"{name} {level}{turned}", f"reload_{operand}"] = times
                traffic.append((x * y * r[0] + x * z * r[1] + y * z * r[2]) * el)
                if not t:
                    out[name, f"{level}_bytes"] = traffic[-1]
            if not t:
                out[name, "flop"] = flop
            out[name, "intensity" + t] = flop / traffic[0]
            out[name, "inflection" + t] = th / bw
            seconds.append(line(flop, *traffic) + o)
        out[name, "time"] = min(seconds)
        return out[name, "time"]

    def point(name: str, flop: float, mem: float, launches: int) -> float:
        out[name, "flop"], out[name, "bytes"] = floor(flop), floor(mem)
        out[name, "intensity"] = flop / mem
        out[name, "time"] = line(flop, mem) + launches * o
        return out[name, "time"]

    weight = 2 * d * gates * d
    cf = gemm("Cf", b, 2 * d, gates * d)
    cf += point("hidden_forward", (adds + acts) * b * d, el * b * d * (3 * adds + 2 * acts), 15)
    cb = gemm("Cb_act", b, gates * d, 2 * d) + gemm("Cb_wt", 2 * d, b, gates * d)
    cb += point(
        "hidden_backward",
        (adds + acts) * b * d / gates + weight,
        el * b * d * (3 * adds + 2 * acts) / gates + 3 * weight,
        15,
    )
    sf = gemm("softmax_f", b * s, d, v)
    sf += point("softmax_forward", b * s * (3 * v - 1), el * b * s * 7 * v, 4)
    sb = gemm("softmax_b_wt", d, b * s, v) + gemm("softmax_b_act", b * s, v, d)
    sb += point("softmax_backward", 5 * b * s * v, el * 11 * b * s * v, 4)
    pf = gemm("projection", b * s, d, p)
    pb = gemm("projection_b_wt", p, b * s, d) + gemm("projection_b_act", b * s, p, d)
    grad = {}
    for name, size in (("hidden", weight), ("projection", d * p), ("softmax", d * v)):
        grad[name] = point(f"apply_grad_{name}", 3 * size, 7 * el * size, 0)
        grad[name] += point(f"gradclip_{name}", 4 * size, 3 * el * size, 0)
    embedding = 2 * b * d * s * el / bw + 5e-8 + o
    cells = n_layers * s
    step = sf + sb + 2 * embedding + grad["softmax"] + cells * cf
    if cb >= grad["hidden"]:
        step += cells * cb + grad["hidden"]
    else:
        step += (cells - n_layers + 1) * cb + n_layers * grad["hidden"]
    for name, seconds in (
        ("Cf", cf), ("Cb", cb), ("R", grad["hidden"]), ("softmax_f", sf), ("softmax_b", sb),
        ("projection_f", pf), ("projection_b", pb),
        ("embedding_f", embedding), ("embedding_b", embedding),
    ):  # fmt: skip
        out["part " + name, "time"] = seconds
    held = {
        "embedding": b * s * d + v * d,
        "hidden": b * 2 * d * s * n_layers
        + (2 * d + 1) * gates * d * n_layers
        + 9 * b * d * n_layers * s,
        "softmax": b * s * v + (p + 1) * v + 2 * b * s * v + b * s,
        "projection": 2 * b * s * p + (d + 1) * p,
    }
    for name, elements in held.items():
        out[name, "memory"] = elements * el
    total = sum(held.values()) * el
    out["total", "memory"] = total
    out["", "memory_overflow"] = total / out["", "memory_size"]
    out["", "parameters"] = 2 * v * d + v + (2 * d + 1) * gates * d * n_layers + d * p
    out["", "step_time"] = step
    return out
