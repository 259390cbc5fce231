"""The golden files of schemas/snapshot.md and schemas/update.md: whatever tests/golden has of them."""

import pytest

import golden_checks as checks
import seen_client
from golden_checks import ALSO_SEEN, GOLDEN, INDEX, SEQUENCES, UPDATE_INDEX, WATERMARKS


def by_file(entries):
    return pytest.mark.parametrize("entry", entries, ids=[entry["file"] for entry in entries])


def by_name(rows):
    return pytest.mark.parametrize("row", rows, ids=[ascii(row["name"]) for row in rows])


def by_note(cases):
    return pytest.mark.parametrize("case", cases, ids=[case["note"] for case in cases])


@pytest.mark.parametrize("row", INDEX["hashes"], ids=[ascii(row["id"]) for row in INDEX["hashes"]])
def test_ids_are_hashed_as_everywhere(row):
    checks.check_hash(seen_client, row)


@by_file(INDEX["snapshots"])
def test_an_accepted_file_answers_as_the_index_says(entry):
    checks.check_accepted(seen_client, entry)


@by_file(INDEX["snapshots"])
def test_random_ids(entry):
    checks.check_random(seen_client, entry)


@by_file(INDEX["refused"])
def test_a_refused_file_is_refused_at_the_step_that_the_index_names(entry):
    checks.check_refused(seen_client, entry)


@by_note(WATERMARKS["cases"])
def test_watermarks(case):
    checks.check_watermarks(seen_client, case)


@by_note(ALSO_SEEN["cases"])
def test_what_is_also_seen(case):
    checks.check_also_seen(seen_client, case)


def test_every_file_is_in_the_index():
    named = {entry["file"] for entry in INDEX["snapshots"] + INDEX["refused"]}
    assert {path.name for path in GOLDEN.glob("*.bin")} == named


@by_name(UPDATE_INDEX["records"])
def test_an_update_has_what_the_index_says(row):
    checks.check_update(seen_client, row)


@by_name(UPDATE_INDEX["refused"])
def test_a_refused_update_is_refused_at_the_step_that_the_index_names(row):
    checks.check_update_refused(seen_client, row)


@by_name(SEQUENCES["sequences"])
def test_a_sequence_is_answered_as_it_says(row):
    checks.check_sequence(seen_client, row)


def test_the_files_of_updates_are_not_empty():
    assert UPDATE_INDEX["records"] and UPDATE_INDEX["refused"] and SEQUENCES["sequences"]
