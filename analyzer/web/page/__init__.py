"""What the browser gets: the page, its styles and its scripts."""
