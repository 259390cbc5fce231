"""Prints tables (CSV, TSV, Parquet, ORC, Avro) as JSON lines for `seenctl replay -`."""
