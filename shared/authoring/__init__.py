"""For authors: starters are generated from solutions, and a lab that is not sound is refused."""
