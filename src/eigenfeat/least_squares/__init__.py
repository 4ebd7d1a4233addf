"""Generalized eigenproblems XᵀHHᵀX w = λ XᵀX w solved as least squares: rows, targets, solvers, penalties."""
