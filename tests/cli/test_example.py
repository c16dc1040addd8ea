"""`assay report --example`: the samples that come with the package."""

from __future__ import annotations

from tests.cli.conftest import Run


def test_the_example_reports_on_the_packaged_samples(assay: Run) -> None:
    done = assay("report", "--example", "--full")
    assert done.code == 0, done.err
    for words in ("bloom_176b.log", "bloom_prequel.md", "Accuracy per configuration", "Findings"):
        assert words in done.out


def test_a_report_on_nothing_says_what_to_give(assay: Run) -> None:
    done = assay("report")
    assert done.code == 2
    assert "--example" in done.err
