"""Receipts and what is made of them: a page, Markdown for a pull request, JUnit XML for CI."""
