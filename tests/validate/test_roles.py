"""Formats and frames are asked for by role: a new format of steps needs no further line of code."""

import ast
import re
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import about_rows, fields, logged, rows_of
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Record
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.report.html.page import render
from assay.validate.report.json_document import document
from assay.validate.report.sections import live, screen
from assay.validate.report.terminal import render as on_terminal
from assay.validate.runs.differences import difference
from assay.validate.runs.run import runs
from assay.validate.runs.run_record import records
from assay.validate.score.assess import Report, assess

VALIDATE = Path(__file__).parents[2] / "validate"

NAMES = {fmt.name for fmt in FORMATS} | {name for fmt in FORMATS for name in fmt.schemas}

ESTIMATORS = "what one published estimator writes is joined with the reproduction of that estimator"

EXCEPTIONS = {
    "predict/estimates.py": ESTIMATORS,
    "laws/dumps.py": ESTIMATORS,
    "laws/estimators.py": ESTIMATORS,
    "laws/traces.py": ESTIMATORS,
}
"""Modules that may say names of frames, each with its reason."""

WORDS = {
    ("cli/diff.py", "arguments"): "key of the JSON document of two runs",
    ("cli/golden.py", "runs"): "key of a line",
    ("golden/tolerances.py", "runs"): "key of a table in a file of tolerances",
    ("report/html/page.py", "runs"): "anchor of a part of the page",
    ("report/json_document.py", "runs"): "key of the document",
    ("report/sarif.py", "runs"): "key that SARIF gives",
    ("cases/step_frames.py", "step_rate"): "column of steps a second",
    ("laws/speedups.py", "step_rate"): "column of steps a second",
    ("report/leftovers.py", "step_rate"): "column of steps a second",
    ("runs/run_record.py", "step_rate"): "column of steps a second",
}
"""Words that are spelled like a frame and mean something else."""


def said_names(path: Path) -> set[str]:
    """String constants of a module, docstrings left out, that are names of formats or frames."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    held = [node.body for node in ast.walk(tree) if hasattr(node, "body")]
    bodies = [body for body in held if isinstance(body, list) and body]
    alone = {id(s.value) for body in bodies for s in body if isinstance(s, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in alone and node.value in NAMES
    }


@pytest.mark.parametrize("path", sorted(VALIDATE.rglob("*.py")), ids=lambda path: path.stem)
def test_no_format_and_no_frame_is_known_by_name(path: Path) -> None:
    name = path.relative_to(VALIDATE).as_posix()
    if name not in EXCEPTIONS:
        assert not {each for each in said_names(path) if (name, each) not in WORDS}


def test_every_exception_is_needed() -> None:
    assert all(said_names(VALIDATE / name) for name in EXCEPTIONS)
    assert all(word in said_names(VALIDATE / name) for name, word in WORDS)


def test_every_packaged_frame_says_what_its_rows_are() -> None:
    silent = [
        n for fmt in FORMATS for n, one in fmt.schemas.items() if "rows" not in about_rows(one)
    ]
    assert not silent


def test_frames_of_steps_say_which_field_counts_them_or_times_them() -> None:
    for fmt in FORMATS:
        for name, schema in fmt.schemas.items():
            if rows_of(schema, fmt.origin) == "step":
                roles = {spec.role for spec in fields(schema).values()}
                assert roles & {"counter", "time"}, name


class Ledger(Configuration):
    """One batch of a trainer that names nothing as any other does."""

    batch_number: int = logged(kind="exact", ge=0, role="counter")
    planned: int = logged(kind="exact", ge=1, role="schedule")
    took: float = logged(unit="s", quantity="step_time", gt=0, role="time")
    objective: float = logged(nullable=True, role="loss")
    thrown_away: int = logged(kind="exact", ge=0, nullable=True, role="skipped")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step", "framework": "Ledger"}


LINE = re.compile(r"ledger (\d+) of (\d+) took ([0-9.]+) objective ([0-9.]+) thrown (\d+)")

COLUMNS = ("batch_number", "planned", "took", "objective", "thrown_away")


def fold(region: Region) -> Folded:
    """Every line of the ledger."""
    folded = Folded(parts=set())
    for line in region.lines:
        if said := LINE.fullmatch(line.text.strip()):
            cells = {
                name: Cell(said[at], line.number, line.column + said.start(at))
                for at, name in enumerate(COLUMNS, 1)
            }
            folded.records.append(Record(line.number, cells, line.column))
            folded.claimed.add(line.number)
            folded.parts.add((line.number, line.column))  # type: ignore[union-attr]
    return folded


LEDGER = Format(
    name="ledger", heads=("ledger ",), schemas={"ledger": Ledger}, origin="measured", fold=fold
)

SHAPE = {
    "hidden": "4096", "layers": "32", "heads": "32", "vocab": "32000", "seq_len": "2048",
    "gpus": "8", "tp": "8", "pp": "1", "dp": "1", "micro_batch": "1", "global_batch": "8",
    "dtype": "bf16",
}  # fmt: skip


def log(folder: Path, name: str, seconds: float) -> Path:
    """Twelve batches of a hundred; the first takes thrice as long."""
    path = folder / name
    path.write_text(
        "".join(
            f"ledger {n} of 100 took {seconds * (3 if n == 1 else 1):.3f} "
            f"objective {9 - n / 4:.2f} thrown {int(n == 3)}\n"
            for n in range(1, 13)
        )
    )
    return path


def told(path: Path) -> Report:
    """The report of such a log."""
    formats = (*FORMATS[:-1], LEDGER, FORMATS[-1])
    return assess([path], machine="H100 SXM", given=SHAPE, formats=formats)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return told(log(tmp_path_factory.mktemp("ledger"), "a.log", 1.5))


def test_a_new_format_of_steps_is_a_run(report: Report) -> None:
    (run,) = records(report)
    assert (run.steps, run.settled, run.step_time) == (12, 11, 1.5)
    assert (run.loss_first, run.loss_last, run.skipped) == (8.75, 6.0, 1)
    assert (run.last_step, run.planned_steps) == (12, 100)
    assert document(report)["cases"][0]["framework"] == "Ledger"


def test_it_is_scored(report: Report) -> None:
    (run,) = records(report)
    assert run.predicted_step_time is not None
    scored = report.scored.filter(model="step", quantity="step_time")
    assert scored.height == 11


def test_it_is_watched(report: Report) -> None:
    shown = live(report)
    assert shown is not None
    assert "to go at this pace" in on_terminal([shown], width=80)
    assert "predicted" in on_terminal(screen(report), width=80)


def test_it_is_drawn(report: Report) -> None:
    page = render(report, ["assay"])
    assert "Step time" in page
    assert "Loss" in page


def test_it_is_diffed(report: Report, tmp_path: Path) -> None:
    slower = told(log(tmp_path, "b.log", 1.8))
    (one,), (other,) = (
        runs(each.outcome.reading, each.cases, each.comparison.pairs) for each in (report, slower)
    )
    found = difference(one, other, report.outcome.reading, slower.outcome.reading)
    (change,) = [each for each in found.changes if each.name == "step_time"]
    assert change.change == pytest.approx(0.2)


def test_iterations_that_count_anew_are_another_run(tmp_path: Path) -> None:
    path = log(tmp_path, "twice.log", 1.5)
    path.write_text(path.read_text() * 2)
    outcome = read([path], formats=(LEDGER,))
    known = cases(outcome.reading, about((LEDGER,)))
    assert len(runs(outcome.reading, known)) == 2
