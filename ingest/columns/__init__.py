"""Labels and cells: what a header, a title, a cell and a row's own words mean."""
