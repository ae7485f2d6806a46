"""The days of the course, one package a day."""
