"""Reports written: terminal, Markdown, HTML, JSON, SARIF, JUnit."""
