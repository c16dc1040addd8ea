"""How a run ended: the gravest event behind its last step, and what it can go on from."""

import re
from pathlib import Path

import pandera.polars as pa
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.job_event import HEADER
from assay.ingest.inputs.read import read
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Record
from assay.ingest.source import opening
from assay.validate.runs.endings import LONGEST, WORDS, Ending
from assay.validate.runs.run_record import Record as RunRecord
from assay.validate.runs.run_record import records
from assay.validate.score.assess import assess


class Life(pa.DataFrameModel):
    """Something that happened to a job."""

    event: str = named(nullable=False)
    iteration: int = logged(kind="exact", nullable=True)
    text: str = named()

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "event"}


LINE = re.compile(r"EVENT (\w+)(?: (\d+))?(?:: (.*))?")


def fold(region: Region) -> Folded:
    """Every line that tells of an event."""
    folded = Folded()
    for line in region.lines:
        if said := LINE.fullmatch(line.text):
            names = ("event", "iteration", "text")
            pairs = zip(names, said.groups(), strict=True)
            cells = {name: Cell(text, line.number) for name, text in pairs if text}
            folded.records.append(Record(line.number, cells))
            folded.claimed.add(line.number)
    return folded


LIFE = Format(name="life", heads=("EVENT ",), schemas={"life": Life}, origin="measured", fold=fold)

STEPS = [
    f" iteration {n}/ 40 | elapsed time per iteration (ms): 100.0 | global batch size: 8 |"
    for n in range(10, 31, 10)
]


def told(folder: Path, *lines: str) -> RunRecord:
    """The record of the run that such lines are."""
    path = folder / "job.log"
    path.write_text("\n".join(lines) + "\n")
    others = tuple(fmt for fmt in FORMATS if fmt.name != "job_event")
    (run,) = records(assess([path], formats=(*others[:-1], LIFE, others[-1]), models=["memory"]))
    return run


def recorded(path: Path) -> RunRecord:
    """The record of the one run of a log, without what it is not about: most predictions."""
    (run,) = records(assess([path], models=["memory"]))
    return run


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        ((), "iteration 30 of 40"),
        (("EVENT finished",), "finished at iteration 30 of 40"),
        (("EVENT time_limit",), "stopped at its time limit at iteration 30 of 40"),
        (("EVENT cancelled",), "cancelled at iteration 30 of 40"),
        (("EVENT preempted", "EVENT stopped"), "preempted at iteration 30 of 40"),
        (("EVENT crashed: ValueError: odd",), "crashed at iteration 30 of 40: ValueError: odd"),
        (("EVENT checkpoint 30", "EVENT crashed: x"),
         "crashed at iteration 30 of 40: x; checkpoint of iteration 30"),
        (("EVENT time_limit", "EVENT crashed: killed"),
         "stopped at its time limit at iteration 30 of 40"),
        (("EVENT crashed: RuntimeError", "EVENT out_of_memory: tried 2 GiB"),
         "out of memory at iteration 30 of 40: tried 2 GiB"),
    ],
)  # fmt: skip
def test_the_gravest_event_behind_the_last_step_is_how_it_ended(
    behind: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    assert told(tmp_path, *STEPS, *behind).ended == said


def test_events_before_the_last_step_do_not_end_a_run(tmp_path: Path) -> None:
    lines = [STEPS[0], "EVENT crashed: one rank, and the rest went on", *STEPS[1:]]
    assert told(tmp_path, *lines).ended == "iteration 30 of 40"


def test_only_checkpoints_of_steps_that_ran_are_gone_on_from(tmp_path: Path) -> None:
    saved = ["EVENT checkpoint 10", *STEPS, "EVENT checkpoint 20", "EVENT checkpoint 90"]
    assert told(tmp_path, *saved).ended == "iteration 30 of 40; checkpoint of iteration 20"


def test_a_schedule_that_has_come_to_its_end_is_finished(tmp_path: Path) -> None:
    last = STEPS[0].replace("iteration 10/", "iteration 40/")
    assert told(tmp_path, *STEPS, last).ended == "finished"


def test_an_error_is_said_in_one_line() -> None:
    text = Ending("crashed", f"first\n  second {'x' * 500}").said(None, None)
    assert text is not None
    assert text.startswith("crashed: first second xx")
    assert len(text) <= LONGEST + len("crashed: ")
    assert Ending(cut=True).said(3, 9) == "cut off in the middle, iteration 3 of 9"
    assert all(Ending(event).said(3, 9) for event in WORDS)


REAL = """\
  successfully saved checkpoint at iteration      20 to /checkpoints
[rank1]: Traceback (most recent call last):
[rank0]: Traceback (most recent call last):
[rank1]:   File "pretrain_gpt.py", line 10, in <module>
[rank0]:   File "pretrain_gpt.py", line 10, in <module>
[rank1]:     main()
[rank0]:     main()
[rank1]: RuntimeError: NCCL communicator was aborted on rank 1.
[rank0]: RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:825
srun: error: node1: task 1: Exited with exit code 1
"""


def test_a_real_crash_is_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("\n".join(STEPS) + "\n" + REAL)
    run = recorded(path)
    assert run.ended is not None
    assert run.ended.startswith("crashed at iteration 30 of 40: ")
    assert run.ended.endswith("; checkpoint of iteration 20")


SAID = [
    ("Training completed. Do not forget to share your =)", "finished at iteration 30 of 40"),
    ("`Trainer.fit` stopped: `max_steps=30` reached.", "finished at iteration 30 of 40"),
    ("[titan] 2025-08-14 10:04:50,898 - root - INFO - Training completed",
     "finished at iteration 30 of 40"),
    ("{'train_runtime': 2462.7, 'train_samples_per_second': 20.79, 'epoch': 1.0}",
     "finished at iteration 30 of 40"),
    # of an epoch, and what is no line of a job
    ("Saved checkpoint ckpt/checkpoint1.pt (epoch 1 @ 511 updates)", "iteration 30 of 40"),
    ("Training completed models are kept beside their logs", "iteration 30 of 40"),
    ("Sending process 123 closing signal SIGTERM", "iteration 30 of 40"),
    *((line, f"{said} at iteration 30 of 40") for said, lines in {
        "stopped at its time limit": (
            "Time limit reached. Elapsed time is 0:30:00. Signaling Trainer to stop.",
            "[rank3]: Training exceeded the wall-clock time limit, stopping",
            "Job has timed out. Ran 60 minutes out of requested 60 minutes.",
        ),
        "cancelled": (
            "WARNING:torch.distributed.elastic.agent.server.api:Received Signals.SIGTERM death "
            "signal, shutting down workers",
            "nemo_logging:393] trainer.py:54: Detected KeyboardInterrupt, attempting to end",
            "^C[ Info: interrupted at step 30, weights kept", "Terminated",
            "exits with return code = -15",
        ),
        "preempted": (
            "W0219 18:22:18.77 14 sync.cc:106] Preemption notice received: SIGTERM caught at 1",
            "submitit WARNING - Caught signal SIGUSR2 on gpu-1: this job is preempted.",
        ),
        "stopped": (
            "Caught signal SIGUSR1, will save",
            "[exiting program after 30 iterations] datetime: 2023-10-21",
        ),
        "finished": (
            "2021-03-08 | INFO | fairseq_cli.train | done training in 798.6 seconds",
            "=== Finished Training ===", "Reached max_steps (30), stopping", "EXIT_CODE=0",
        ),
    }.items() for line in lines),
    ("['python'] exits with return code = 1",
     "crashed at iteration 30 of 40: ['python'] exits with return code = 1"),
    ("Segmentation fault (core dumped)",
     "crashed at iteration 30 of 40: Segmentation fault (core dumped)"),
    ("Checkpoint saved to /scratch/run/step30",
     "iteration 30 of 40; checkpoint of iteration 30"),
    ("Finished training epoch 1", "iteration 30 of 40"),
    ("time limit: 24 hours, 3 % of the budget used", "iteration 30 of 40"),
]  # fmt: skip
"""Lines that trainers and shells write last, and how a run ended that ends so."""


def test_what_trainers_and_shells_say_of_an_end(tmp_path: Path) -> None:
    for at, (line, _) in enumerate(SAID):
        (tmp_path / f"{at:02}.log").write_text("\n".join([*STEPS, line]) + "\n")
    runs = records(assess([tmp_path], models=["memory"]))
    found = {Path(run.source).stem: run.ended for run in runs}
    assert found == {f"{at:02}": said for at, (_, said) in enumerate(SAID)}


LIMIT = "Time limit reached. Elapsed time is 0:30:00. Signaling Trainer to stop."


def test_words_of_any_program_end_a_run_behind_its_last_step_alone(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    for lines in ([LIMIT, *STEPS], [*STEPS[:2], LIMIT, STEPS[2]], [*STEPS, LIMIT, *["x"] * 300]):
        path.write_text("\n".join(lines) + "\n")
        run = recorded(path)
        assert run.ended == "iteration 30 of 40"
    path.write_text("\n".join([LIMIT, "worker 3 was killed", "Finished training"]) + "\n")
    assert read([path]).reading.frames == {}


def test_the_end_of_a_long_log_is_read_as_that_of_a_short_one(tmp_path: Path) -> None:
    """Each line of a few blocks is counted once, whether it tells of the end or not."""
    path, noise = tmp_path / "job.log", [f"worker {n}: 3.1 it/s, killed\r" for n in range(500)]
    for block in (50, 10**6):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(opening, "BLOCK", block * 30)
            path.write_text("\n".join([*noise, *STEPS, *noise[:90], LIMIT, *noise[:90]]) + "\n")
            run, (sums,) = recorded(path), read([path]).reading.accounting
        assert run.ended == "stopped at its time limit at iteration 30 of 40"
        assert (sums.lines, sums.claimed, sums.not_ours) == (684, 4, 680)
        assert len(sums.suspicious) == 680


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (("RuntimeError: odd", "EVENT"), "crashed"), (("EVENT", "RuntimeError: odd"), "cancelled"),
    ],
)  # fmt: skip
def test_what_is_killed_complains_and_what_crashes_gets_others_killed(
    behind: tuple[str, str], said: str, tmp_path: Path
) -> None:
    lines = [
        ("Received SIGTERM, shutting down" if each == "EVENT" else f"{HEADER}\n  File x\n{each}")
        for each in behind
    ]
    path = tmp_path / "job.log"
    path.write_text("\n".join([*STEPS, *lines]) + "\n")
    run = recorded(path)
    assert (run.ended or "").startswith(f"{said} at iteration 30 of 40")


def test_totals_of_a_training_are_said_beside_its_steps(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    totals = "{'train_runtime': 2462.7, 'train_samples_per_second': 20.79, 'train_loss': 1.731}"
    path.write_text("\n".join([*STEPS, totals]) + "\n")
    run = recorded(path)
    assert run.totals == {"elapsed": 2462.7, "samples_per_s": 20.79, "loss": 1.731}


def test_a_document_that_quotes_a_log_tells_of_no_end(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("```\n" + "\n".join(STEPS) + "\n```\n\n# Trouble\n\n" + REAL)
    run = recorded(path)
    assert run.ended == "iteration 30 of 40"


def test_a_log_that_stops_inside_a_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text("\n".join(STEPS) + "\n iteration 40/ 50 | elapsed time per iteration (ms): 10")
    run = recorded(path)
    assert run.ended == "cut off in the middle, iteration 40 of 50"
