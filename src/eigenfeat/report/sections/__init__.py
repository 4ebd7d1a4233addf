"""Values as sections of the page: words for readers who know neither Python nor eigenvectors, figures, tables."""
