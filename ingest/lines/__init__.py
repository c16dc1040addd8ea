"""Lines to records: by Lark, by templates learnt from it, and torn lines put together."""
