"""Figures as inline SVG and HTML: each function takes numbers and gives text, with the words that describe it."""
