"""Consistent tables raise no alarm; spoiled ones are found, class by class.

The draws are seeded: what these tests say of 10,000 cells they say of the same ones every time.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from assay.ingest.read import read
from assay.validate.findings import findings

from tests.validate.identities.tables import CLASSES, Table, consistent, spoil, visible

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


def test_consistent_tables_raise_no_alarm(tmp_path: Path) -> None:
    tables = {f"t{seed}": consistent(seed) for seed in range(90)}
    assert sum(table.cells for table in tables.values()) >= 10_000
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


def report(folder: Path, seeds: range) -> float:
    total = [0, 0]
    for kind in CLASSES:
        hits, seen, blind = recall(folder / kind.replace(" ", "_"), kind, seeds)
        total[0] += hits
        total[1] += seen
        print(f"{kind}: {hits} of {seen} found ({hits / seen:.1%}), {blind} that nothing shows")
        assert hits / seen >= 0.85
    return total[0] / total[1]


def test_spoiled_cells_are_found(tmp_path: Path) -> None:
    assert report(tmp_path, range(1000, 1012)) >= ENOUGH - 0.03


@pytest.mark.slow
def test_spoiled_cells_are_found_by_class(tmp_path: Path) -> None:
    assert report(tmp_path, range(200)) >= ENOUGH
