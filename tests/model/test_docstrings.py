"""Public docstrings of the model give units or shapes, and the source of what they compute.

Asked of every public class, function and method of `model/` whose annotations hold numbers, arrays
or frames. Units and shapes stand in its own docstring: after `Units:`, `Shapes:` or `Columns:`, or
in the sentence itself, as one of the words of `UNITS`. A source stands after `Source:` (a paper,
code, a datasheet, docs/, or "definition"); that of a class or module speaks for all that is in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

MODEL = Path(__file__).parents[2] / "model"

NUMBERS = re.compile(
    r"\b(int|float|Fraction|Number|Floats|Columns|Mask|NDArray|ndarray|DataFrame|Series|Expr)\b"
)

UNITS = re.compile(
    r"""\b(Units|Shapes|Columns):
    | \[[^]\s][^]]*[,·×][^]]*\]                # a shape: [tokens, hidden]
    | \b(flops?|bytes?|seconds?|octaves|watts|elements|tokens|sequences|samples|parameters
      | layers|heads|ranks|GPUs|accelerators|micro-batch(es)?|per\ mille|logarithm
      | fractions?|shares?|factors?|exponents?|rows?|columns?|frames?|masks?|SI|[KMGT]?B)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

SOURCE = re.compile(r"\bSource: \S")


class Said(NamedTuple):
    """A public name that has to do with numbers, its docstring, and those around it."""

    path: str
    name: str
    text: str
    around: tuple[str, ...]

    @property
    def lacks(self) -> list[str]:
        """Parts that the docstring leaves out."""
        found = []
        if not UNITS.search(self.text):
            found.append("units or shapes")
        if not any(SOURCE.search(text) for text in (self.text, *self.around)):
            found.append("a source")
        return found


def numeric(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether annotations of a function, or of the fields of a class, hold numbers or frames."""
    if isinstance(node, ast.ClassDef):
        kinds = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
    else:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        kinds = [each.annotation for each in arguments if each.annotation is not None]
        kinds += [node.returns] if node.returns is not None else []
    return any(NUMBERS.search(ast.unparse(kind)) for kind in kinds)


def public(path: str, text: str) -> Iterator[Said]:
    """Public classes, functions and methods of a module that have to do with numbers."""
    module = ast.parse(text)

    def inside(
        node: ast.Module | ast.ClassDef, prefix: str, around: tuple[str, ...]
    ) -> Iterator[Said]:
        here = (ast.get_docstring(node) or "", *around)
        for each in node.body:
            match each:
                case ast.FunctionDef() | ast.ClassDef() if not each.name.startswith("_"):
                    if numeric(each):
                        said = ast.get_docstring(each) or ""
                        yield Said(path, prefix + each.name, said, here)
                    if isinstance(each, ast.ClassDef):
                        yield from inside(each, f"{prefix}{each.name}.", here)

    return inside(module, "", ())


def faults(path: str, text: str) -> list[str]:
    """A sentence for each public name of a module whose docstring leaves something out."""
    return [
        f"model/{path}: {each.name} lacks {' and '.join(each.lacks)}"
        for each in public(path, text)
        if each.lacks
    ]


def modules() -> dict[str, str]:
    """Text of every module of `model/` by its path there."""
    found = sorted(MODEL.rglob("*.py"))
    return {path.relative_to(MODEL).as_posix(): path.read_text("utf-8") for path in found}


def test_numbers_have_units_and_a_source() -> None:
    """Nobody has to read code to learn what a number is and where its formula is from."""
    every = modules().items()
    assert not [f for path, text in every for f in faults(path, text)]


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ('def f(a: float) -> float:\n    """The rate."""', ["units or shapes", "a source"]),
        (
            'def f(a: float) -> float:\n    """Flop per byte.\n\n    Source: definition.\n    """',
            [],
        ),
        ('"""M.\n\nSource: P, eq. 3.\n"""\ndef f(a: int) -> int:\n    """Bytes."""', []),
        (
            'def f(a: int) -> int:\n    """A product.\n\n    Shapes: A [m, k].\n    """',
            ["a source"],
        ),
        ('class A:\n    """Sizes.\n\n    Source: S.\n    """\n    a: int', ["units or shapes"]),
        ('def _f(a: int) -> int:\n    """Private."""', None),
        ('def f(a: str) -> str:\n    """A name."""', None),
    ],
)
def test_the_rule(text: str, lacks: list[str] | None) -> None:
    """Units stand beside the number, a source there or above; names without numbers are free."""
    assert [each.lacks for each in public("m.py", text)] == ([] if lacks is None else [lacks])
