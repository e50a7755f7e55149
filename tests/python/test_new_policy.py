"""``scripts/new_policy.py`` writes a policy with its row and its test."""

import shutil
from pathlib import Path

import pytest

from scripts_as_modules import loaded

new_policy = loaded("new_policy")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that the script changes, copied."""
    for slot in new_policy.SLOTS.values():
        for name in filter(None, [f"{slot.folder}/mod.rs", slot.tests]):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("slot", new_policy.SLOTS)
def test_a_policy_has_its_file_its_module_and_its_row(slot: str, checkout: Path) -> None:
    where = new_policy.SLOTS[slot]
    files = new_policy.write("coldest-first", where, slot, checkout)
    assert len(files) == (3 if where.tests else 2)
    policy = (checkout / where.folder / "coldest_first.rs").read_text()
    assert 'name: "coldest-first"' in policy
    assert "@" not in policy
    before = (ROOT / where.folder / "mod.rs").read_text().splitlines()
    after = (checkout / where.folder / "mod.rs").read_text().splitlines()
    added = [line.strip() for line in after if line not in before]
    assert added == [where.module.format(module="coldest_first"), "ColdestFirst: coldest_first,"]
    assert [line for line in after if line in before] == before
    # In the table that users choose from, and nowhere else.
    row = next(number for number, line in enumerate(after) if "ColdestFirst" in line)
    assert any(line.strip() == where.table.strip() for line in after[:row])
    assert ":" in after[row - 1]


@pytest.mark.parametrize("name", ["Coldest", "coldest_first", "", "-cold", "cold--first"])
def test_names_that_no_experiment_would_have_are_refused(name: str, checkout: Path) -> None:
    with pytest.raises(new_policy.RefusedError, match="expected lower-case words"):
        new_policy.write(name, new_policy.SLOTS["collect"], "collect", checkout)


def test_a_policy_that_is_there_is_left_alone(checkout: Path) -> None:
    with pytest.raises(new_policy.RefusedError, match="exists already"):
        new_policy.write("greedy", new_policy.SLOTS["collect"], "collect", checkout)
