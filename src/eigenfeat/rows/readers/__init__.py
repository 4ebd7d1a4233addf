"""One stack of readers: files and batches as rows read in blocks, and as tables in memory."""
