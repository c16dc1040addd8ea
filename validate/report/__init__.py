"""Writers: terminal, Markdown, JSON."""
