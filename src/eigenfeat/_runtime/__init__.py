"""What a fit runs on, and not what it computes: memory, scratch folder, threads, progress, checkpoints, files.

Everything else may import this package; it imports nothing else of eigenfeat. Its public name is
`eigenfeat.runtime`, the context manager of `eigenfeat._runtime.config`.
"""
