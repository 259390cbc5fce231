"""What tests/run.py is made of: processes, counts, the schedule, and the parts of `test` and `check`."""
