"""Statements of a document outside its rows, and the rows that each speaks for."""
