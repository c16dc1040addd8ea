"""What a document says outside its rows, and the rows that it speaks for."""
