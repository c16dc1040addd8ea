"""Consistent tables raise no alarm; spoiled ones are found, class by class.

The draws are seeded: what these tests say of 10,000 cells they say of the same ones every time.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.model.formulas.registry import FORMULAS
from assay.validate.laws.laws import findings

from tests.validate.laws.tables import CLASSES, Table, consistent, spoil, visible

HEAD = 3  # line of the first row of a table
ENOUGH = 0.95


def alarms(folder: Path, tables: dict[str, Table]) -> dict[str, set[int]]:
    """Lines with a finding at warning or above, by table."""
    for name, table in tables.items():
        (folder / f"{name}.md").write_text(table.text())
    reading = read([folder]).reading
    assert not reading.refused
    found: dict[str, set[int]] = defaultdict(set)
    for finding in findings(reading):
        if finding.severity != "note":
            found[Path(finding.spans[0].source).stem].add(finding.spans[0].line)
    return found


@pytest.mark.parametrize("count", [45, pytest.param(90, marks=pytest.mark.slow)])
def test_consistent_tables_raise_no_alarm(count: int, tmp_path: Path) -> None:
    tables = {f"t{seed}": consistent(seed) for seed in range(count)}
    assert sum(table.cells for table in tables.values()) >= 100 * count
    assert len({table.formula for table in tables.values()}) > 10
    assert not any(visible(t, at) for t in tables.values() for at in range(len(t.rows)))
    found = alarms(tmp_path, tables)
    assert sum(map(len, found.values())) <= 1, dict(found)


def recall(folder: Path, kind: str, seeds: range) -> tuple[int, int, int]:
    """Found, visible and invisible changes of a class."""
    spoiled, blind = {}, 0
    for seed in seeds:
        changed = spoil(consistent(seed), kind, seed)
        if changed is not None and visible(changed[0], changed[1]):
            spoiled[f"t{seed}"] = changed
        else:
            blind += 1
    folder.mkdir()
    found = alarms(folder, {name: table for name, (table, _, _) in spoiled.items()})
    hits = sum(at + HEAD in found[name] for name, (_, at, _) in spoiled.items())
    return hits, len(spoiled), blind


def report(folder: Path, seeds: range) -> dict[str, tuple[int, int]]:
    """Found and visible changes by class."""
    found = {}
    for kind in CLASSES:
        hits, seen, blind = recall(folder / kind.replace(" ", "_"), kind, seeds)
        print(f"{kind}: {hits} of {seen} found ({hits / seen:.1%}), {blind} that nothing shows")
        found[kind] = (hits, seen)
    return found


def share(found: dict[str, tuple[int, int]]) -> float:
    return sum(hits for hits, _ in found.values()) / sum(seen for _, seen in found.values())


def test_spoiled_cells_are_found(tmp_path: Path) -> None:
    assert share(report(tmp_path, range(1000, 1006))) >= ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 2000, 4000])
def test_spoiled_cells_are_found_by_class(tmp_path: Path, first: int) -> None:
    """Each class for itself, on three draws of 200 tables."""
    found = report(tmp_path, range(first, first + 200))
    assert share(found) >= ENOUGH
    for kind, (hits, seen) in found.items():
        assert seen >= 100
        assert hits / seen >= ENOUGH, kind


@pytest.mark.slow
def test_consistent_tables_of_a_formula_we_lack_raise_no_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table may follow a formula that is unknown: nothing is said about it then."""
    tables = {f"t{seed}": consistent(seed) for seed in range(6000, 6150)}
    for formula in sorted({table.formula for table in tables.values()}):
        family = formula.partition(".")[0] if formula.startswith("mosaic") else formula
        folder = tmp_path / formula.replace("*", "-weights")
        folder.mkdir()
        mine = {name: table for name, table in tables.items() if table.formula == formula}
        with monkeypatch.context() as patch:
            for known in [each for each in FORMULAS if each.startswith(family)]:
                patch.delitem(FORMULAS, known)
            assert alarms(folder, mine) == {}, formula
