"""One stack of readers: files and batches as rows (`open`), as a table in memory (`read_table`), as columns (`tables`)."""
